#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace gflow {

/// The upper half of a float32: 8 bits of exponent, 7 of fraction. A storage type; arithmetic happens in float.
struct bfloat16_t {
    std::uint16_t bits = 0;

    bfloat16_t() = default;
    /// Rounds to nearest, ties to even; NaN stays NaN.
    explicit bfloat16_t(float value) {
        const auto wide = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t rounded = wide + 0x7FFFU + ((wide >> 16U) & 1U);
        bits = static_cast<std::uint16_t>(std::isnan(value) ? (wide >> 16U) | 0x40U : rounded >> 16U);
    }
    explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U); }
    friend bool operator==(bfloat16_t, bfloat16_t) = default;
};

}  // namespace gflow
