#pragma once
#include <gflow/kernels/copy.hpp>
#include <gflow/ops/common.hpp>
#include <gflow/ops/reshape.hpp>

namespace gflow {

namespace detail {

/// A position that may count from the end, as 0 … size.
inline Index position_from_start(Index position, Index size) { return position < 0 ? position + size : position; }

}  // namespace detail

/// Elements begin … end−1 along one axis; negative positions count from the end. Any dtype.
/// A view where all axes before `axis` have size 1, else a copy.
/// @throws index_error unless 0 ≤ begin ≤ end ≤ size
inline Tensor slice(const Tensor& x, Index axis, Index begin, Index end) {
    detail::require_defined("slice", x);
    axis = normalize_axis("slice", axis, x.rank());
    const detail::AxisView view(x.shape(), axis);
    const Index first = detail::position_from_start(begin, view.n), last = detail::position_from_start(end, view.n);
    require<index_error>(0 <= first && first <= last && last <= view.n, "slice",
                         "begin and end must be in order and within the axis",
                         {{"x", x}, {"axis", axis}, {"begin", begin}, {"end", end}});
    Shape shape = x.shape();
    shape[axis] = last - first;
    const Index stride = view.n * view.inner, skip = first * view.inner, cols = (last - first) * view.inner;
    Tensor y;
    if (view.outer == 1) {
        y = x.viewed_as(shape, static_cast<std::size_t>(skip) * size_of(x.dtype()));
    } else {
        y = empty(shape, x.dtype(), x.device());
        visit(x.dtype(), [&]<class T>(T) {
            kernels::copy<T>({x.data<T>() + skip, view.outer, cols, stride}, {y.mutable_data<T>(), view.outer, cols});
        });
    }
    const Index outer = view.outer;
    // dx[…, begin … end−1, …] += dy
    return record("slice", {x}, y, {}, [=](const Saved&, const Tensor& dy, Gradients& d) {
        Tensor& dx = d[0];
        visit_floating("slice", dy.dtype(), [&]<class T>(T) {
            kernels::add<T>({dy.data<T>(), outer, cols}, {dx.mutable_data<T>() + skip, outer, cols, stride});
        });
    });
}

/// Element i along one axis, which goes away; a negative i counts from the end. Any dtype.
/// A view where all axes before `axis` have size 1, else a copy.
/// @throws index_error if there is no such element
inline Tensor select(const Tensor& x, Index axis, Index i) {
    detail::require_defined("select", x);
    axis = normalize_axis("select", axis, x.rank());
    const Index position = detail::position_from_start(i, x.shape()[axis]);
    require<index_error>(0 <= position && position < x.shape()[axis], "select", "the element must be within the axis",
                         {{"x", x}, {"axis", axis}, {"i", i}});
    Shape shape;
    for (Index other = 0; other < x.rank(); ++other)
        if (other != axis) shape.push_back(x.shape()[other]);
    return reshape(slice(x, axis, position, position + 1), shape);
}

}  // namespace gflow
