#pragma once
#include <gflow/core/dtype.hpp>
#include <gflow/core/index.hpp>

#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

namespace gflow::detail {

/// Whether the integer type To has this value, cut towards zero. NaN and ±∞ it has not.
template <class To, class From>
bool holds(From value) {
    if constexpr (std::is_integral_v<From>) {
        return std::in_range<To>(value);
    } else {
        constexpr auto least = static_cast<From>(std::numeric_limits<To>::min());
        constexpr auto beyond = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;  // exact, unlike max
        const From whole = std::trunc(value);
        return whole >= least && whole < beyond;
    }
}

/// One element as another type; a floating value going to an integer type is cut towards zero.
/// @throws dtype_error in the name of `op` if an integer type cannot hold the value
template <class To, class From>
To convert_element(std::string_view op, From value) {
    if constexpr (std::is_same_v<From, bfloat16_t>) {
        return convert_element<To>(op, static_cast<float>(value));
    } else if constexpr (std::is_same_v<To, bfloat16_t>) {
        return bfloat16_t(static_cast<float>(value));
    } else {
        if constexpr (std::is_integral_v<To>)
            require<dtype_error>(holds<To>(value), op, "the dtype must be able to hold the value",
                                 {{"value", value}, {"dtype", dtype_of<To>}});
        return static_cast<To>(value);
    }
}

}  // namespace gflow::detail
