#pragma once
#include <gflow/autograd/grad_mode.hpp>
#include <gflow/optim/grad_norm.hpp>
#include <gflow/optim/parameter_groups.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace gflow {

struct AdamWOptions {
    double lr = 1e-3;
    double beta1 = 0.9;          ///< decay of the mean of gradients
    double beta2 = 0.999;        ///< decay of the mean of their squares
    double eps = 1e-8;           ///< added to the root, outside it
    double weight_decay = 0.01;  ///< of groups that do not set their own
};

/// AdamW (Loshchilov and Hutter, Decoupled Weight Decay Regularization, arXiv 1711.05101), as torch.optim.AdamW:
///
///     p ← p − lr·weight_decay·p;   m ← β₁m + (1−β₁)g;   v ← β₂v + (1−β₂)g²
///     p ← p − lr·(m/(1−β₁ᵗ)) / (√(v/(1−β₂ᵗ)) + eps)
///
/// A parameter without a gradient is left alone, and its t does not rise.
class AdamW {
public:
    /// @throws usage_error for options out of range (the groups' own, too), a parameter given twice, a name given
    /// twice,
    ///         or a parameter that needs no gradient
    explicit AdamW(const std::vector<ParameterGroup>& groups, AdamWOptions options = {}) : options_(options) {
        check(options);
        std::set<const void*> seen;
        std::set<std::string> names;
        for (const ParameterGroup& group : groups) {
            check_decay(group.weight_decay.value_or(0));
            check(std::isfinite(group.lr_scale) && group.lr_scale >= 0,
                  "the scale of the learning rate must be finite and at least 0", "lr_scale", group.lr_scale);
            for (const auto& [own_name, x] : group.parameters) {
                const std::string name = own_name.empty() ? std::to_string(names_.size()) : own_name;
                require<usage_error>(x.requires_grad() && x.is_leaf(), "AdamW",
                                     "parameters must be leaves that require a gradient", {{"parameter", name}});
                require<usage_error>(seen.insert(x.node().get()).second, "AdamW", "no parameter may come twice",
                                     {{"parameter", name}});
                require<usage_error>(names.insert(name).second, "AdamW", "two parameters must have different names",
                                     {{"name", name}});
                names_.push_back(name);
                parameters_.push_back(x);
                slots_.push_back({group.weight_decay.value_or(options_.weight_decay), group.lr_scale, 0, {}, {}});
            }
        }
        tiles_ = detail::parameter_tiles(parameters_);
    }
    explicit AdamW(const std::vector<Tensor>& parameters, AdamWOptions options = {})
        : AdamW(std::vector<ParameterGroup>{parameter_group(parameters)}, options) {}

    double lr() const { return options_.lr; }
    /// @throws usage_error unless lr is finite and at least 0; then the old one stays
    void set_lr(double lr) {
        check_lr(lr);
        options_.lr = lr;
    }
    const AdamWOptions& options() const { return options_; }
    const std::vector<Tensor>& parameters() const { return parameters_; }

    /// One update of all parameters that have a gradient, in one sweep through memory.
    /// @param gradient_scale  gradients are multiplied by it first: see clip_scale
    /// @throws                usage_error if that is not finite; then nothing has changed
    void step(double gradient_scale = 1) {
        check(std::isfinite(gradient_scale), "the scale of the gradients must be finite", "gradient_scale",
              gradient_scale);
        const NoGrad plain;
        std::vector<Tensor> gradients;
        for (std::size_t i = 0; i < parameters_.size(); ++i) {
            gradients.push_back(parameters_[i].grad());
            if (!gradients[i].defined()) continue;
            Slot& slot = slots_[i];
            ++slot.steps;
            if (!slot.m.defined()) {
                slot.m = zeros_like(parameters_[i]);
                slot.v = zeros_like(parameters_[i]);
            }
        }
        detail::parallel_tiles(tiles_, [&](std::size_t, const detail::ParameterTile& tile) {
            if (!gradients[tile.which].defined()) return;
            visit_floating("AdamW", parameters_[tile.which].dtype(),
                           [&]<class T>(T) { update<T>(tile, gradients[tile.which].data<T>(), gradient_scale); });
        });
    }

    void zero_grad() {
        for (Tensor& x : parameters_) x.zero_grad();
    }

