#pragma once
#include <gflow/kernels/transpose.hpp>
#include <gflow/ops/common.hpp>

namespace gflow {

namespace detail {

/// x seen along two axes a < b: [outer, A, middle, B, inner].
struct TwoAxesView {
    Index outer = 1, size_a = 1, middle = 1, size_b = 1, inner = 1;

    TwoAxesView(const Shape& shape, Index a, Index b) : size_a(shape[a]), size_b(shape[b]) {
        for (Index axis = 0; axis < shape.rank(); ++axis)
            if (axis != a && axis != b) (axis < a ? outer : axis < b ? middle : inner) *= shape[axis];
    }
};

}  // namespace detail

/// Two axes change places; the elements are copied into their new order. Any dtype.
/// @throws index_error for an axis out of range
inline Tensor transpose(const Tensor& x, Index axis_a, Index axis_b) {
    detail::require_defined("transpose", x);
    axis_a = normalize_axis("transpose", axis_a, x.rank());
    axis_b = normalize_axis("transpose", axis_b, x.rank());
    if (axis_a == axis_b) return x;
    const detail::TwoAxesView view(x.shape(), std::min(axis_a, axis_b), std::max(axis_a, axis_b));
    Shape shape = x.shape();
    std::swap(shape[axis_a], shape[axis_b]);
    Tensor y = empty(shape, x.dtype(), x.device());
    visit(x.dtype(), [&]<class T>(T) {
        if constexpr (std::is_arithmetic_v<T>)
            kernels::transpose<T>(x.data<T>(), view.outer, view.size_a, view.middle, view.size_b, view.inner,
                                  y.mutable_data<T>(), false);
        else  // bfloat16 has no addition; its bits move as they are
            kernels::transpose<std::uint16_t>(reinterpret_cast<const std::uint16_t*>(x.raw()), view.outer, view.size_a,
                                              view.middle, view.size_b, view.inner,
                                              reinterpret_cast<std::uint16_t*>(y.mutable_raw()), false);
    });
    // dx = dyᵀ
    return record("transpose", {x}, y, {}, [view](const Saved&, const Tensor& dy, Gradients& d) {
        detail::into(d, 0, [&](Tensor& dx, bool accumulate) {
            visit_floating("transpose", dy.dtype(), [&]<class T>(T) {
                kernels::transpose<T>(dy.data<T>(), view.outer, view.size_b, view.middle, view.size_a, view.inner,
                                      dx.mutable_data<T>(), accumulate);
            });
        });
    });
}

}  // namespace gflow
