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

// One head of one sequence, whatever lies around it: what causal_attention and attention share.

namespace gflow::kernels {
inline namespace GFLOW_ISA {

namespace detail {

/// A rectangle of scores: queries `query` … `query_end`−1 against keys `key` … `key_end`−1.
struct AttentionTile {
    // 128 × 512 float32 are 256 KiB, which stay in the second-level cache. At length 2048, tiles of 64 × 512 are 5 %
    // slower, of 64 × 64 a third (heads of 64 columns, AVX2).
    static constexpr Index most_queries = 128, most_keys = 512, queries_on_diagonal = 64;

    Index query, query_end, key, key_end;
    bool causal;

    Index rows() const { return query_end - query; }
    Index cols() const { return key_end - key; }
    /// How many of its keys the query of this row sees: all, or itself and what came before.
    Index seen(Index row) const { return causal ? std::min(cols(), query + row + 1 - key) : cols(); }
};

/// Calls f(tile) for tiles that hold what the queries see of the keys: large ones where each query sees all keys, then,
/// where attention is causal, one for every few queries along the diagonal, so that little is computed in vain.
template <class F>
void for_each_tile(bool causal, Index query, Index query_end, Index key, Index key_end, F&& f) {
    const Index seen_by_all = causal ? std::min(query, key_end) : key_end;
    for (Index next; key < seen_by_all; key = next) {
        next = std::min(key + AttentionTile::most_keys, seen_by_all);
        f(AttentionTile{query, query_end, key, next, causal});
    }
    if (!causal) return;
    for (Index next; query < std::min(query_end, key_end); query = next) {
        next = std::min(query + AttentionTile::queries_on_diagonal, query_end);
        f(AttentionTile{query, next, key, next, causal});
    }
}

/// The columns of one head in rows that hold one part after the other (queries, keys, values), each of all heads.
template <class T>
Matrix<T> head_columns(Matrix<T> rows, Index heads, Index head_size, Index head, Index part) {
    const Index first = (part * heads + head) * head_size;
    return rows.col_range(first, first + head_size);
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

/// Dropout of attention weights: each takes the random word of its own place, so that backward can take it again.
struct WeightDropout {
    double probability = 0;
    RandomCall random{};
    std::uint64_t first = 0, per_query = 0;  // the place of weight (0, 0), and the distance from query to query

    bool on() const { return probability > 0; }
};

/// What forward and backward of one head of one sequence have in common.  q, k, v: [length, head_size].
template <class T>
struct AttentionHead {
    Matrix<const T> q, k, v;
    bool causal;
    WeightDropout dropout;

    /// @param qkv  the rows of the sequence, with all heads
    AttentionHead(Matrix<const T> qkv, Index heads, Index head_size, Index head, bool causal_, WeightDropout dropout_)
        : q(head_columns(qkv, heads, head_size, head, 0)),
          k(head_columns(qkv, heads, head_size, head, 1)),
          v(head_columns(qkv, heads, head_size, head, 2)),
          causal(causal_),
          dropout(dropout_) {}

    T scale() const { return T(1) / std::sqrt(static_cast<T>(q.cols())); }

    /// 1/(1−p) for each weight of a query that dropout keeps, else 0, for `count` keys.
    auto kept(Index query, Index key, Index count, Vector<T> mask) const {
        const auto place = static_cast<std::uint64_t>(query) * dropout.per_query + static_cast<std::uint64_t>(key);
        keep_mask(dropout.random, dropout.probability, dropout.first + place, Vector<T>(mask.data(), count));
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

/// Queries begin … end−1 of out = softmax(scale · q·kᵀ)·v over the keys that they see, and their log-sum-exp.
template <class T>
void attention_rows(const AttentionHead<T>& head, Index begin, Index end, Matrix<T> out, Vector<T> log_sum_exp) {
    const Scratch<T> scores(AttentionTile::most_queries * AttentionTile::most_keys);
    const Scratch<T> sums(end - begin), mask(AttentionTile::most_keys);
    const RunningSoftmax<T> softmax{
        head.scale(), {log_sum_exp.data() + begin, end - begin}, sums, out.row_range(begin, end)};
    softmax.start();
    for_each_tile(head.causal, begin, end, 0, head.k.rows(), [&](const AttentionTile& tile) {
        const Matrix<T> p = scores.rows(tile.rows(), tile.cols());
        gemm_tile<T>(head.q.row_range(tile.query, tile.query_end), transposed(head.k.row_range(tile.key, tile.key_end)),
                     p, Onto::overwrite);
        for (Index row = 0; row < tile.rows(); ++row) {
            const Vector<T> seen(p[row].data(), tile.seen(row));
            softmax.weigh(tile.query + row - begin, seen);
            if (head.dropout.on()) array(seen) *= head.kept(tile.query + row, tile.key, seen.size(), mask);
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
    for_each_tile(head.causal, begin, end, key, key_end, [&](const AttentionTile& tile) {
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
            if (head.dropout.on()) slope *= head.kept(query, tile.key, seen, mask);
            slope = weight * (slope - along.data()[query - begin]) * head.scale();
            if (head.dropout.on()) weight *= array(mask.data(), seen);
            array(p[row].data() + seen, tile.cols() - seen).setZero();
            array(ds[row].data() + seen, tile.cols() - seen).setZero();
        }
        gemm_tile<T>(transposed(p), d_out, g.dv.row_range(tile.key, tile.key_end), Onto::add);
        gemm_tile<T>(ds, k, g.dq.row_range(tile.query, tile.query_end), Onto::add);
        gemm_tile<T>(transposed(ds), q, g.dk.row_range(tile.key, tile.key_end), Onto::add);
    });
}

}  // namespace detail

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
