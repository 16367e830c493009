#pragma once
#include <gflow/kernels/softmax.hpp>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// lossᵢ = log Σ exp(logitsᵢ) − logitsᵢ[targetᵢ]; 0 where the target is ignored, inf for a row that is −inf throughout.
/// logits: [rows, V], targets: [rows] in 0 … V−1 or ignore_index, loss: [rows].
/// lse: [rows, 2], for backward: peak and log_sum (see LogSumExp).
template <class T, class Id>
void cross_entropy(Matrix<const T> logits, Vector<const Id> targets, Index ignore_index, Matrix<T> lse,
                   Vector<T> loss) {
    parallel_rows(logits.rows(), 4 * logits.cols(), [&](Index row) {
        lse[row][0] = lse[row][1] = loss[row] = 0;
        if (targets[row] == ignore_index) return;
        const Vector<const T> x = logits[row];
        const LogSumExp<T> total = log_sum_exp(x);
        lse[row][0] = total.peak;
        lse[row][1] = total.log_sum;
        loss[row] = total.peak == -infinity<T> ? infinity<T> : total.log_sum + (total.peak - x[targets[row]]);
    });
}

/// dlogits = scale (softmax(logits) − onehot(targets)) over each row; 0 where the target is ignored or the row is −inf
/// throughout.  logits, dlogits: [rows, V], targets: [rows], lse: [rows, 2].  dlogits is added to if `accumulate`.
template <class T, class Id>
void cross_entropy_backward(Matrix<const T> logits, Vector<const Id> targets, Index ignore_index, Matrix<const T> lse,
                            T scale, Matrix<T> dlogits, bool accumulate) {
    parallel_rows(logits.rows(), 3 * logits.cols(), [&](Index row) {
        auto out = array(dlogits[row]);
        if (targets[row] == ignore_index || lse[row][0] == -infinity<T>) {
            if (!accumulate) out.setZero();
            return;
        }
        const auto change = exponential((array(logits[row]) - lse[row][0]) - lse[row][1]) * scale;
        if (accumulate)
            out += change;
        else
            out = change;
        out[targets[row]] -= scale;
    });
}

#if defined(GFLOW_EXTERN_TEMPLATES)
#define GFLOW_CROSS_ENTROPY(T, Id)                                                                                   \
    extern template void cross_entropy<T, Id>(Matrix<const T>, Vector<const Id>, Index, Matrix<T>, Vector<T>);       \
    extern template void cross_entropy_backward<T, Id>(Matrix<const T>, Vector<const Id>, Index, Matrix<const T>, T, \
                                                       Matrix<T>, bool);
GFLOW_CROSS_ENTROPY(float, std::int32_t)
GFLOW_CROSS_ENTROPY(float, std::int64_t)
GFLOW_CROSS_ENTROPY(double, std::int32_t)
GFLOW_CROSS_ENTROPY(double, std::int64_t)
#undef GFLOW_CROSS_ENTROPY
#endif

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
