#pragma once
#include <gflow/config/eigen.hpp>
#include <gflow/config/isa.hpp>
#include <gflow/core/span.hpp>

#include <type_traits>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

namespace detail {
template <class T, class Plain>
using MapTo = std::conditional_t<std::is_const_v<T>, const Plain, Plain>;
}  // namespace detail

/// The elements as an Eigen array, for element-wise formulas.
template <class T>
auto array(Vector<T> x) {
    using Plain = Eigen::Array<std::remove_const_t<T>, 1, Eigen::Dynamic>;
    return Eigen::Map<detail::MapTo<T, Plain>>(x.data(), x.size());
}
template <class T>
auto array(T* data, Index size) {
    return array(Vector<T>(data, size));
}

/// The elements as an Eigen column vector, for dot products and norms.
template <class T>
auto vector(Vector<T> x) {
    using Plain = Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, 1>;
    return Eigen::Map<detail::MapTo<T, Plain>>(x.data(), x.size());
}

/// The rows as an Eigen matrix.
template <class T>
auto matrix(Matrix<T> x) {
    using Plain = Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    return Eigen::Map<detail::MapTo<T, Plain>, Eigen::Unaligned, Eigen::OuterStride<>>(
        x.data(), x.rows(), x.cols(), Eigen::OuterStride<>(x.stride()));
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
