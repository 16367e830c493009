#pragma once
#include <gflow/config/eigen.hpp>
#include <gflow/core/create.hpp>

namespace gflow {

/// A row-major Eigen matrix of elements T.
template <class T>
using EigenMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// x as an Eigen matrix, without a copy: [..., n] → numel / n rows of n. Valid as long as x's memory is.
/// @throws dtype_error if the elements are not of type T
template <class T>
Eigen::Map<const EigenMatrix<T>> eigen_view(const Tensor& x) {
    const Index cols = x.rank() > 0 ? x.shape().back() : 1;
    return {x.data<T>(), cols > 0 ? x.numel() / cols : 0, cols};
}
/// The same, to write.
template <class T>
Eigen::Map<EigenMatrix<T>> mutable_eigen_view(Tensor& x) {
    const Index cols = x.rank() > 0 ? x.shape().back() : 1;
    return {x.mutable_data<T>(), cols > 0 ? x.numel() / cols : 0, cols};
}

/// A tensor [rows, cols] that shares a row-major matrix's memory; the matrix must outlive it.
template <class T>
Tensor from_eigen(EigenMatrix<T>& matrix) {
    return wrap(matrix.data(), {matrix.rows(), matrix.cols()});
}
/// A tensor [rows, cols] that copies any other Eigen expression (column-major ones are transposed in memory).
template <class Derived>
Tensor from_eigen(const Eigen::DenseBase<Derived>& matrix) {
    using T = typename Derived::Scalar;
    Tensor x = empty({matrix.rows(), matrix.cols()}, dtype_of<T>);
    mutable_eigen_view<T>(x) = matrix.derived();
    return x;
}

}  // namespace gflow
