#pragma once
#include <gflow/kernels/eigen_maps.hpp>
#include <gflow/kernels/factor.hpp>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// C = A·B, or C += A·B, on one thread, by Eigen: the portable reference, and the choice for small products.
template <class T>
void eigen_gemm(Factor<T> a, Factor<T> b, Matrix<T> c, Onto onto) {
    auto out = matrix(c);
    const auto multiply = [&](const auto& left, const auto& right) {
        if (onto == Onto::add)
            out.noalias() += left * right;
        else
            out.noalias() = left * right;
    };
    const auto left = matrix(a.stored);
    const auto right = matrix(b.stored);
    if (!a.transposed && !b.transposed) multiply(left, right);
    if (!a.transposed && b.transposed) multiply(left, right.transpose());
    if (a.transposed && !b.transposed) multiply(left.transpose(), right);
    if (a.transposed && b.transposed) multiply(left.transpose(), right.transpose());
}

#if defined(GFLOW_EXTERN_TEMPLATES)
extern template void eigen_gemm<float>(Factor<float>, Factor<float>, Matrix<float>, Onto);
extern template void eigen_gemm<double>(Factor<double>, Factor<double>, Matrix<double>, Onto);
#endif

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
