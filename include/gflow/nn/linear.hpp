#pragma once
#include <gflow/nn/initial_weights.hpp>
#include <gflow/nn/module.hpp>
#include <gflow/ops/linear.hpp>

#include <cmath>

namespace gflow::nn {

struct LinearOptions {
    Index in = 1;
    Index out = 1;
    bool bias = true;
    double init_std = 0;  ///< weights are N(0, init_std²); 0 stands for 1/√(3·in), the spread of PyTorch's default
    DType dtype = float32;
};

/// y = x·Wᵀ + b.  weight: [out, in], bias: [out], which starts at 0.
class Linear : public Module {
public:
    Tensor weight, bias;

    explicit Linear(const LinearOptions& options) {
        require<usage_error>(options.in >= 1 && options.out >= 1, "Linear", "in and out must be at least 1",
                             {{"in", options.in}, {"out", options.out}});
        require<usage_error>(std::isfinite(options.init_std) && options.init_std >= 0, "Linear",
                             "init_std must be finite and at least 0", {{"init_std", options.init_std}});
        const double std =
            options.init_std > 0 ? options.init_std : 1 / std::sqrt(3.0 * static_cast<double>(options.in));
        weight = initial_weights({options.out, options.in}, options.dtype, std);
        register_parameter("weight", weight);
        if (!options.bias) return;
        bias = zeros({options.out}, options.dtype);
        register_parameter("bias", bias);
    }

    Tensor operator()(const Tensor& x) const { return linear(x, weight, bias); }
    /// Of several inputs side by side, [..., in_i] with Σ in_i = in.
    Tensor operator()(const std::vector<Tensor>& inputs) const { return linear(inputs, weight, bias); }
};

}  // namespace gflow::nn
