#pragma once
#include <gflow/nn/module.hpp>
#include <gflow/ops/add_layer_norm.hpp>

namespace gflow::nn {

struct LayerNormOptions {
    Index size = 1;
    double eps = 1e-5;
    DType dtype = float32;
};

/// Layer normalisation of the last axis with a learned scale and shift.  weight, bias: [size].
class LayerNorm : public Module {
public:
    Tensor weight, bias;

    explicit LayerNorm(const LayerNormOptions& options) : eps_(options.eps) {
        weight = ones({options.size}, options.dtype);
        bias = zeros({options.size}, options.dtype);
        register_parameter("weight", weight);
        register_parameter("bias", bias);
    }

    Tensor operator()(const Tensor& x) const { return layer_norm(x, weight, bias, eps_); }
    /// The norm of x + update, in one sweep.
    Tensor operator()(const Tensor& x, const Tensor& update) const {
        return add_layer_norm(x, update, weight, bias, eps_);
    }

private:
    double eps_;
};

}  // namespace gflow::nn
