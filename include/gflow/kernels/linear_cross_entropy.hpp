#pragma once
#include <gflow/core/scratch.hpp>
#include <gflow/kernels/column_sums.hpp>
#include <gflow/kernels/exp.hpp>
#include <gflow/kernels/gemm.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// Tokens whose logits are held at once: 512 × 30,522 float32 are 64 MB instead of 500.
inline constexpr Index head_chunk = 512;

/// Where linear_cross_entropy writes its gradients; parts without memory are not wanted.
template <class T>
struct HeadGradients {
    Matrix<T> dh;  ///< [tokens, d]
    Matrix<T> dw;  ///< [V, d]
};

namespace detail {

/// The memory of a chunk of tokens. Each token has a column of logits, not a row: so the three products of the head
/// read logits and weight row by row where they lie, and pack nothing of the size of the logits (worth 3 % of a
/// training step). Columns that fill up the last panel belong to tokens of zeros.
template <class T>
class HeadChunk {
public:
    HeadChunk(Index most_tokens, Index classes, Index d)
        : most_(round_up(most_tokens, panel())),
          classes_(classes),
          d_(d),
          logits_(classes * stride(most_)),
          rows_(2 * most_ * d),
          vectors_(3 * most_) {}

    /// Takes the tokens at these positions of h.
    void gather(Matrix<const T> h, Vector<const Index> positions) {
        tokens_ = round_up(positions.size(), panel());
        for (Index i = 0; i < positions.size(); ++i) std::copy_n(h[positions[i]].data(), d_, this->h()[i].data());
        std::fill(this->h()[positions.size()].data(), this->h()[tokens_].data(), T(0));
    }

    Matrix<T> h() const { return {rows_.data(), tokens_, d_}; }                              // [tokens, d]
    Matrix<T> dh_columns() const { return {rows_.data() + most_ * d_, d_, tokens_}; }        // [d, tokens]
    Matrix<T> logits() const { return {logits_.data(), classes_, tokens_, stride(most_)}; }  // [V, tokens]
    Vector<T> reference() const { return {vectors_.data(), tokens_}; }
    Vector<T> sum() const { return {vectors_.data() + most_, tokens_}; }
    Vector<T> factor() const { return {vectors_.data() + 2 * most_, tokens_}; }

private:
    static Index panel() { return PackedFactor<T>::panel_cols(); }
    /// An odd number of cache lines: see PackedFactor::lies_in_panels.
    static Index stride(Index cols) {
        constexpr Index line = 64 / static_cast<Index>(sizeof(T));
        return ((cols + line - 1) / line | 1) * line;
    }

