#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/core/scratch.hpp>
#include <gflow/kernels/eigen_maps.hpp>

#include <algorithm>
#include <cmath>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// x̂ = (x − mean)·rstd of one row, as an expression that is computed where it is used.  x: [n], moments: [3].
template <class T>
auto normalized(Vector<const T> x, Vector<const T> moments) {
    return (array(x) - moments[0] - moments[1]) * moments[2];
}

/// y = x̂ ⊙ weight + bias over each row.  x, y: [rows, n], weight, bias: [n].
/// moments: [rows, 3], written for backward: (m, s, rstd) with mean = m + s. The mean of the deviations from m corrects
/// m, which T rounds by as much as the values differ where the mean is large beside the spread.
template <class T>
void layer_norm(Matrix<const T> x, Vector<const T> weight, Vector<const T> bias, double eps, Matrix<T> y,
                Matrix<T> moments) {
    parallel_rows(x.rows(), 4 * x.cols(), [&](Index row) {
        const auto in = array(x[row]);
        const T mean = in.mean();
        const T correction = (in - mean).mean();
        const T variance = (in - mean - correction).square().mean();
        moments[row][0] = mean;
        moments[row][1] = correction;
        moments[row][2] = T(1) / std::sqrt(variance + static_cast<T>(eps));
        array(y[row]) = normalized<T>(x[row], moments[row]) * array(weight) + array(bias);
    });
}

/// With q = dy ⊙ weight:  dx = rstd (q − mean(q) − x̂ mean(q ⊙ x̂)),  dweight += Σ_rows dy ⊙ x̂,  dbias += Σ_rows dy.
/// x, dy, dx: [rows, n], weight, dweight, dbias: [n], moments: [rows, 3].  dx is added to if `accumulate`. Of dx,
/// dweight and dbias those whose data is null are left out. All in one sweep over the rows. They are cut into at most
/// 64 blocks, whatever the number of threads; each block sums its own part of dweight and dbias, and the parts are
/// added in order.
template <class T>
void layer_norm_backward(Matrix<const T> x, Vector<const T> weight, Matrix<const T> moments, Matrix<const T> dy,
                         Matrix<T> dx, bool accumulate, Vector<T> dweight, Vector<T> dbias) {
    constexpr Index most_blocks = 64, block_cost = 16384;
    const Index n = x.cols();
    if (x.rows() == 0) return;
    const Index block = std::max((x.rows() + most_blocks - 1) / most_blocks, block_cost / n + 1);
    const Index blocks = (x.rows() + block - 1) / block;
    const Scratch<T> scratch(2 * blocks * n);
    const Matrix<T> parts = scratch.rows(2 * blocks, n);
    parallel_for(x.rows(), block, [&](Index begin, Index end) {
        auto weight_part = array(parts[2 * (begin / block)]);
        auto bias_part = array(parts[2 * (begin / block) + 1]);
        weight_part.setZero();
        bias_part.setZero();
        for (Index row = begin; row < end; ++row) {
            const auto x_hat = normalized<T>(x[row], moments[row]);
            const auto q = array(dy[row]) * array(weight);
            if (dx.data() != nullptr) {
                const T mean_q = q.mean(), mean_qx = (q * x_hat).mean();
                const auto change = (q - mean_q - x_hat * mean_qx) * moments[row][2];
                if (accumulate)
                    array(dx[row]) += change;
                else
                    array(dx[row]) = change;
            }
            weight_part += array(dy[row]) * x_hat;
            bias_part += array(dy[row]);
        }
    });
    for (Index i = 0; i < blocks; ++i) {
        if (dweight.data() != nullptr) array(dweight) += array(parts[2 * i]);
        if (dbias.data() != nullptr) array(dbias) += array(parts[2 * i + 1]);
    }
}

#if defined(GFLOW_EXTERN_TEMPLATES)
extern template void layer_norm<float>(Matrix<const float>, Vector<const float>, Vector<const float>, double,
                                       Matrix<float>, Matrix<float>);
extern template void layer_norm<double>(Matrix<const double>, Vector<const double>, Vector<const double>, double,
                                        Matrix<double>, Matrix<double>);
extern template void layer_norm_backward<float>(Matrix<const float>, Vector<const float>, Matrix<const float>,
                                                Matrix<const float>, Matrix<float>, bool, Vector<float>, Vector<float>);
extern template void layer_norm_backward<double>(Matrix<const double>, Vector<const double>, Matrix<const double>,
                                                 Matrix<const double>, Matrix<double>, bool, Vector<double>,
                                                 Vector<double>);
#endif

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
