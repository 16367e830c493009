#pragma once
#include <gflow/kernels/attention.hpp>
#include <gflow/ops/attention_options.hpp>

#include <utility>
#include <vector>

namespace gflow {

namespace detail {

/// Where sequences of these lengths begin and, last, where all of them end.
/// @throws shape_error unless the lengths are those of `rows` rows
inline std::vector<Index> starts_of(const char* op, const std::vector<Index>& lengths, Index rows) {
    std::vector<Index> starts{0};
    for (const Index length : lengths) {
        require(length >= 0 && length <= rows - starts.back(), op, "the lengths must be those of the rows",
                {{"length", length}, {"rows before it", starts.back()}, {"rows", rows}});
        starts.push_back(starts.back() + length);
    }
    require(starts.back() == rows, op, "the lengths must be those of the rows",
            {{"sum of the lengths", starts.back()}, {"rows", rows}});
    return starts;
}

}  // namespace detail

/// Multi-head scaled dot-product attention in which each token sees all tokens of its sequence (Vaswani et al. 2017).
/// The sequences lie end to end, so that padding takes neither memory nor time.
/// @param qkv      [tokens, 3·d]: queries, keys, values side by side, each split into heads of d / heads columns
/// @param lengths  of the sequences, with Σ lengths = tokens; a sequence may be empty
/// @return         [tokens, d]
/// @throws         shape_error if qkv has not two axes, d does not split into heads or the lengths do not fit;
///                 usage_error for a bad dropout
inline Tensor attention(const Tensor& qkv, const std::vector<Index>& lengths, AttentionOptions options = {}) {
    const char* op = "attention";
    detail::require_floating(op, qkv);
    require(qkv.rank() == 2 && qkv.size(1) % 3 == 0, op, "[tokens, 3·d] is needed", {{"qkv", qkv}});
    const Index tokens = qkv.size(0), width = qkv.size(1) / 3, head_size = detail::head_size(op, width, options);
    kernels::PackedAttentionShape shape{
        detail::starts_of(op, lengths, tokens), options.heads, head_size, options.dropout, {}};
    if (options.dropout > 0) shape.random = default_generator().next_call();
    Tensor out = empty({tokens, width}, qkv.dtype(), qkv.device());
    Tensor log_sum_exp = empty({options.heads, tokens}, qkv.dtype(), qkv.device());
    visit_floating(op, qkv.dtype(), [&]<class T>(T) {
        kernels::attention<T>(shape, read_rows<T>(qkv), write_rows<T>(out), write_rows<T>(log_sum_exp));
    });
    return record(op, {qkv}, out, {qkv, out, log_sum_exp},
                  [op, shape = std::move(shape)](const Saved& saved, const Tensor& d_out, Gradients& d) {
                      visit_floating(op, d_out.dtype(), [&]<class T>(T) {
                          kernels::attention_backward<T>(shape, read_rows<T>(saved[0]), read_rows<T>(saved[1]),
                                                         read_rows<T>(saved[2]), read_rows<T>(d_out),
                                                         write_rows<T>(d[0]));
                      });
                  });
}

}  // namespace gflow
