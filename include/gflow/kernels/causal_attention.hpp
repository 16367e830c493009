#pragma once
#include <gflow/core/parallel.hpp>
#include <gflow/core/random.hpp>
#include <gflow/core/scratch.hpp>
#include <gflow/kernels/dropout.hpp>
#include <gflow/kernels/gemm.hpp>
#include <gflow/kernels/softmax.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// Sizes of one attention call, and the random numbers of its dropout.
struct AttentionShape {
    Index batch = 0, length = 0, heads = 0, head_size = 0;
    double dropout = 0;
    RandomCall random{};
};

namespace detail {

/// A rectangle of scores: queries `query` … `query_end`−1 against keys `key` … `key_end`−1.
struct AttentionTile {
    // 128 × 512 float32 are 256 KiB, which stay in the second-level cache. At length 2048, tiles of 64 × 512 are 5 %
    // slower, of 64 × 64 a third (heads of 64 columns, AVX2).
    static constexpr Index most_queries = 128, most_keys = 512, queries_on_diagonal = 64;

    Index query, query_end, key, key_end;

    Index rows() const { return query_end - query; }
    Index cols() const { return key_end - key; }
    /// How many of its keys the query of this row sees: itself and what came before.
    Index seen(Index row) const { return std::min(cols(), query + row + 1 - key); }
};

/// Calls f(tile) for tiles that hold what the queries see of the keys: large ones where each query sees all keys, then
/// one for every few queries along the diagonal, so that little is computed in vain.
template <class F>
void for_each_tile(Index query, Index query_end, Index key, Index key_end, F&& f) {
    for (Index next; key < std::min(query, key_end); key = next) {
        next = std::min({key + AttentionTile::most_keys, query, key_end});
        f(AttentionTile{query, query_end, key, next});
    }
    for (Index next; query < std::min(query_end, key_end); query = next) {
        next = std::min(query + AttentionTile::queries_on_diagonal, query_end);
        f(AttentionTile{query, next, key, next});
    }
}

/// The columns of one head of one sequence.  packed: [batch·length, parts·heads·head_size].
template <class T>
Matrix<T> head_of(Matrix<T> packed, const AttentionShape& s, Index number, Index part) {
    const Index sequence = number / s.heads, first = (part * s.heads + number % s.heads) * s.head_size;
    return packed.row_range(sequence * s.length, (sequence + 1) * s.length).col_range(first, first + s.head_size);
}

/// mask[i] = 1/(1−p) where uniform(word of element first + i) ≥ p, else 0.
template <class T>
void keep_mask(const RandomCall& random, double p, std::uint64_t first, Vector<T> mask) {
    const auto threshold = static_cast<std::int32_t>(std::ceil(static_cast<float>(p) * 0x1p24F));  // as 24 bits
    const T scale = static_cast<T>(1 / (1 - p));
    alignas(64) std::array<std::int32_t, random_group> words;
    auto skip = static_cast<Index>(first % 4);  // a row of weights may begin within a block of four words
    for (Index done = 0; done < mask.size(); skip = 0) {
        random_words(random, (first + static_cast<std::uint64_t>(done)) / 4, words);
        const Index count = std::min(random_group - skip, mask.size() - done);
        const auto kept = (array(words.data() + skip, count) - (threshold - 1)).max(0).min(1);
        array(mask.data() + done, count) = kept.template cast<T>() * scale;
        done += count;
    }
}

/// What forward and backward of one head of one sequence have in common.
template <class T>
struct AttentionHead {
    const AttentionShape& shape;
    Index number;  // sequence · heads + head
    Matrix<const T> q, k, v;

    AttentionHead(const AttentionShape& s, Index i, Matrix<const T> qkv)
        : shape(s), number(i), q(head_of(qkv, s, i, 0)), k(head_of(qkv, s, i, 1)), v(head_of(qkv, s, i, 2)) {}

    T scale() const { return T(1) / std::sqrt(static_cast<T>(shape.head_size)); }

    /// 1/(1−p) for each weight of a query that dropout keeps, else 0, for `count` keys; depends on (query, key) alone.
    auto kept(Index query, Index key, Index count, Vector<T> mask) const {
        const auto element = static_cast<std::uint64_t>((number * shape.length + query) * shape.length + key);
        keep_mask(shape.random, shape.dropout, element, Vector<T>(mask.data(), count));
        return array(mask.data(), count);
    }
};

/// softmax(scale·scores)·v for some queries whose scores come tile by tile: all sums are relative to the largest score
/// so far (Milakov and Gimelshein 2018; FlashAttention 2, Dao 2023).
template <class T>
struct RunningSoftmax {
    T scale;
    Vector<T> peak, sum;  // the largest score so far, and Σ exp(scale·(score − peak))
    Matrix<T> out;        // Σ exp(scale·(score − peak))·v

