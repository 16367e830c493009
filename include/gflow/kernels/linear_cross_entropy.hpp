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
    Vector<T> peak() const { return {vectors_.data(), tokens_}; }
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

/// logits = W·hᵀ, and the largest of each column; a NaN may be passed over, it shows in the sum.  w: [V, d], h: [n, d],
/// logits: [V, n], peak: [n].
template <class T>
void logits_and_peak(Matrix<const T> w, Matrix<const T> h, Matrix<T> logits, Vector<T> peak) {
    const auto larger = [](Vector<T> a, Vector<const T> b) { array(a) = array(a).max(array(b)); };
    PackedFactor<T> columns(h.cols(), h.rows());
    columns.pack_on_all_threads(transposed(h));
    const Index block = left_block_rows<T>();
    const Index blocks = (w.rows() + block - 1) / block;
    const Scratch<T> memory(blocks * peak.size());
    const Matrix<T> peaks = memory.rows(blocks, peak.size());
    parallel_for(w.rows(), block, [&](Index begin, Index end) {
        const Matrix<T> rows = logits.row_range(begin, end);
        multiply_packed<T>(w.row_range(begin, end), columns, 0, rows, Onto::overwrite);
        const Vector<T> most = peaks[begin / block];
        array(most) = array(rows[0]);
        for (Index row = 1; row < rows.rows(); ++row) larger(most, rows[row]);
    });
    array(peak) = array(peaks[0]);
    for (Index i = 1; i < blocks; ++i) larger(peak, peaks[i]);
}

/// logits ← exp(logits − peak), and the sum of each column.
template <class T>
void exp_and_column_sums(Matrix<T> logits, Vector<const T> peak, Vector<T> sum) {
    array(sum).setZero();
    sum_over_rows<T>(logits.rows(), sum, [&](Index begin, Index end, Vector<T> part) {
        for (Index row = begin; row < end; ++row) {
            array(logits[row]) = exponential(array(logits[row]) - array(peak));
            array(part) += array(logits[row]);
        }
    });
}

/// Σ of the losses of a chunk, lossᵢ = log Σ exp(logitsᵢ) − logitsᵢ[targetᵢ]. With e = exp(logits − their maximum) the
/// logits become G = e − (Σ e) onehot(target), which times factor = scale/Σ e is the gradient of scale·loss: whoever
/// multiplies it by a matrix scales the smaller one.
template <class T, class Id>
double losses_and_gradient(const HeadChunk<T>& chunk, Matrix<const T> w, Vector<const Id> targets,
                           Vector<const Index> positions, T scale) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    const Matrix<T> logits = chunk.logits();
    const Vector<T> peak = chunk.peak(), sum = chunk.sum(), factor = chunk.factor();
    const auto at_target = [&](Index i) -> T& { return logits[targets[positions[i]]][i]; };
    logits_and_peak<T>(w, chunk.h(), logits, peak);
    for (T& value : peak)
        if (value == -infinity) value = 0;  // exp(−inf − 0) is 0, and so are the column and its gradient
    std::vector<T> below(static_cast<std::size_t>(positions.size()));
    for (Index i = 0; i < positions.size(); ++i) below[static_cast<std::size_t>(i)] = at_target(i) - peak[i];
    exp_and_column_sums<T>(logits, peak, sum);
    double total = 0;
    array(factor).setZero();
    for (Index i = 0; i < positions.size(); ++i) {
        total += sum[i] == 0 ? infinity : static_cast<double>(std::log(sum[i]) - below[static_cast<std::size_t>(i)]);
        if (sum[i] != 0) factor[i] = scale / sum[i];
        at_target(i) -= sum[i];
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
    const auto count = static_cast<Index>(counted.size());
    if (grad.dh.data() != nullptr && count < h.rows()) matrix(grad.dh).setZero();
    detail::HeadChunk<T> chunk(std::min(head_chunk, count), w.rows(), w.cols());
    double sum = 0;
    for (Index begin = 0; begin < count; begin += head_chunk) {
        const Vector<const Index> positions(counted.data() + begin, std::min(head_chunk, count - begin));
        chunk.gather(h, positions);
        sum += detail::losses_and_gradient<T, Id>(chunk, w, targets, positions, scale);
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
            const Index n = positions.size();
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
