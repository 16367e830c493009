#pragma once
// How far a function of float32 numbers is from the exact one, over a whole range.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace gflow::test {

/// Every stride-th float from begin up to end.
inline std::vector<float> floats_between(float begin, float end, std::int64_t stride) {
    const auto place = [](float x) -> std::int64_t {  // of x among all floats in order
        const auto bits = std::bit_cast<std::int32_t>(x);
        return bits >= 0 ? bits : std::numeric_limits<std::int32_t>::min() - std::int64_t{bits};
    };
    const auto at = [](std::int64_t i) {
        return i >= 0 ? std::bit_cast<float>(static_cast<std::int32_t>(i))
                      : -std::bit_cast<float>(static_cast<std::int32_t>(-i));
    };
    std::vector<float> floats;
    for (std::int64_t i = place(begin); i <= place(end); i += stride) floats.push_back(at(i));
    return floats;
}

/// |actual − exact| in units of the last place that a float of the size of `exact` has.
inline double ulps(float actual, double exact) {
    const int exponent = std::max(std::ilogb(exact), std::numeric_limits<float>::min_exponent - 1);
    return std::abs(actual - exact) / std::ldexp(1.0, exponent - (std::numeric_limits<float>::digits - 1));
}

/// The largest error of y[i] beside exact(x[i]), in ulps.
template <class Exact>
double worst_ulps(const std::vector<float>& x, const std::vector<float>& y, Exact exact) {
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double error = ulps(y[i], exact(static_cast<double>(x[i])));
        if (!(error <= worst)) worst = error;  // NaN wins
    }
    return worst;
}

}  // namespace gflow::test
