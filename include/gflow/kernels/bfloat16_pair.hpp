#pragma once
#include <gflow/config/intrinsics.hpp>
#include <gflow/config/isa.hpp>
#include <gflow/kernels/micro_kernel.hpp>

#include <bit>
#include <cstdint>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

namespace detail {

/// The upper half of a float32 rounded to nearest, ties to even, as bfloat16_t does it; NaN stays NaN.
inline std::uint32_t rounded_half(float value) {
    const auto wide = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (wide + 0x7FFFU + ((wide >> 16U) & 1U)) >> 16U;
    return (wide & 0x7FFFFFFFU) > 0x7F800000U ? (wide >> 16U) | 0x40U : rounded;
}
inline Bfloat16Pair pair_of(float first, float second) { return rounded_half(first) | rounded_half(second) << 16U; }

/// Rounds a block of a factor: out is the block with pairs where two neighbours along the depth were, stored as it is
/// (depth last, or first where `depth_is_rows`). An odd depth is filled up with 0.
inline void round_to_pairs(Matrix<const float> block, bool depth_is_rows, Matrix<Bfloat16Pair> out) {
    const Index depth = depth_is_rows ? block.rows() : block.cols();
    if (depth_is_rows) {
        for (Index p = 0; p < out.rows(); ++p) {
            const float* first = block[2 * p].data();
            const float* second = 2 * p + 1 < depth ? block[2 * p + 1].data() : nullptr;
            for (Index j = 0; j < out.cols(); ++j) out[p][j] = pair_of(first[j], second == nullptr ? 0.0F : second[j]);
        }
        return;
    }
    for (Index i = 0; i < out.rows(); ++i) {
        const float* row = block[i].data();
        for (Index p = 0; p < depth / 2; ++p) out[i][p] = pair_of(row[2 * p], row[2 * p + 1]);
        if (depth % 2 == 1) out[i][depth / 2] = pair_of(row[depth - 1], 0.0F);
    }
}

/// sum + the products of a pair with each of a vector of pairs. The one place that needs an intrinsic.
template <class Lanes, class PairLanes>
Lanes add_dot(Lanes sum, Bfloat16Pair a, PairLanes b) {
#if defined(__AVX512BF16__)
    return _mm512_dpbf16_ps(sum, (__m512bh)_mm512_set1_epi32(static_cast<int>(a)), (__m512bh)b);
#else
    const auto lower = [](auto bits) { return std::bit_cast<Lanes>(bits << 16); };
    const auto upper = [](auto bits) { return std::bit_cast<Lanes>(bits & 0xFFFF0000U); };
    const PairLanes all = PairLanes{} + a;
    sum += upper(all) * upper(b);
    sum += lower(all) * lower(b);
    return sum;
#endif
}

}  // namespace detail
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