    Index most_, classes_, d_, tokens_ = 0;
    Scratch<T> logits_, rows_, vectors_;
};

/// Calls f(rows of W·hᵀ, the first of them) for each block of rows, on all threads, while the block is in cache.
/// w: [V, d], columns: hᵀ, packed, out: [V, n].
template <class T, class F>
void for_each_block_of_logits(Matrix<const T> w, const PackedFactor<T>& columns, Matrix<T> out, F&& f) {
    parallel_for(w.rows(), left_block_rows<T>(), [&](Index begin, Index end) {
        const Matrix<T> rows = out.row_range(begin, end);
        multiply_packed<T>(w.row_range(begin, end), columns, 0, rows, Onto::overwrite);
        f(rows, begin);
    });
}

/// One row for each block of logits, which the blocks fill independently of each other.
template <class T>
class BlockRows {
public:
    BlockRows(Index classes, Index tokens)
        : rows_((classes + left_block_rows<T>() - 1) / left_block_rows<T>()),
          tokens_(tokens),
          memory_(rows_ * tokens) {}
    Vector<T> of(Index first_class) const { return matrix()[first_class / left_block_rows<T>()]; }
    Matrix<T> matrix() const { return memory_.rows(rows_, tokens_); }

private:
    Index rows_, tokens_;
    Scratch<T> memory_;
};

/// The largest of W·hᵀ for each token, or 0 if all are −∞; a NaN may be passed over.  room: [V, n], overwritten.
template <class T>
void largest_logits(Matrix<const T> w, const PackedFactor<T>& columns, Matrix<T> room, Vector<T> largest) {
    const BlockRows<T> blocks(w.rows(), largest.size());
    const auto largest_of_rows = [](Matrix<const T> x, Vector<T> most) {
        array(most) = array(x[0]);
        for (Index row = 1; row < x.rows(); ++row) array(most) = array(most).max(array(x[row]));
    };
    for_each_block_of_logits(w, columns, room,
                             [&](Matrix<T> rows, Index first) { largest_of_rows(rows, blocks.of(first)); });
    largest_of_rows(blocks.matrix(), largest);
    for (T& value : largest)
        if (value == -std::numeric_limits<T>::infinity()) value = 0;  // exp(−∞ − 0) is 0, as it should be
}

/// e = exp(W·hᵀ − reference) in the place of the logits, the sum of each column, and what the logit of each target is
/// above the reference.  targets: of the first of the n tokens.
template <class T>
void exp_of_logits(Matrix<const T> w, const PackedFactor<T>& columns, const HeadChunk<T>& chunk,
                   Vector<const Index> targets, Vector<double> target_above) {
    const Vector<const T> reference = chunk.reference();
    const BlockRows<T> sums(w.rows(), reference.size());
    for_each_block_of_logits(w, columns, chunk.logits(), [&](Matrix<T> rows, Index first) {
        for (Index i = 0; i < targets.size(); ++i)
            if (const Index row = targets[i] - first; row >= 0 && row < rows.rows())
                target_above[i] = static_cast<double>(rows[row][i]) - static_cast<double>(reference[i]);
        const Vector<T> sum = sums.of(first);
        array(sum).setZero();
        for (Index row = 0; row < rows.rows(); ++row) {
            array(rows[row]) = exponential(array(rows[row]) - array(reference));
            array(sum) += array(rows[row]);
        }
    });
    array(chunk.sum()).setZero();
    column_sums<T>(sums.matrix(), chunk.sum());
}

/// e, its sums and the targets as above, for a reference that is found on the way. Any logit of a token near the
/// largest one will do: the digits of e and of its sum are those of the largest, only the exponents differ. The largest
/// of every so many logits is one, nearly always, and lets the exponential follow the product while a block is in cache
/// (worth 2 % of a training step). Where a sum nears the end of the range, the largest of all is found first.
template <class T>
void exp_of_logits_near_largest(Matrix<const T> w, const PackedFactor<T>& columns, const HeadChunk<T>& chunk,
                                Vector<const Index> targets, Vector<double> target_above) {
    constexpr Index sample = 64;
    constexpr double most = std::is_same_v<T, float> ? 1e30 : 1e300;
    const Index step = std::max<Index>(1, w.rows() / sample);
    const Matrix<const T> some(w.data(), w.rows() / step, w.cols(), step * w.stride());
    largest_logits<T>(some, columns, chunk.logits().row_range(0, some.rows()), chunk.reference());
    exp_of_logits<T>(w, columns, chunk, targets, target_above);
    const T* sum = chunk.sum().data();
    if (std::all_of(sum, sum + targets.size(), [](T value) { return value < most; })) return;
    largest_logits<T>(w, columns, chunk.logits(), chunk.reference());
    exp_of_logits<T>(w, columns, chunk, targets, target_above);
}

/// Σ of the losses of a chunk, lossᵢ = log Σ exp(logitsᵢ) − logitsᵢ[targetᵢ]. With e = exp(logits − a reference) the
/// logits become G = e − (Σ e) onehot(target), which times factor = scale/Σ e is the gradient of scale·loss: whoever
/// multiplies it by a matrix scales the smaller one.  targets: one for each token of the chunk.
template <class T>
double losses_and_gradient(const HeadChunk<T>& chunk, Matrix<const T> w, Vector<const Index> targets, T scale) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    PackedFactor<T> columns(w.cols(), chunk.h().rows());
    columns.pack_on_all_threads(transposed(chunk.h()));
    const Scratch<double> target_above(targets.size());
    exp_of_logits_near_largest<T>(w, columns, chunk, targets, target_above);
    const Vector<T> sum = chunk.sum(), factor = chunk.factor();
    double total = 0;
    array(factor).setZero();
    for (Index i = 0; i < targets.size(); ++i) {
        total += sum[i] == 0 ? infinity : std::log(static_cast<double>(sum[i])) - target_above.data()[i];
        if (sum[i] != 0) factor[i] = scale / sum[i];
        chunk.logits()[targets[i]][i] -= sum[i];
    }
    return total;
}

