#pragma once
#include <gflow/nn/linear.hpp>
#include <gflow/ops/attention.hpp>

namespace gflow::nn {

struct SelfAttentionOptions {
    Index d_model = 1;
    Index heads = 1;
    double dropout = 0;  ///< of the attention weights, in training
    double init_std = 0;
    DType dtype = float32;
};

/// Multi-head self-attention in both directions, within each of the sequences that lie end to end, with biased
/// projections for q, k, v (in one matrix) and the output.
class SelfAttention : public Module {
public:
    Linear qkv, output;

    /// @throws usage_error if d_model does not split into heads
    explicit SelfAttention(const SelfAttentionOptions& o)
        : qkv({.in = o.d_model, .out = 3 * o.d_model, .init_std = o.init_std, .dtype = o.dtype}),
          output({.in = o.d_model, .out = o.d_model, .init_std = o.init_std, .dtype = o.dtype}),
          heads_(o.heads),
          dropout_(o.dropout) {
        require<usage_error>(o.heads >= 1 && o.d_model % o.heads == 0, "SelfAttention",
                             "d_model must split evenly into heads", {{"d_model", o.d_model}, {"heads", o.heads}});
        register_module("qkv", qkv);
        register_module("output", output);
    }

    /// h: [tokens, d_model], lengths: those of the sequences → [tokens, d_model]
    Tensor operator()(const Tensor& h, const std::vector<Index>& lengths) const {
        return output(attention(qkv(h), lengths, {.heads = heads_, .dropout = training() ? dropout_ : 0}));
    }

private:
    Index heads_;
    double dropout_;
};

}  // namespace gflow::nn
