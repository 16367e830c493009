#pragma once
#include <gflow/core/random.hpp>
#include <gflow/core/scratch.hpp>
#include <gflow/kernels/exp.hpp>
#include <gflow/kernels/gemm.hpp>

#include <cmath>

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
Matrix<T> head_of(Matrix<T> packed, const AttentionShape& s, Index sequence, Index part, Index head) {
    const Index first = (part * s.heads + head) * s.head_size;
    return packed.row_range(sequence * s.length, (sequence + 1) * s.length).col_range(first, first + s.head_size);
}

/// One head of one sequence; the kernels below run through its queries in tiles.
template <class T>
struct AttentionHead {
    static constexpr Index tile = 64;  // 64 × 256 scores are 64 KiB: they stay in the second-level cache

    const AttentionShape& shape;
    Index number;  // sequence · heads + head
    Matrix<const T> q, k, v;

    T scale() const { return T(1) / std::sqrt(static_cast<T>(shape.head_size)); }

    /// scores = scale · q_tile·kᵀ for queries begin … end−1 and all keys up to end−1: later tiles are never touched.
    void scores(Index begin, Index end, Matrix<T> out) const {
        gemm_tile<T>(q.row_range(begin, end), transposed(k.row_range(0, end)), out, Onto::overwrite);
        matrix(out) *= scale();
    }
    /// 1/(1−p) for a probability that dropout keeps, else 0; depends on (query, key) alone.
    T kept(Index query, Index key) const {
        const auto element = static_cast<std::uint64_t>((number * shape.length + query) * shape.length + key);
        const std::uint32_t word = shape.random.block(element / 4)[element % 4];
        return uniform(word) < static_cast<float>(shape.dropout) ? T(0) : static_cast<T>(1 / (1 - shape.dropout));
    }
    void drop(Matrix<T> tile_scores, Index begin) const {
        if (shape.dropout == 0) return;
        for (Index row = 0; row < tile_scores.rows(); ++row)
            for (Index key = 0; key <= begin + row; ++key) tile_scores[row][key] *= kept(begin + row, key);
    }
};

template <class T>
void attention_head_forward(const AttentionHead<T>& head, Matrix<T> out, Vector<T> log_sum_exp) {
    Scratch<T> memory(head.tile * head.shape.length);
    for (Index begin = 0; begin < head.shape.length; begin += head.tile) {
        const Index end = std::min(begin + head.tile, head.shape.length);
        const Matrix<T> p = memory.rows(end - begin, end);
        head.scores(begin, end, p);
        for (Index row = 0; row < p.rows(); ++row) {
            const Index seen = begin + row + 1;  // a query sees itself and what came before
            auto weights = array(p[row].data(), seen);
            const T peak = weights.template maxCoeff<Eigen::PropagateNaN>();
            weights = exponential(weights - peak);
            const T sum = weights.sum();
            weights *= T(1) / sum;
            array(p[row].data() + seen, end - seen).setZero();
            log_sum_exp[begin + row] = peak + std::log(sum);
        }
        head.drop(p, begin);
        gemm_tile<T>(p, head.v.row_range(0, end), out.row_range(begin, end), Onto::overwrite);
    }
}