template <class Id>
std::vector<Index> positions_that_count(Vector<const Id> targets, Index ignore_index) {
    std::vector<Index> positions;
    for (Index i = 0; i < targets.size(); ++i)
        if (targets[i] != ignore_index) positions.push_back(i);
    return positions;
}

}  // namespace detail

/// Σ over the tokens that count of lossᵢ = log Σ exp(W·hᵢ) − (W·hᵢ)[targetᵢ], and the gradients of scale·Σ loss. A
/// chunk of tokens at a time, the gradient of the logits in their place: three matrix products in all, and no logits
/// left behind. Tokens whose target is ignored cost nothing and get no gradient; where logits are −inf throughout the
/// loss is inf.  h: [tokens, d], w: [V, d], targets: [tokens] in 0 … V−1 or ignore_index.
template <class T, class Id>
double linear_cross_entropy(Matrix<const T> h, Matrix<const T> w, Vector<const Id> targets, Index ignore_index, T scale,
                            const HeadGradients<T>& grad) {
    const std::vector<Index> counted = detail::positions_that_count(targets, ignore_index);
    std::vector<Index> target_of(counted.size());
    std::transform(counted.begin(), counted.end(), target_of.begin(), [&](Index i) { return Index(targets[i]); });
    const auto count = static_cast<Index>(counted.size());
    if (grad.dh.data() != nullptr && count < h.rows()) matrix(grad.dh).setZero();
    detail::HeadChunk<T> chunk(std::min(head_chunk, count), w.rows(), w.cols());
    double sum = 0;
    for (Index begin = 0; begin < count; begin += head_chunk) {
        const Index n = std::min(head_chunk, count - begin);
        const Vector<const Index> positions(counted.data() + begin, n);
        chunk.gather(h, positions);
        sum += detail::losses_and_gradient<T>(chunk, w, {target_of.data() + begin, n}, scale);
        const Vector<const T> factor = chunk.factor();
        // With F = diag(factor):  dhᵀ = Wᵀ·G·F,  dW = G·(F·h)
        if (grad.dh.data() != nullptr) {
            const Matrix<T> dh = chunk.dh_columns();
            gemm<T>(transposed(w), chunk.logits(), dh);
            parallel_rows(positions.size(), 16 * w.cols(), [&](Index i) {
                const Vector<T> row = grad.dh[positions[i]];
                for (Index j = 0; j < row.size(); ++j) row[j] = factor[i] * dh[j][i];
            });
        }
        if (grad.dw.data() != nullptr) {
            // Without the tokens of zeros: their logits are NaN where the weight is infinite.
            const Matrix<T> scaled = chunk.h().row_range(0, n);
            for (Index i = 0; i < n; ++i) array(scaled[i]) *= factor[i];
            gemm<T>(chunk.logits().col_range(0, n), scaled, grad.dw, begin == 0 ? Onto::overwrite : Onto::add);
        }
    }
    return sum;
}

#if defined(GFLOW_EXTERN_TEMPLATES)
#define GFLOW_LINEAR_CROSS_ENTROPY(T, Id)                                                                            \
    extern template double linear_cross_entropy<T, Id>(Matrix<const T>, Matrix<const T>, Vector<const Id>, Index, T, \
                                                       const HeadGradients<T>&);
GFLOW_LINEAR_CROSS_ENTROPY(float, std::int32_t)
GFLOW_LINEAR_CROSS_ENTROPY(float, std::int64_t)
GFLOW_LINEAR_CROSS_ENTROPY(double, std::int32_t)
GFLOW_LINEAR_CROSS_ENTROPY(double, std::int64_t)
#undef GFLOW_LINEAR_CROSS_ENTROPY
#endif

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
