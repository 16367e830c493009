#pragma once
#include <gflow/nn/linear.hpp>
#include <gflow/ops/causal_attention.hpp>

namespace gflow::nn {

struct CausalSelfAttentionOptions {
    Index d_model = 1;
    Index heads = 1;
    double dropout = 0;  ///< of the attention weights, in training
    double init_std = 0;
    DType dtype = float32;
};

/// Multi-head self-attention over what came before, with biased projections for q, k, v (in one matrix) and the output.
class CausalSelfAttention : public Module {
public:
    static constexpr bool has_own_skip = false;

    Linear qkv, output;

    explicit CausalSelfAttention(const CausalSelfAttentionOptions& o)
        : qkv({.in = o.d_model, .out = 3 * o.d_model, .init_std = o.init_std, .dtype = o.dtype}),
          output({.in = o.d_model, .out = o.d_model, .init_std = o.init_std, .dtype = o.dtype}),
          heads_(o.heads),
          dropout_(o.dropout) {
        require<usage_error>(o.heads >= 1 && o.d_model % o.heads == 0, "CausalSelfAttention",
                             "d_model must split evenly into heads", {{"d_model", o.d_model}, {"heads", o.heads}});
        register_module("qkv", qkv);
        register_module("output", output);
    }

    /// h: [batch, length, d_model] → the same
    Tensor operator()(const Tensor& h) const {
        return output(causal_attention(qkv(h), {.heads = heads_, .dropout = training() ? dropout_ : 0}));
    }

    /// Keys and values of the positions so far. Grows with the text.
    struct Cache {
        std::vector<float> keys, values;
    };

    /// The next position of a sequence, h: [1, 1, d_model], float32. Equal to the last position of the whole forward.
    Tensor step(const Tensor& h, Cache& cache) const {
        const Tensor packed = qkv(h);
        const Index d = h.size(2);
        const float* q = packed.data<float>();
        cache.keys.insert(cache.keys.end(), q + d, q + 2 * d);
        cache.values.insert(cache.values.end(), q + 2 * d, q + 3 * d);
        const Index seen = static_cast<Index>(cache.keys.size()) / d;
        Tensor attended = empty(h.shape());
        kernels::attention_step<float>(heads_, {q, d}, {cache.keys.data(), seen, d}, {cache.values.data(), seen, d},
                                       write<float>(attended));
        return output(attended);
    }

private:
    Index heads_;
    double dropout_;
};

}  // namespace gflow::nn