/// dV += (P∘M)ᵀ·dO,  dP = (dO·Vᵀ)∘M,  dS = P∘(dP − D) with D = rowsum(dO∘O),  dQ += scale·dS·K,  dK += scale·dSᵀ·Q
/// where M is the dropout mask and P is rebuilt from the scores and their log-sum-exp.
template <class T>
void attention_head_backward(const AttentionHead<T>& head, Matrix<const T> out, Matrix<const T> d_out,
                             Vector<const T> log_sum_exp, Matrix<T> dq, Matrix<T> dk, Matrix<T> dv) {
    Scratch<T> memory(2 * head.tile * head.shape.length);
    for (Index begin = 0; begin < head.shape.length; begin += head.tile) {
        const Index end = std::min(begin + head.tile, head.shape.length);
        const Matrix<T> p = memory.rows(end - begin, end);
        const Matrix<T> ds(p.data() + p.rows() * p.cols(), p.rows(), p.cols());
        const Matrix<const T> d_tile = d_out.row_range(begin, end);
        head.scores(begin, end, p);
        for (Index row = 0; row < p.rows(); ++row) {
            const Index seen = begin + row + 1;
            auto weights = array(p[row].data(), seen);
            weights = exponential(weights - log_sum_exp[begin + row]);
            array(p[row].data() + seen, end - seen).setZero();
        }
        gemm_tile<T>(d_tile, transposed(head.v.row_range(0, end)), ds, Onto::overwrite);
        head.drop(ds, begin);
        for (Index row = 0; row < p.rows(); ++row) {
            const T d = (array(d_tile[row]) * array(out[begin + row])).sum();
            const Index seen = begin + row + 1;
            auto slope = array(ds[row].data(), seen);
            slope = array(p[row].data(), seen) * (slope - d) * head.scale();
            array(ds[row].data() + seen, end - seen).setZero();
        }
        head.drop(p, begin);
        gemm_tile<T>(transposed(p), d_tile, dv.row_range(0, end), Onto::add);
        gemm_tile<T>(ds, head.k.row_range(0, end), dq.row_range(begin, end), Onto::add);
        gemm_tile<T>(transposed(ds), head.q.row_range(begin, end), dk.row_range(0, end), Onto::add);
    }
}

}  // namespace detail

/// out = softmax(scale · q·kᵀ, causal)·v for each head, scale = 1/√head_size. The L×L weights exist a tile at a time.
/// qkv: [batch·length, 3·heads·head_size] (all q, all k, all v), out: [batch·length, heads·head_size],
/// log_sum_exp: [batch·heads·length].
template <class T>
void causal_attention(const AttentionShape& s, Matrix<const T> qkv, Matrix<T> out, Vector<T> log_sum_exp) {
    parallel_for(s.batch * s.heads, 1, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
            const auto part = [&](Index which) { return detail::head_of(qkv, s, i / s.heads, which, i % s.heads); };
            detail::attention_head_forward<T>({s, i, part(0), part(1), part(2)},
                                              detail::head_of(out, s, i / s.heads, 0, i % s.heads),
                                              {log_sum_exp.data() + i * s.length, s.length});
        }
    });
}

/// dqkv += ∂. Shapes as in causal_attention.
template <class T>
void causal_attention_backward(const AttentionShape& s, Matrix<const T> qkv, Matrix<const T> out,
                               Vector<const T> log_sum_exp, Matrix<const T> d_out, Matrix<T> dqkv) {
    parallel_for(s.batch * s.heads, 1, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
            const Index sequence = i / s.heads, head = i % s.heads;
            const auto part = [&](auto packed, Index which) {
                return detail::head_of(packed, s, sequence, which, head);
            };
            detail::attention_head_backward<T>({s, i, part(qkv, 0), part(qkv, 1), part(qkv, 2)}, part(out, 0),
                                               part(d_out, 0), {log_sum_exp.data() + i * s.length, s.length},
                                               part(dqkv, 0), part(dqkv, 1), part(dqkv, 2));
        }
    });
}

/// The output for one more query, given the keys and values so far (its own included).
/// q: [heads·head_size], keys, values: [seen, heads·head_size], out: [heads·head_size].
template <class T>
void attention_step(Index heads, Vector<const T> q, Matrix<const T> keys, Matrix<const T> values, Vector<T> out) {
    const Index head_size = q.size() / heads;
    const T scale = T(1) / std::sqrt(static_cast<T>(head_size));
    const Scratch<T> memory(keys.rows());
    auto weights = array(memory.data(), keys.rows());
    for (Index head = 0; head < heads; ++head) {
        const Index first = head * head_size, last = first + head_size;
        const auto query = vector(Vector<const T>(q.data() + first, head_size));
        vector(Vector<T>(memory)).noalias() = matrix(keys.col_range(first, last)) * query;
        weights *= scale;
        weights = exponential(weights - weights.template maxCoeff<Eigen::PropagateNaN>());
        weights *= T(1) / weights.sum();
        vector(Vector<T>(out.data() + first, head_size)).noalias() =
            matrix(values.col_range(first, last)).transpose() * vector(Vector<T>(memory));
    }
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
