#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>

#include <algorithm>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// y[o, b, m, a, :] = x[o, a, m, b, :], or is added to.  x: [outer, A, middle, B, inner].
template <class T>
void transpose(const T* x, Index outer, Index size_a, Index middle, Index size_b, Index inner, T* y, bool accumulate) {
    constexpr Index block = 32;  // squares of this size stay in the first-level cache on both sides
    const Index blocks = (size_a + block - 1) / block;
    const Index step_xa = middle * size_b * inner, step_yb = middle * size_a * inner;
    parallel_rows(outer * middle * blocks, block * size_b * inner, [&](Index item) {
        const Index a0 = item % blocks * block, a1 = std::min(size_a, a0 + block);
        const Index m = item / blocks % middle, o = item / blocks / middle;
        const T* from = x + o * size_a * step_xa + m * size_b * inner;
        T* to = y + o * size_b * step_yb + m * size_a * inner;
        for (Index b0 = 0; b0 < size_b; b0 += block)
            for (Index b = b0; b < std::min(size_b, b0 + block); ++b)
                for (Index a = a0; a < a1; ++a) {
                    const T* source = from + a * step_xa + b * inner;
                    T* target = to + b * step_yb + a * inner;
                    if (accumulate)
                        for (Index j = 0; j < inner; ++j) target[j] += source[j];
                    else
                        for (Index j = 0; j < inner; ++j) target[j] = source[j];
                }
    });
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
