#pragma once
#include <gflow/kernels/broadcast.hpp>

#include <cstdint>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// y = condition ? a : b with all three stretched to y's shape. A null a or b stands for 0. y may be added to.
template <class T>
void where(const BroadcastWalk<3>& walk, const std::uint8_t* condition, const T* a, const T* b, T* y, bool accumulate) {
    const Index step_c = walk.moves(0), step_a = walk.moves(1), step_b = walk.moves(2);
    walk.for_each_run([&](Index begin, Index n, const auto& at) {
        for (Index i = 0; i < n; ++i) {
            const T left = a ? a[at[1] + i * step_a] : T(0), right = b ? b[at[2] + i * step_b] : T(0);
            const T value = condition[at[0] + i * step_c] ? left : right;
            y[begin + i] = accumulate ? y[begin + i] + value : value;
        }
    });
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
