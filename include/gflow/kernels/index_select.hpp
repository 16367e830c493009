#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/core/span.hpp>

#include <algorithm>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// y[o, k, j] = x[o, ids[k], j].  x: [outer, n, inner], y: [outer, ids, inner]; ids in 0 … n−1.
template <class T, class Id>
void index_select(const T* x, Vector<const Id> ids, Index outer, Index n, Index inner, T* y) {
    parallel_rows(outer * ids.size(), inner, [&](Index row) {
        const Index o = row / ids.size(), k = row % ids.size();
        std::copy_n(x + (o * n + static_cast<Index>(ids[k])) * inner, inner, y + row * inner);
    });
}

/// dx[o, ids[k], j] += dy[o, k, j]. An id may come several times: each thread has its own part of the columns, and
/// takes the ids in their order.
template <class T, class Id>
void index_select_backward(const T* dy, Vector<const Id> ids, Index outer, Index n, Index inner, T* dx) {
    constexpr Index width = 64;
    const Index widths = (inner + width - 1) / width;
    parallel_rows(outer * widths, ids.size() * std::min(inner, width), [&](Index item) {
        const Index o = item / widths, begin = item % widths * width, end = std::min(inner, begin + width);
        for (Index k = 0; k < ids.size(); ++k) {
            const T* from = dy + (o * ids.size() + k) * inner;
            T* to = dx + (o * n + static_cast<Index>(ids[k])) * inner;
            for (Index j = begin; j < end; ++j) to[j] += from[j];
        }
    });
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
