#pragma once
#include <gflow/kernels/causal_attention.hpp>
#include <gflow/ops/attention_options.hpp>

namespace gflow {

/// Multi-head scaled dot-product attention in which position t sees positions 0 … t (Vaswani et al. 2017).
/// @param qkv  [batch, length, 3·d]: queries, keys, values side by side, each split into heads of d / heads columns
/// @return     [batch, length, d]
/// @throws     shape_error if qkv has not three axes or d does not split into heads;  usage_error for a bad dropout
inline Tensor causal_attention(const Tensor& qkv, AttentionOptions options = {}) {
    require(qkv.rank() == 3 && qkv.size(2) % 3 == 0, "causal_attention", "[batch, length, 3·d] is needed",
            {{"qkv", qkv}});
    const Index width = qkv.size(2) / 3, head_size = detail::head_size("causal_attention", width, options);
    kernels::AttentionShape shape{qkv.size(0), qkv.size(1), options.heads, head_size, options.dropout, {}};
    if (options.dropout > 0) shape.random = default_generator().next_call();
    Tensor out = empty({qkv.size(0), qkv.size(1), width}, qkv.dtype(), qkv.device());
    Tensor log_sum_exp = empty({qkv.size(0), options.heads, qkv.size(1)}, qkv.dtype(), qkv.device());
    visit_floating("causal_attention", qkv.dtype(), [&]<class T>(T) {
        kernels::causal_attention<T>(shape, read_rows<T>(qkv), write_rows<T>(out), write<T>(log_sum_exp));
    });
    return record("causal_attention", {qkv}, out, {qkv, out, log_sum_exp},
                  [shape](const Saved& saved, const Tensor& d_out, Gradients& d) {
                      visit_floating("causal_attention", d_out.dtype(), [&]<class T>(T) {
                          kernels::causal_attention_backward<T>(shape, read_rows<T>(saved[0]), read_rows<T>(saved[1]),
                                                                read<T>(saved[2]), read_rows<T>(d_out),
                                                                write_rows<T>(d[0]));
                      });
                  });
}

}  // namespace gflow
