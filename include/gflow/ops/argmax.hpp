#pragma once
#include <gflow/kernels/reduce.hpp>
#include <gflow/ops/common.hpp>

namespace gflow {

/// Where x is largest along an axis, as int64; of several the first, and NaN counts as largest. It has no gradient.
/// [.., n, ..] → [.., ..], the axis removed
/// @throws index_error for an axis out of range;  shape_error for an axis of no elements;  dtype_error for integers
inline Tensor argmax(const Tensor& x, Index axis = -1) {
    detail::require_floating("argmax", x);
    axis = normalize_axis("argmax", axis, x.rank());
    const detail::AxisView view(x.shape(), axis);
    require(view.n >= 1, "argmax", "the axis needs at least one element", {{"x", x}, {"axis", axis}});
    Shape shape;
    for (Index i = 0; i < x.rank(); ++i)
        if (i != axis) shape.push_back(x.shape()[i]);
    Tensor largest = empty(shape, x.dtype(), x.device()), y = empty(shape, int64, x.device());
    visit_floating("argmax", x.dtype(), [&]<class T>(T) {
        kernels::max<T>(x.data<T>(), view.outer, view.n, view.inner, largest.mutable_data<T>(),
                        y.mutable_data<Index>());
    });
    return y;
}

}  // namespace gflow
