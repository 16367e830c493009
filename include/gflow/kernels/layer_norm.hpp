#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/core/scratch.hpp>
#include <gflow/kernels/eigen_maps.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// x̂ = (x − mean)·rstd of one row, as an expression that is computed where it is used.  x: [n], moments: [3].
template <class T>
auto normalized(Vector<const T> x, Vector<const T> moments) {
    return (array(x) - moments[0] - moments[1]) * moments[2];
}

/// y = x̂ ⊙ weight + bias of one row.  x, y, weight, bias: [n]; y may be x.
/// moments: [3], written for backward: (m, s, rstd) with mean = m + s. The mean of the deviations from m corrects m,
/// which T rounds by as much as the values differ where the mean is large beside the spread.
template <class T>
void layer_norm_row(Vector<const T> x, Vector<const T> weight, Vector<const T> bias, double eps, Vector<T> y,
                    Vector<T> moments) {
    const auto in = array(x);
    const T mean = in.mean();
    const T correction = (in - mean).mean();
    const T variance = (in - mean - correction).square().mean();
    moments[0] = mean;
    moments[1] = correction;
    moments[2] = T(1) / std::sqrt(variance + static_cast<T>(eps));
    array(y) = normalized<T>(x, moments) * array(weight) + array(bias);
}

/// layer_norm_row of each row.  x, y: [rows, n], weight, bias: [n], moments: [rows, 3].
template <class T>
void layer_norm(Matrix<const T> x, Vector<const T> weight, Vector<const T> bias, double eps, Matrix<T> y,
                Matrix<T> moments) {
    parallel_rows(x.rows(), 4 * x.cols(),
                  [&](Index row) { layer_norm_row<T>(x[row], weight, bias, eps, y[row], moments[row]); });
}

/// sum = x + update, and layer_norm_row of each of its rows while it is in cache.  x, update, sum, y: [rows, n],
/// weight, bias: [n], moments: [rows, 3]; y may be sum.
template <class T>
void add_layer_norm(Matrix<const T> x, Matrix<const T> update, Vector<const T> weight, Vector<const T> bias, double eps,
                    Matrix<T> sum, Matrix<T> y, Matrix<T> moments) {
    parallel_rows(x.rows(), 5 * x.cols(), [&](Index row) {
        array(sum[row]) = array(x[row]) + array(update[row]);
        layer_norm_row<T>(sum[row], weight, bias, eps, y[row], moments[row]);
    });
}

/// Where layer_norm_backward writes the gradient of one of the summands of x; one without memory is not wanted.
template <class T>
struct SummandGradient {
    Matrix<T> rows{nullptr, 0, 0};
    bool accumulate = false;  ///< added to what is there
};

/// With q = dy ⊙ weight:  dx = rstd (q − mean(q) − x̂ mean(q ⊙ x̂)),  dweight += Σ_rows dy ⊙ x̂,  dbias += Σ_rows dy.
/// x, dy: [rows, n], weight, dweight, dbias: [n], moments: [rows, 3].  dx goes to the summands of x, one after the
/// other; they may be the same. dweight and dbias are left out where their data is null. All in one sweep over the
/// rows. They are cut into at most 64 blocks, whatever the number of threads; each block sums its own part of dweight
/// and dbias, and the parts are added in order.
template <class T>
void layer_norm_backward(Matrix<const T> x, Vector<const T> weight, Matrix<const T> moments, Matrix<const T> dy,
                         const std::array<SummandGradient<T>, 2>& summands, Vector<T> dweight, Vector<T> dbias) {
    constexpr Index most_blocks = 64, block_cost = 16384;
    const Index n = x.cols();
    if (x.rows() == 0) return;
    const Index block = std::max((x.rows() + most_blocks - 1) / most_blocks, block_cost / n + 1);
    const Index blocks = (x.rows() + block - 1) / block;
    const Scratch<T> scratch(3 * blocks * n);
    const Matrix<T> parts = scratch.rows(3 * blocks, n);
    parallel_for(x.rows(), block, [&](Index begin, Index end) {
        auto weight_part = array(parts[3 * (begin / block)]);
        auto bias_part = array(parts[3 * (begin / block) + 1]);
        auto change = array(parts[3 * (begin / block) + 2]);
        weight_part.setZero();
        bias_part.setZero();
        for (Index row = begin; row < end; ++row) {
            const auto x_hat = normalized<T>(x[row], moments[row]);
            const auto q = array(dy[row]) * array(weight);
            const T mean_q = q.mean(), mean_qx = (q * x_hat).mean();
            change = (q - mean_q - x_hat * mean_qx) * moments[row][2];
            for (const SummandGradient<T>& summand : summands) {
                if (summand.rows.data() == nullptr) continue;
                if (summand.accumulate)
                    array(summand.rows[row]) += change;
                else
                    array(summand.rows[row]) = change;
            }
            weight_part += array(dy[row]) * x_hat;
            bias_part += array(dy[row]);
        }
    });
    for (Index i = 0; i < blocks; ++i) {
        if (dweight.data() != nullptr) array(dweight) += array(parts[3 * i]);
        if (dbias.data() != nullptr) array(dbias) += array(parts[3 * i + 1]);
    }
}

#if defined(GFLOW_EXTERN_TEMPLATES)
#define GFLOW_LAYER_NORM(T)                                                                                            \
    extern template void layer_norm<T>(Matrix<const T>, Vector<const T>, Vector<const T>, double, Matrix<T>,           \
                                       Matrix<T>);                                                                     \
    extern template void add_layer_norm<T>(Matrix<const T>, Matrix<const T>, Vector<const T>, Vector<const T>, double, \
                                           Matrix<T>, Matrix<T>, Matrix<T>);                                           \
    extern template void layer_norm_backward<T>(Matrix<const T>, Vector<const T>, Matrix<const T>, Matrix<const T>,    \
                                                const std::array<SummandGradient<T>, 2>&, Vector<T>, Vector<T>);
GFLOW_LAYER_NORM(float)
GFLOW_LAYER_NORM(double)
#undef GFLOW_LAYER_NORM
#endif

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
