#pragma once
#include <gflow/nn/linear.hpp>
#include <gflow/ops/feed_forward.hpp>

namespace gflow::nn {

struct FeedForwardOptions {
    Index d_model = 1;
    Index d_ff = 1;
    double init_std = 0;
    DType dtype = float32;
};

/// W₂ GELU(W₁ x + b₁) + b₂, at each position by itself.
class FeedForward : public Module {
public:
    Linear up, down;

    explicit FeedForward(const FeedForwardOptions& o)
        : up({.in = o.d_model, .out = o.d_ff, .init_std = o.init_std, .dtype = o.dtype}),
          down({.in = o.d_ff, .out = o.d_model, .init_std = o.init_std, .dtype = o.dtype}) {
        register_module("up", up);
        register_module("down", down);
    }

    Tensor operator()(const Tensor& x) const { return feed_forward(x, up.weight, up.bias, down.weight, down.bias); }
};

}  // namespace gflow::nn
