#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>

#include <algorithm>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// y[o, b, m, a, :] = x[o, a, m, b, :], or is added to.  x: [outer, A, middle, B, inner].
/// Square by square, through a small buffer: each side is read or written along its own rows, a whole cache line at a
/// time. (Rows a power of two apart share one cache set; without the buffer a 4096 × 1024 matrix takes twice as
/// long.)
template <class T>
void transpose(const T* x, Index outer, Index size_a, Index middle, Index size_b, Index inner, T* y, bool accumulate) {
    constexpr Index block = 32;
    const Index blocks = (size_a + block - 1) / block;
    const Index step_xa = middle * size_b * inner, step_yb = middle * size_a * inner;
    const auto store = [accumulate](T* to, const T* from, Index n) {
        if (accumulate)
            for (Index j = 0; j < n; ++j) to[j] = static_cast<T>(to[j] + from[j]);
        else
            std::copy_n(from, n, to);
    };
    parallel_rows(outer * middle * blocks, block * size_b * inner, [&](Index item) {
        const Index a0 = item % blocks * block, a1 = std::min(size_a, a0 + block);
        const Index m = item / blocks % middle, o = item / blocks / middle;
        const T* from = x + o * size_a * step_xa + m * size_b * inner;
        T* to = y + o * size_b * step_yb + m * size_a * inner;
        for (Index b0 = 0; b0 < size_b; b0 += block) {
            const Index b1 = std::min(size_b, b0 + block);
            if (inner > 1) {
                for (Index b = b0; b < b1; ++b)
                    for (Index a = a0; a < a1; ++a)
                        store(to + b * step_yb + a * inner, from + a * step_xa + b * inner, inner);
                continue;
            }
            T square[block][block];
            for (Index a = a0; a < a1; ++a)
                for (Index b = b0; b < b1; ++b) square[b - b0][a - a0] = from[a * step_xa + b];
            for (Index b = b0; b < b1; ++b) store(to + b * step_yb + a0, square[b - b0], a1 - a0);
        }
    });
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