    void start() const {
        array(peak).setConstant(-infinity<T>);
        array(sum).setZero();
        matrix(out).setZero();
    }
    /// Turns the next scores of one query into weights, which count in its sum, and yet have to be added to out.
    void weigh(Index query, Vector<T> scores) const {
        const T before = peak[query], top = max_of<T>(scores);
        if (!(top <= before)) {  // NaN wins
            peak[query] = top;
            const T shrink = before == -infinity<T> ? T(0) : std::exp((before - top) * scale);
            sum[query] *= shrink;
            array(out[query]) *= shrink;
        }
        // As long as all scores are −∞, they are taken relative to 0, so that later ones still count.
        const T base = peak[query] == -infinity<T> ? T(0) : peak[query];
        auto weights = array(scores);
        weights = exponential((weights - base) * scale);
        sum[query] += weights.sum();
    }
    /// Leaves log Σ exp(scale·score) in peak.
    void finish() const {
        for (Index query = 0; query < sum.size(); ++query) array(out[query]) *= T(1) / sum[query];
        array(peak) = array(peak) * scale + array(sum).log();
    }
};

/// Queries begin … end−1 of out = softmax(scale · q·kᵀ, causal)·v, and their log-sum-exp.
template <class T>
void attention_rows(const AttentionHead<T>& head, Index begin, Index end, Matrix<T> out, Vector<T> log_sum_exp) {
    const Scratch<T> scores(AttentionTile::most_queries * AttentionTile::most_keys);
    const Scratch<T> sums(end - begin), mask(AttentionTile::most_keys);
    const RunningSoftmax<T> softmax{
        head.scale(), {log_sum_exp.data() + begin, end - begin}, sums, out.row_range(begin, end)};
    softmax.start();
    for_each_tile(begin, end, 0, head.shape.length, [&](const AttentionTile& tile) {
        const Matrix<T> p = scores.rows(tile.rows(), tile.cols());
        gemm_tile<T>(head.q.row_range(tile.query, tile.query_end), transposed(head.k.row_range(tile.key, tile.key_end)),
                     p, Onto::overwrite);
        for (Index row = 0; row < tile.rows(); ++row) {
            const Vector<T> seen(p[row].data(), tile.seen(row));
            softmax.weigh(tile.query + row - begin, seen);
            if (head.shape.dropout > 0) array(seen) *= head.kept(tile.query + row, tile.key, seen.size(), mask);
            array(seen.end(), tile.cols() - seen.size()).setZero();
        }
        gemm_tile<T>(p, head.v.row_range(tile.key, tile.key_end), out.row_range(tile.query, tile.query_end), Onto::add);
    });
    softmax.finish();
}

/// What backward knows and what it adds to, for one head of one sequence.  All but log_sum_exp: [length, head_size].
template <class T>
struct AttentionGradient {
    Matrix<const T> out, d_out;
    Vector<const T> log_sum_exp;
    Matrix<T> dq, dk, dv;
};

/// The share of queries begin … end−1 and keys key … key_end−1 in
/// dV += (P∘M)ᵀ·dO,  dP = (dO·Vᵀ)∘M,  dS = scale·P∘(dP − D) with D = rowsum(dO∘O),  dQ += dS·K,  dK += dSᵀ·Q
/// where M is the dropout mask and P is rebuilt from the scores and their log-sum-exp.
template <class T>
void attention_rows_backward(const AttentionHead<T>& head, const AttentionGradient<T>& g, Index begin, Index end,
                             Index key, Index key_end) {
    constexpr Index most_scores = AttentionTile::most_queries * AttentionTile::most_keys;
    const Scratch<T> scores(most_scores), slopes(most_scores), along(end - begin), mask(AttentionTile::most_keys);
    array(Vector<T>(along)) =
        (matrix(g.d_out.row_range(begin, end)).array() * matrix(g.out.row_range(begin, end)).array()).rowwise().sum();
    for_each_tile(begin, end, key, key_end, [&](const AttentionTile& tile) {
        const Matrix<T> p = scores.rows(tile.rows(), tile.cols()), ds = slopes.rows(tile.rows(), tile.cols());
        const Matrix<const T> q = head.q.row_range(tile.query, tile.query_end),
                              d_out = g.d_out.row_range(tile.query, tile.query_end);
        const Matrix<const T> k = head.k.row_range(tile.key, tile.key_end),
                              v = head.v.row_range(tile.key, tile.key_end);
        gemm_tile<T>(q, transposed(k), p, Onto::overwrite);
        gemm_tile<T>(d_out, transposed(v), ds, Onto::overwrite);
        for (Index row = 0; row < tile.rows(); ++row) {
            const Index query = tile.query + row, seen = tile.seen(row);
            auto weight = array(p[row].data(), seen), slope = array(ds[row].data(), seen);
            weight = exponential(weight * head.scale() - g.log_sum_exp[query]);
            if (head.shape.dropout > 0) slope *= head.kept(query, tile.key, seen, mask);
            slope = weight * (slope - along.data()[query - begin]) * head.scale();
            if (head.shape.dropout > 0) weight *= array(mask.data(), seen);
            array(p[row].data() + seen, tile.cols() - seen).setZero();
            array(ds[row].data() + seen, tile.cols() - seen).setZero();
        }
        gemm_tile<T>(transposed(p), d_out, g.dv.row_range(tile.key, tile.key_end), Onto::add);
        gemm_tile<T>(ds, k, g.dq.row_range(tile.query, tile.query_end), Onto::add);
        gemm_tile<T>(transposed(ds), q, g.dk.row_range(tile.key, tile.key_end), Onto::add);
    });
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
        detail::attention_rows<T>({s, number, qkv}, begin, std::min(begin + step, s.length),
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
            const detail::AttentionHead<T> head(s, number, qkv);
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
