#pragma once
#include <gflow/kernels/copy.hpp>
#include <gflow/ops/common.hpp>

namespace gflow {

/// Tensors one after the other along one axis. Any dtype, the same for all.
/// @throws shape_error if there is none, or another axis differs;  dtype_error, index_error
inline Tensor concat(const std::vector<Tensor>& parts, Index axis) {
    require(!parts.empty(), "concat", "at least one tensor is needed");
    for (const Tensor& part : parts) detail::require_defined("concat", part);
    const Tensor& first = parts.front();
    axis = normalize_axis("concat", axis, first.rank());
    Shape shape = first.shape();
    shape[axis] = 0;
    for (const Tensor& part : parts) {
        Shape others = part.shape();
        if (others.rank() == shape.rank()) others[axis] = shape[axis];
        require(others == shape, "concat", "all axes but one must be equal", {{"first", first}, {"other", part}});
        require<dtype_error>(part.dtype() == first.dtype(), "concat", "dtypes must be equal",
                             {{"first", first}, {"other", part}});
        shape[axis] += part.shape()[axis];
    }
    const detail::AxisView view(shape, axis);
    Tensor y = empty(shape, first.dtype(), first.device());
    std::vector<Index> widths;  // of each part, in a row of y
    for (const Tensor& part : parts) widths.push_back(part.shape()[axis] * view.inner);
    const Index stride = view.n * view.inner;
    visit(y.dtype(), [&]<class T>(T) {
        const Matrix<T> rows(y.mutable_data<T>(), view.outer, stride);
        Index begin = 0;
        for (std::size_t i = 0; i < parts.size(); begin += widths[i++])
            kernels::copy<T>({parts[i].data<T>(), view.outer, widths[i]}, rows.col_range(begin, begin + widths[i]));
    });
    // each part gets its own piece of dy
    return record("concat", parts, y, {}, [view, widths, stride](const Saved&, const Tensor& dy, Gradients& d) {
        visit_floating("concat", dy.dtype(), [&]<class T>(T) {
            const Matrix<const T> rows(dy.data<T>(), view.outer, stride);
            Index begin = 0;
            for (std::size_t i = 0; i < widths.size(); begin += widths[i++])
                detail::into(d, i, [&](Tensor& dx, bool accumulate) {
                    const Matrix<const T> piece = rows.col_range(begin, begin + widths[i]);
                    const Matrix<T> target(dx.mutable_data<T>(), view.outer, widths[i]);
                    accumulate ? kernels::add<T>(piece, target) : kernels::copy<T>(piece, target);
                });
        });
    });
}

}  // namespace gflow
