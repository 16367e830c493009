#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/index.hpp>

#include <utility>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
namespace detail {

/// The lower (half 0) or upper (half 1) halves of two vectors, interleaved: a0 b0 a1 b1 …
template <int half, class Lanes, int... I>
Lanes interleave(Lanes a, Lanes b, std::integer_sequence<int, I...>) {
    constexpr int n = sizeof...(I);
    return __builtin_shufflevector(a, b, (half * n / 2 + I / 2 + I % 2 * n)...);
}

/// Transposes a square of as many vectors as each has lanes, in log2(lanes) rounds: a round interleaves vector i with
/// vector i + lanes/2, which rotates the bits of every element's address by one.
template <int lanes, class Lanes>
void transpose_lanes(Lanes (&square)[lanes]) {
    constexpr auto all = std::make_integer_sequence<int, lanes>{};
#pragma GCC unroll 4
    for (int round = 1; round < lanes; round *= 2) {
        Lanes before[lanes];
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) before[i] = square[i];
#pragma GCC unroll 16
        for (int i = 0; i < lanes / 2; ++i) {
            square[2 * i] = interleave<0>(before[i], before[i + lanes / 2], all);
            square[2 * i + 1] = interleave<1>(before[i], before[i + lanes / 2], all);
        }
    }
}

}  // namespace detail
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
