#include <gflow/core/bfloat16.hpp>

#include <limits>

#include "support/catch.hpp"

using gflow::bfloat16_t;

TEST_CASE("float to bfloat16 rounds to the nearest, ties to even") {
    const std::pair<float, std::uint16_t> table[] = {
        {0.0F, 0x0000},
        {-0.0F, 0x8000},
        {1.0F, 0x3F80},
        {-2.0F, 0xC000},
        {3.140625F, 0x4049},
        {1.00390625F, 0x3F80},    // 1 + 2⁻⁸: half way, down to even
        {1.01171875F, 0x3F82},    // 1 + 3·2⁻⁸: half way, up to even
        {1.0039064F, 0x3F81},     // just above half way
        {3.3895314e38F, 0x7F7F},  // the largest
        {3.4028235e38F, 0x7F80},  // rounds to ∞
        {1e-40F, 0x0001},         // subnormal
        {std::numeric_limits<float>::infinity(), 0x7F80},
        {-std::numeric_limits<float>::infinity(), 0xFF80},
    };
    for (const auto& [value, bits] : table) {
        CAPTURE(value);
        CHECK(bfloat16_t(value).bits == bits);
    }
}

TEST_CASE("every bfloat16 survives the way to float and back, NaN as NaN") {
    int wrong = 0;
    for (unsigned bits = 0; bits <= 0xFFFF; ++bits) {
        bfloat16_t before;
        before.bits = static_cast<std::uint16_t>(bits);
        const auto wide = static_cast<float>(before);
        const bfloat16_t after(wide);
        wrong += std::isnan(wide) ? !std::isnan(static_cast<float>(after)) : !(after == before);
    }
    CHECK(wrong == 0);
    const float signalling = std::bit_cast<float>(0x7F800001U);  // its NaN bits lie in the half that is cut off
    CHECK(std::isnan(static_cast<float>(bfloat16_t(signalling))));
}
