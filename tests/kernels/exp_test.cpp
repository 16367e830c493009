#include <gflow/kernels/eigen_maps.hpp>
#include <gflow/kernels/exp.hpp>

#include "support/catch.hpp"
#include "support/ulps.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

/// exponential over x, in vectors as far as they reach.
std::vector<float> exponential_of(const std::vector<float>& x) {
    std::vector<float> y(x.size());
    const auto size = static_cast<Index>(x.size());
    kernels::array(y.data(), size) = kernels::exponential(kernels::array(x.data(), size));
    return y;
}

}  // namespace

TEST_CASE("exponential is at most 1 ulp off wherever eˣ is a normal number") {
    const std::vector<float> x = floats_between(-87.33F, 88.72283F, 499);  // 4.4 million
    CHECK(worst_ulps(x, exponential_of(x), [](double t) { return std::exp(t); }) <= 1);
}

TEST_CASE("exponential is 0 below the normal numbers and ∞ above the largest") {
    const float infinity = std::numeric_limits<float>::infinity();
    for (const float y : exponential_of(floats_between(-infinity, -87.34F, 100'003))) REQUIRE(y == 0);
    for (const float y : exponential_of(floats_between(88.7229F, infinity, 100'003))) REQUIRE(y == infinity);
    const std::vector<float> at_limits = exponential_of(std::vector<float>(8, 88.72283F));
    for (const float y : at_limits) REQUIRE(std::isfinite(y));
}

TEST_CASE("exponential keeps every NaN, whatever its other bits") {
    std::vector<float> nans;
    for (std::uint32_t bits = 0x7F800001; bits < 0x80000000; bits += 12'345)
        nans.insert(nans.end(), {std::bit_cast<float>(bits), std::bit_cast<float>(bits | 0x80000000)});
    for (const float y : exponential_of(nans)) REQUIRE(std::isnan(y));
}
