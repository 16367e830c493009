#pragma once
#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/attention.hpp>
#include <gflow/ops/concat.hpp>
#include <gflow/ops/dropout.hpp>
#include <gflow/ops/matmul.hpp>
#include <gflow/ops/reshape.hpp>
#include <gflow/ops/slice.hpp>
#include <gflow/ops/softmax.hpp>
#include <gflow/ops/transpose.hpp>

#include <cmath>

namespace gflow {

/// attention made of basic ops, a sequence after the other: softmax(q·kᵀ/√n)·v for each head of n columns. The
/// reference that the fused op is tested against; it keeps the weights of every pair for backward. Its dropout takes
/// other random numbers than that of the fused op.
inline Tensor attention_reference(const Tensor& qkv, const std::vector<Index>& lengths, AttentionOptions options = {}) {
    const char* op = "attention_reference";
    const Index width = qkv.size(1) / 3, head_size = detail::head_size(op, width, options);
    const std::vector<Index> starts = detail::starts_of(op, lengths, qkv.size(0));
    std::vector<Tensor> all{zeros({0, width}, qkv.dtype())};
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const Tensor rows = slice(qkv, 0, starts[i], starts[i + 1]);
        const auto part = [&](Index which) {  // [heads, length, head_size]
            const Tensor columns = slice(rows, 1, which * width, (which + 1) * width);
            return transpose(reshape(columns, {lengths[i], options.heads, head_size}), 0, 1);
        };
        const Tensor scores = matmul(part(0), part(1), {.transpose_b = true});
        Tensor weights = softmax(scores * (1 / std::sqrt(static_cast<double>(head_size))));
        if (options.dropout > 0) weights = dropout(weights, options.dropout);
        all.push_back(reshape(transpose(matmul(weights, part(2)), 0, 1), {lengths[i], width}));
    }
    return concat(all, 0);
}

}  // namespace gflow
