#pragma once
#include <gflow/kernels/reduce.hpp>
#include <gflow/ops/common.hpp>

namespace gflow::detail {

/// x summed over the axes along which `shape` was stretched to x's shape: the backward of broadcasting.
/// Outside the graph; x itself where the shapes are equal.
inline Tensor sum_to(const Tensor& x, const Shape& shape) {
    if (x.shape() == shape) return x;
    const auto stretched = [&](Index axis) {
        const Index own = axis - (x.rank() - shape.rank());
        return own < 0 || (shape[own] == 1 && x.shape()[axis] != 1);
    };
    Tensor y = x;
    for (Index last = x.rank() - 1; last >= 0; --last) {
        if (!stretched(last)) continue;
        Index first = last;  // neighbouring axes are summed in one pass
        while (first > 0 && stretched(first - 1)) --first;
        Shape rest = y.shape();
        Index outer = 1, n = 1, inner = 1;
        for (Index axis = 0; axis < x.rank(); ++axis) {
            (axis < first ? outer : axis <= last ? n : inner) *= rest[axis];
            if (axis >= first && axis <= last) rest[axis] = 1;
        }
        Tensor sums = empty(rest, x.dtype(), x.device());
        visit_floating("sum_to", x.dtype(),
                       [&]<class T>(T) { kernels::sum<T>(y.data<T>(), outer, n, inner, sums.mutable_data<T>()); });
        y = sums;
        last = first;
    }
    return y.viewed_as(shape);
}

}  // namespace gflow::detail
