#pragma once
#include <gflow/autograd/tensor_autograd.hpp>
#include <gflow/core/create.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gflow::nn {

/// The base of everything that has weights: knows its parameters and its parts by name. A module keeps its address
/// (parents and optimisers refer to it), so it can be neither copied nor moved.
class Module {
public:
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;
    virtual ~Module() = default;

    /// Every parameter with its dotted name, in the order of registration: own first, then part by part.
    std::vector<std::pair<std::string, Tensor>> named_parameters() const {
        std::vector<std::pair<std::string, Tensor>> all;
        collect("", all);
        return all;
    }
    std::vector<Tensor> parameters() const {
        std::vector<Tensor> all;
        for (auto& [name, parameter] : named_parameters()) all.push_back(std::move(parameter));
        return all;
    }
    /// Number of trained numbers.
    Index parameter_count() const {
        Index count = 0;
        for (const Tensor& parameter : parameters()) count += parameter.numel();
        return count;
    }

    /// The parameters by name; they share the module's memory.
    TensorMap state_dict() const {
        TensorMap state;
        for (auto& [name, parameter] : named_parameters()) state.emplace(name, parameter.detach());
        return state;
    }
    /// Overwrites all parameters; nothing is changed unless everything fits.
    /// @throws shape_error naming every missing, undefined, superfluous and misshapen tensor
    void load_state_dict(const TensorMap& state) {
        const auto own = named_parameters();
        check_state(own, state);
        for (auto& [name, parameter] : own) {
            Tensor target = parameter.detach();
            copy_into(target, gflow::detail::converted(state.find(name)->second, parameter.dtype()));
        }
    }

    /// Training mode switches dropout on; a new module trains.
    void train(bool on = true) {
        training_ = on;
        for (auto& [name, part] : parts_) part->train(on);
    }
    void eval() { train(false); }
    bool training() const { return training_; }

    void zero_grad() const {
        for (Tensor& parameter : parameters()) parameter.zero_grad();
    }

protected:
    Module() = default;

    /// Makes a member tensor a parameter. To be called once for each, in the constructor.
    /// @throws usage_error if the name is taken
    void register_parameter(std::string name, Tensor& parameter) {
        check_free("register_parameter", name);
        parameter.set_requires_grad();
        own_.emplace_back(std::move(name), &parameter);
    }
    /// Makes a member module a part of this one. @throws usage_error if the name is taken
    void register_module(std::string name, Module& part) {
        check_free("register_module", name);
        parts_.emplace_back(std::move(name), &part);
    }

private:
    void check_free(std::string_view op, const std::string& name) const {
        const auto has_name = [&](const auto& entry) { return entry.first == name; };
        require<usage_error>(
            std::none_of(own_.begin(), own_.end(), has_name) && std::none_of(parts_.begin(), parts_.end(), has_name),
            op, "a module's parameters and parts must have different names", {{"name", name}});
    }

    void collect(const std::string& prefix, std::vector<std::pair<std::string, Tensor>>& all) const {
        for (const auto& [name, parameter] : own_) all.emplace_back(prefix + name, *parameter);
        for (const auto& [name, part] : parts_) part->collect(prefix + name + ".", all);
    }

    static void check_state(const std::vector<std::pair<std::string, Tensor>>& own, const TensorMap& state) {
        std::string faults;
        TensorMap superfluous = state;
        for (const auto& [name, parameter] : own) {
            const auto found = state.find(name);
            superfluous.erase(name);
            if (found == state.end())
                faults += "\n  missing: " + name + " " + to_string(parameter.shape());
            else if (!found->second.defined())
                faults += "\n  undefined: " + name + ", must be " + to_string(parameter.shape());
            else if (found->second.shape() != parameter.shape())
                faults += "\n  misshapen: " + name + " is " + to_string(found->second.shape()) + ", must be " +
                          to_string(parameter.shape());
        }
        for (const auto& [name, tensor] : superfluous) faults += "\n  superfluous: " + name;
        if (!faults.empty()) fail("load_state_dict", "the weights must be those of this model" + faults);
    }

    std::vector<std::pair<std::string, Tensor*>> own_;
    std::vector<std::pair<std::string, Module*>> parts_;
    bool training_ = true;
};

}  // namespace gflow::nn

namespace gflow {

/// The parameters of several modules, for an optimiser.
template <class... Modules>
std::vector<Tensor> parameters(const Modules&... modules) {
    std::vector<Tensor> all;
    const auto append = [&](const nn::Module& module) {
        for (Tensor& parameter : module.parameters()) all.push_back(std::move(parameter));
    };
    (append(modules), ...);
    return all;
}

}  // namespace gflow
