#pragma once
#include <gflow/kernels/attention_head.hpp>

#include <vector>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// Sequences that lie end to end, sequence i in the rows starts[i] … starts[i+1]−1, and the random numbers of dropout.
struct PackedAttentionShape {
    std::vector<Index> starts{0};  ///< [sequences + 1]
    Index heads = 0, head_size = 0;
    double dropout = 0;
    RandomCall random{};

    Index sequences() const { return static_cast<Index>(starts.size()) - 1; }
    Index tokens() const { return starts.back(); }
};

namespace detail {

/// One head of one of the sequences: its rows in what is packed, and its columns there.
struct PackedHead {
    const PackedAttentionShape& shape;
    Index head, begin, end;

    PackedHead(const PackedAttentionShape& s, Index number)
        : shape(s),
          head(number % s.heads),
          begin(s.starts[static_cast<std::size_t>(number / s.heads)]),
          end(s.starts[static_cast<std::size_t>(number / s.heads + 1)]) {}

    Index length() const { return end - begin; }
    /// packed: [tokens, parts·heads·head_size]
    template <class T>
    Matrix<T> columns(Matrix<T> packed, Index part) const {
        return head_columns(packed.row_range(begin, end), shape.heads, shape.head_size, head, part);
    }
    /// per_token: [heads, tokens]
    template <class T>
    Vector<T> row(Matrix<T> per_token) const {
        return {per_token[head].data() + begin, length()};
    }
    /// Weight (query, key) has the place (query · heads + head) · tokens + key, both counted over all sequences.
    template <class T>
    AttentionHead<T> of(Matrix<const T> qkv) const {
        const Index first = (begin * shape.heads + head) * shape.tokens() + begin;
        const WeightDropout dropout{shape.dropout, shape.random, static_cast<std::uint64_t>(first),
                                    static_cast<std::uint64_t>(shape.heads * shape.tokens())};
        return {qkv.row_range(begin, end), shape.heads, shape.head_size, head, false, dropout};
    }
};

/// Calls f(head, query begin, query end) for tiles of queries; each head of each sequence is the work of one thread, so
/// that what backward adds to its keys and values comes in one order.
template <class F>
void for_each_head(const PackedAttentionShape& s, F&& f) {
    constexpr Index step = AttentionTile::most_queries;
    parallel_for(s.sequences() * s.heads, 1, [&](Index number, Index) {
        const PackedHead head(s, number);
        for (Index begin = 0; begin < head.length(); begin += step)
            f(head, begin, std::min(begin + step, head.length()));
    });
}

}  // namespace detail

/// out = softmax(scale · q·kᵀ)·v within each sequence, for each head, scale = 1/√head_size.
/// qkv: [tokens, 3·heads·head_size] (all q, all k, all v), out: [tokens, heads·head_size], log_sum_exp: [heads,
/// tokens].
template <class T>
void attention(const PackedAttentionShape& s, Matrix<const T> qkv, Matrix<T> out, Matrix<T> log_sum_exp) {
    detail::for_each_head(s, [&](const detail::PackedHead& head, Index begin, Index end) {
        detail::attention_rows<T>(head.of<T>(qkv), begin, end, head.columns(out, 0), head.row(log_sum_exp));
    });
}

/// dqkv += ∂. Shapes as in attention.
template <class T>
void attention_backward(const PackedAttentionShape& s, Matrix<const T> qkv, Matrix<const T> out,
                        Matrix<const T> log_sum_exp, Matrix<const T> d_out, Matrix<T> dqkv) {
    detail::for_each_head(s, [&](const detail::PackedHead& head, Index begin, Index end) {
        const detail::AttentionGradient<T> gradient{head.columns(out, 0),  head.columns(d_out, 0),
                                                    head.row(log_sum_exp), head.columns(dqkv, 0),
                                                    head.columns(dqkv, 1), head.columns(dqkv, 2)};
        detail::attention_rows_backward<T>(head.of<T>(qkv), gradient, begin, end, 0, head.length());
    });
}

#if defined(GFLOW_EXTERN_TEMPLATES)
extern template void attention<float>(const PackedAttentionShape&, Matrix<const float>, Matrix<float>, Matrix<float>);
extern template void attention<double>(const PackedAttentionShape&, Matrix<const double>, Matrix<double>,
                                       Matrix<double>);
extern template void attention_backward<float>(const PackedAttentionShape&, Matrix<const float>, Matrix<const float>,
                                               Matrix<const float>, Matrix<const float>, Matrix<float>);
extern template void attention_backward<double>(const PackedAttentionShape&, Matrix<const double>, Matrix<const double>,
                                                Matrix<const double>, Matrix<const double>, Matrix<double>);
#endif

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
