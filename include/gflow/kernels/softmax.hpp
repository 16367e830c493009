#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/kernels/eigen_maps.hpp>
#include <gflow/kernels/exp.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

template <class T>
inline constexpr T infinity = std::numeric_limits<T>::infinity();

/// The largest element; NaN if there is one.  x: [n], n ≥ 1.
template <class T>
T max_of(Vector<const T> x) {
    return array(x).template maxCoeff<Eigen::PropagateNaN>();
}

/// y = exp(x − peak), and the sum of that.  x, y: [n]; y may be x. Piece by piece, so that long rows are summed while
/// in cache, and sums stay exact.
template <class T>
T exp_and_sum(Vector<const T> x, T peak, Vector<T> y) {
    constexpr Index piece = 1024;
    T sum = 0;
    for (Index begin = 0; begin < x.size(); begin += piece) {
        const Index count = std::min(piece, x.size() - begin);
        auto out = array(y.data() + begin, count);
        out = exponential(array(x.data() + begin, count) - peak);
        sum += out.sum();
    }
    return sum;
}

/// y = softmax(x).  x, y: [n]; y may be x. If x is −inf throughout, zeros.
template <class T>
void softmax_row(Vector<const T> x, Vector<T> y) {
    const T peak = max_of(x);
    if (peak == -infinity<T>) return array(y).setZero(), void();
    const T sum = exp_and_sum(x, peak, y);
    array(y) *= T(1) / sum;
}

/// y = softmax(x) over each row.  x, y: [rows, n]. A row that is −inf throughout gives zeros.
template <class T>
void softmax(Matrix<const T> x, Matrix<T> y) {
    parallel_rows(x.rows(), 4 * x.cols(), [&](Index row) { softmax_row(x[row], y[row]); });
}

/// dx = y ⊙ (dy − ⟨y, dy⟩) over each row.  y, dy, dx: [rows, n].  dx is added to if `accumulate`.
template <class T>
void softmax_backward(Matrix<const T> y, Matrix<const T> dy, Matrix<T> dx, bool accumulate) {
    parallel_rows(y.rows(), 3 * y.cols(), [&](Index row) {
        const T along = (array(y[row]) * array(dy[row])).sum();
        const auto change = array(y[row]) * (array(dy[row]) - along);
        if (accumulate)
            array(dx[row]) += change;
        else
            array(dx[row]) = change;
    });
}

/// log Σ exp(x) = peak + log_sum, in two parts: beside a large peak their sum would lose the digits of log_sum.
template <class T>
struct LogSumExp {
    T peak, log_sum;
};

/// log Σ exp(x).  x: [n], n ≥ 1. The peak is −inf if x is −inf throughout.
template <class T>
LogSumExp<T> log_sum_exp(Vector<const T> x) {
    constexpr Index piece = 1024;
    const T peak = max_of(x);
    if (peak == -infinity<T>) return {peak, 0};
    T sum = 0;
    for (Index begin = 0; begin < x.size(); begin += piece)
        sum += exponential(array(x.data() + begin, std::min(piece, x.size() - begin)) - peak).sum();
    return {peak, std::log(sum)};
}

/// y = x − log Σ exp(x) over each row.  x, y: [rows, n]. A row that is −inf throughout stays so.
template <class T>
void log_softmax(Matrix<const T> x, Matrix<T> y) {
    parallel_rows(x.rows(), 4 * x.cols(), [&](Index row) {
        const LogSumExp<T> total = log_sum_exp(x[row]);
        if (total.peak == -infinity<T>)
            array(y[row]) = array(x[row]);
        else
            array(y[row]) = (array(x[row]) - total.peak) - total.log_sum;
    });
}

/// dx = dy − exp(y) Σ dy over each row; 0 where y is −inf throughout.  y, dy, dx: [rows, n].
/// dx is added to if `accumulate`.
template <class T>
void log_softmax_backward(Matrix<const T> y, Matrix<const T> dy, Matrix<T> dx, bool accumulate) {
    parallel_rows(y.rows(), 4 * y.cols(), [&](Index row) {
        auto out = array(dx[row]);
        if (max_of(y[row]) == -infinity<T>) {
            if (!accumulate) out.setZero();
            return;
        }
        const T total = array(dy[row]).sum();
        const auto change = array(dy[row]) - exponential(array(y[row])) * total;
        if (accumulate)
            out += change;
        else
            out = change;
    });
}

#if defined(GFLOW_EXTERN_TEMPLATES)
extern template void softmax<float>(Matrix<const float>, Matrix<float>);
extern template void softmax<double>(Matrix<const double>, Matrix<double>);
extern template void softmax_backward<float>(Matrix<const float>, Matrix<const float>, Matrix<float>, bool);
extern template void softmax_backward<double>(Matrix<const double>, Matrix<const double>, Matrix<double>, bool);
extern template void log_softmax<float>(Matrix<const float>, Matrix<float>);
extern template void log_softmax<double>(Matrix<const double>, Matrix<double>);
extern template void log_softmax_backward<float>(Matrix<const float>, Matrix<const float>, Matrix<float>, bool);
extern template void log_softmax_backward<double>(Matrix<const double>, Matrix<const double>, Matrix<double>, bool);
#endif

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