    /// "m/<name>", "v/<name>" and "step/<name>" of each parameter that has had a step; the tensors share memory with
    /// the optimiser.
    TensorMap state() const {
        TensorMap state;
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            if (!slots_[i].m.defined()) continue;
            state.emplace("m/" + names_[i], slots_[i].m);
            state.emplace("v/" + names_[i], slots_[i].v);
            state.emplace("step/" + names_[i], from_vector(std::vector<std::int64_t>{slots_[i].steps}, Shape{}));
        }
        return state;
    }

    /// Takes up what state() gave. @throws io_error naming what is missing, misshapen or superfluous; then nothing has
    /// changed
    void load_state(const TensorMap& state) {
        std::vector<Slot> loaded = slots_;
        std::size_t used = 0;
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            Slot& slot = loaded[i];
            slot.m = slot.v = Tensor();
            slot.steps = 0;
            if (state.find("m/" + names_[i]) == state.end()) continue;  // has never had a gradient
            slot.m = detail::copied(find(state, "m/" + names_[i], parameters_[i].shape(), parameters_[i].dtype()));
            slot.v = detail::copied(find(state, "v/" + names_[i], parameters_[i].shape(), parameters_[i].dtype()));
            slot.steps = find(state, "step/" + names_[i], Shape{}, int64).item<Index>();
            used += 3;
        }
        if (used != state.size())
            for (const auto& [name, x] : state)
                require<io_error>(knows(name), "AdamW::load_state", "every entry must belong to a parameter",
                                  {{"entry", name}});
        slots_ = std::move(loaded);
    }

private:
    struct Slot {
        double weight_decay;
        double lr_scale;
        Index steps;
        Tensor m, v;
    };

    template <class T>
    void update(const detail::ParameterTile& tile, const T* g, double gradient_scale) {
        Slot& slot = slots_[tile.which];
        const double lr = options_.lr * slot.lr_scale;
        const auto t = static_cast<double>(slot.steps);
        const kernels::AdamWStep<T> step{
            .gradient_scale = static_cast<T>(gradient_scale),
            .keep = static_cast<T>(1 - lr * slot.weight_decay),
            .beta1 = static_cast<T>(options_.beta1),
            .fresh1 = static_cast<T>(1 - options_.beta1),
            .beta2 = static_cast<T>(options_.beta2),
            .fresh2 = static_cast<T>(1 - options_.beta2),
            .stride = static_cast<T>(lr / (1 - std::pow(options_.beta1, t))),
            .root = static_cast<T>(1 / std::sqrt(1 - std::pow(options_.beta2, t))),
            .eps = static_cast<T>(options_.eps),
        };
        const Index n = tile.end - tile.begin;
        kernels::adamw<T>({parameters_[tile.which].template mutable_data<T>() + tile.begin, n}, {g + tile.begin, n},
                          {slot.m.template mutable_data<T>() + tile.begin, n},
                          {slot.v.template mutable_data<T>() + tile.begin, n}, step);
    }

    static void check(bool holds, const char* requirement, const char* name, double value) {
        require<usage_error>(holds, "AdamW", requirement, {{name, value}});
    }
    static void check_lr(double lr) {
        check(std::isfinite(lr) && lr >= 0, "the learning rate must be finite and at least 0", "lr", lr);
    }
    static void check_decay(double weight_decay) {
        check(std::isfinite(weight_decay) && weight_decay >= 0, "weight decay must be finite and at least 0",
              "weight_decay", weight_decay);
    }
    static void check(const AdamWOptions& options) {
        const auto& [lr, beta1, beta2, eps, weight_decay] = options;
        check_lr(lr);
        check_decay(weight_decay);
        check(beta1 >= 0 && beta1 < 1, "the betas must be at least 0 and below 1", "beta1", beta1);
        check(beta2 >= 0 && beta2 < 1, "the betas must be at least 0 and below 1", "beta2", beta2);
        check(std::isfinite(eps) && eps >= 0, "eps must be finite and at least 0", "eps", eps);
    }

    static const Tensor& find(const TensorMap& state, const std::string& name, const Shape& shape, DType dtype) {
        const auto found = state.find(name);
        require<io_error>(found != state.end(), "AdamW::load_state", "an entry is missing", {{"entry", name}});
        const Tensor& x = found->second;
        require<io_error>(x.defined() && x.shape() == shape && x.dtype() == dtype, "AdamW::load_state",
                          "an entry must fit its parameter",
                          {{"entry", name}, {"expected", shape}, {"in the file", x}});
        return x;
    }
    bool knows(const std::string& entry) const {
        const std::size_t slash = entry.find('/');
        const std::string prefix = entry.substr(0, slash);
        if (slash == std::string::npos || (prefix != "m" && prefix != "v" && prefix != "step")) return false;
        return std::find(names_.begin(), names_.end(), entry.substr(slash + 1)) != names_.end();
    }

    AdamWOptions options_;
    std::vector<std::string> names_;
    std::vector<Tensor> parameters_;
    std::vector<Slot> slots_;
    std::vector<detail::ParameterTile> tiles_;
};

}  // namespace gflow
