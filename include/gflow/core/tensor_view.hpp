#pragma once
#include <gflow/core/span.hpp>
#include <gflow/core/tensor.hpp>

namespace gflow {

/// All elements of x in row-major order.
template <class T>
Vector<const T> read(const Tensor& x) {
    return {x.data<T>(), x.numel()};
}
template <class T>
Vector<T> write(Tensor& x) {
    return {x.mutable_data<T>(), x.numel()};
}

/// x as a matrix whose rows run along the last axis: [..., n] → [numel / n, n]. A scalar is one row of one element.
template <class T>
Matrix<const T> read_rows(const Tensor& x) {
    const Index cols = x.rank() > 0 ? x.shape().back() : 1;
    return {x.data<T>(), cols > 0 ? x.numel() / cols : 0, cols};
}
template <class T>
Matrix<T> write_rows(Tensor& x) {
    const Index cols = x.rank() > 0 ? x.shape().back() : 1;
    return {x.mutable_data<T>(), cols > 0 ? x.numel() / cols : 0, cols};
}

}  // namespace gflow
