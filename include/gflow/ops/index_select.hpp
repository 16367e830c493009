#pragma once
#include <gflow/kernels/index_select.hpp>
#include <gflow/ops/check_ids.hpp>
#include <gflow/ops/common.hpp>

namespace gflow {

/// The elements that ids name along one axis: y[…, k, …] = x[…, ids[k], …]. Any dtype.
/// @param ids  [m], int32 or int64, each in 0 … size−1; an id may come several times
/// @return     x's shape, with m in place of the axis
/// @throws     index_error naming the first id out of range and its position;  shape_error, dtype_error
inline Tensor index_select(const Tensor& x, Index axis, const Tensor& ids) {
    detail::require_defined("index_select", x);
    detail::require_defined("index_select", ids);
    require(ids.rank() == 1, "index_select", "ids must be a row [m]", {{"ids", ids}});
    axis = normalize_axis("index_select", axis, x.rank());
    const detail::AxisView view(x.shape(), axis);
    detail::check_ids("index_select", ids, view.n);
    Shape shape = x.shape();
    shape[axis] = ids.numel();
    Tensor y = empty(shape, x.dtype(), x.device());
    visit(x.dtype(), [&]<class T>(T) {
        visit_ids("index_select", ids.dtype(), [&]<class Id>(Id) {
            kernels::index_select<T, Id>(x.data<T>(), read<Id>(ids), view.outer, view.n, view.inner,
                                         y.mutable_data<T>());
        });
    });
    // dx[…, ids[k], …] += dy[…, k, …]
    return record("index_select", {x}, y, {ids}, [view](const Saved& saved, const Tensor& dy, Gradients& d) {
        Tensor& dx = d[0];
        visit_floating("index_select", dy.dtype(), [&]<class T>(T) {
            visit_ids("index_select", saved[0].dtype(), [&]<class Id>(Id) {
                kernels::index_select_backward<T, Id>(dy.data<T>(), read<Id>(saved[0]), view.outer, view.n, view.inner,
                                                      dx.mutable_data<T>());
            });
        });
    });
}

}  // namespace gflow
