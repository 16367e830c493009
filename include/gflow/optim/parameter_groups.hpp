#pragma once
#include <gflow/core/tensor.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gflow {

using NamedParameters = std::vector<std::pair<std::string, Tensor>>;

/// Parameters that an optimiser treats alike.
struct ParameterGroup {
    NamedParameters parameters{};          ///< the names are those of the optimiser's state in a checkpoint; one that
                                           ///< is empty stands for the parameter's place among all: "0", "1", …
    std::optional<double> weight_decay{};  ///< instead of the optimiser's own
    double lr_scale = 1;                   ///< the learning rate is multiplied by it
};

/// One group of parameters without names of their own: the optimiser numbers them through all its groups.
inline ParameterGroup parameter_group(const std::vector<Tensor>& parameters) {
    ParameterGroup group;
    for (const Tensor& x : parameters) group.parameters.emplace_back("", x);
    return group;
}

/// Whether weight decay is meant for this parameter: for the matrices of linear maps; not for biases, LayerNorm and
/// other vectors, and not for embeddings, whose rows get a gradient only where their token occurs (a tied head is the
/// embedding). Goes by the number of axes and by the layer's name.
inline bool wants_decay(std::string_view name, const Tensor& x) {
    return x.rank() >= 2 && name.find("embedding") == std::string_view::npos;
}

/// The parameters of a module in two groups: with weight decay, and without (biases, LayerNorm, embeddings).
/// @param module  anything with named_parameters()
template <class Module>
std::vector<ParameterGroup> decay_groups(const Module& module, double weight_decay) {
    std::vector<ParameterGroup> groups(2);
    groups[0].weight_decay = weight_decay;
    groups[1].weight_decay = 0;
    for (const auto& [name, x] : module.named_parameters())
        groups[wants_decay(name, x) ? 0 : 1].parameters.emplace_back(name, x);
    return groups;
}

}  // namespace gflow
