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

/// Asks for numbers that are soon rounded: their lines lie on pages of their own, across which the processor does not
/// look ahead.
[[gnu::always_inline]] inline void ask_for(const float* numbers, Index size) {
    constexpr Index line_of_cache = 16;
    for (Index j = 0; j < size; j += line_of_cache) __builtin_prefetch(numbers + j);
}

/// Rounds a line whose numbers follow each other along the depth. An odd one is paired with 0.
inline void round_pairs(const float* line, Index size, Bfloat16Pair* out) {
    for (Index p = 0; p < size / 2; ++p) out[p] = pair_of(line[2 * p], line[2 * p + 1]);
    if (size % 2 == 1) out[size / 2] = pair_of(line[size - 1], 0.0F);
}

/// Rounds rows that follow each other along the depth, two to one. An odd one is paired with 0.
inline void round_row_pairs(Matrix<const float> rows, Matrix<Bfloat16Pair> out) {
    constexpr Index ahead = 4;
    const Index pairs = rows.rows() / 2;
    for (Index p = 0; p < pairs; ++p) {
        const float *first = rows[2 * p].data(), *second = rows[2 * p + 1].data();
        if (2 * p + ahead + 1 < rows.rows()) {
            ask_for(rows[2 * p + ahead].data(), rows.cols());
            ask_for(rows[2 * p + ahead + 1].data(), rows.cols());
        }
        Bfloat16Pair* to = out[p].data();
        for (Index j = 0; j < rows.cols(); ++j) to[j] = pair_of(first[j], second[j]);
    }
    if (rows.rows() % 2 == 0) return;
    const float* last = rows[2 * pairs].data();
    for (Index j = 0; j < rows.cols(); ++j) out[pairs][j] = pair_of(last[j], 0.0F);
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
