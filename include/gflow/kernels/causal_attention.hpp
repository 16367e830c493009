#pragma once
#include <gflow/kernels/attention_head.hpp>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// Sizes of one attention call, and the random numbers of its dropout.
struct AttentionShape {
    Index batch = 0, length = 0, heads = 0, head_size = 0;
    double dropout = 0;
    RandomCall random{};
};

namespace detail {

/// The columns of one head of one sequence.  packed: [batch·length, parts·heads·head_size].
template <class T>
Matrix<T> head_of(Matrix<T> packed, const AttentionShape& s, Index number, Index part) {
    const Index sequence = number / s.heads;
    return head_columns(packed.row_range(sequence * s.length, (sequence + 1) * s.length), s.heads, s.head_size,
                        number % s.heads, part);
}

/// Head `number` = sequence · heads + head.  Weight (query, key) has the place (number · length + query) · length +
/// key.
template <class T>
AttentionHead<T> causal_head(const AttentionShape& s, Index number, Matrix<const T> qkv) {
    const Index sequence = number / s.heads;
    const WeightDropout dropout{s.dropout, s.random, static_cast<std::uint64_t>(number * s.length * s.length),
                                static_cast<std::uint64_t>(s.length)};
    return {qkv.row_range(sequence * s.length, (sequence + 1) * s.length),
            s.heads,
            s.head_size,
            number % s.heads,
            true,
            dropout};
}

}  // namespace detail

/// out = softmax(scale · q·kᵀ, causal)·v for each head, scale = 1/√head_size. The L×L weights exist a tile at a time.
/// qkv: [batch·length, 3·heads·head_size] (all q, all k, all v), out: [batch·length, heads·head_size],
/// log_sum_exp: [batch·heads·length].
template <class T>
void causal_attention(const AttentionShape& s, Matrix<const T> qkv, Matrix<T> out, Vector<T> log_sum_exp) {
    constexpr Index step = detail::AttentionTile::most_queries;
    const Index tiles = (s.length + step - 1) / step;
    parallel_for(s.batch * s.heads * tiles, 1, [&](Index i, Index) {
        const Index number = i / tiles, begin = (tiles - 1 - i % tiles) * step;  // the longest work first
        detail::attention_rows<T>(detail::causal_head(s, number, qkv), begin, std::min(begin + step, s.length),
                                  detail::head_of(out, s, number, 0),
                                  {log_sum_exp.data() + number * s.length, s.length});
    });
}

/// dqkv += ∂. Shapes as in causal_attention.
template <class T>
void causal_attention_backward(const AttentionShape& s, Matrix<const T> qkv, Matrix<const T> out,
                               Vector<const T> log_sum_exp, Matrix<const T> d_out, Matrix<T> dqkv) {
    constexpr Index block = 1024, step = detail::AttentionTile::most_queries;
    const Index blocks = (s.length + block - 1) / block;
    // The score matrix is cut into blocks, each of which adds to the dQ of its queries and the dK and dV of its keys.
    // Like the pairs of one round of a tournament, the blocks of one turn, query + key = turn (modulo blocks), share
    // neither: they run side by side, and each place is added to in the same order on any number of threads.
    for (Index turn = 0; turn < blocks; ++turn)
        parallel_for(s.batch * s.heads * blocks, 1, [&](Index i, Index) {
            const Index number = i / blocks, query = i % blocks, key = (turn + blocks - query) % blocks;
            if (key > query) return;
            const detail::AttentionHead<T> head = detail::causal_head(s, number, qkv);
            const detail::AttentionGradient<T> gradient{detail::head_of(out, s, number, 0),
                                                        detail::head_of(d_out, s, number, 0),
                                                        {log_sum_exp.data() + number * s.length, s.length},
                                                        detail::head_of(dqkv, s, number, 0),
                                                        detail::head_of(dqkv, s, number, 1),
                                                        detail::head_of(dqkv, s, number, 2)};
            const Index end = std::min((query + 1) * block, s.length), key_end = std::min((key + 1) * block, s.length);
            for (Index begin = query * block; begin < end; begin += step)
                detail::attention_rows_backward(head, gradient, begin, std::min(begin + step, end), key * block,
                                                key_end);
        });
}

/// The output for one more query, given the keys and values so far (its own included).
/// q: [heads·head_size], keys, values: [seen, heads·head_size], out: [heads·head_size].
template <class T>
void attention_step(Index heads, Vector<const T> q, Matrix<const T> keys, Matrix<const T> values, Vector<T> out) {
    const Index head_size = q.size() / heads;
    const T scale = T(1) / std::sqrt(static_cast<T>(head_size));
    parallel_rows(heads, 2 * keys.rows() * head_size, [&](Index head) {
        const Scratch<T> memory(keys.rows());
        auto weights = array(memory.data(), keys.rows());
        const Index first = head * head_size, last = first + head_size;
        const auto query = vector(Vector<const T>(q.data() + first, head_size));
        vector(Vector<T>(memory)).noalias() = matrix(keys.col_range(first, last)) * query;
        weights *= scale;
        weights = exponential(weights - weights.template maxCoeff<Eigen::PropagateNaN>());
        weights *= T(1) / weights.sum();
        vector(Vector<T>(out.data() + first, head_size)).noalias() =
            matrix(values.col_range(first, last)).transpose() * vector(Vector<T>(memory));
    });
}

#if defined(GFLOW_EXTERN_TEMPLATES)
extern template void causal_attention<float>(const AttentionShape&, Matrix<const float>, Matrix<float>, Vector<float>);
extern template void causal_attention<double>(const AttentionShape&, Matrix<const double>, Matrix<double>,
                                              Vector<double>);
extern template void causal_attention_backward<float>(const AttentionShape&, Matrix<const float>, Matrix<const float>,
                                                      Vector<const float>, Matrix<const float>, Matrix<float>);
extern template void causal_attention_backward<double>(const AttentionShape&, Matrix<const double>,
                                                       Matrix<const double>, Vector<const double>, Matrix<const double>,
                                                       Matrix<double>);
#endif

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
