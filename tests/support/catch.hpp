#pragma once
// The one door to Catch2: 2.13 (Debian 12), and 3.x where that is found (untested).

#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

namespace gflow::test {

#if __has_include(<catch2/catch_all.hpp>)
using Catch::Approx;
/// Matches a string, or the message of an exception in CHECK_THROWS_WITH, that contains `part`.
inline auto contains(const std::string& part) { return Catch::Matchers::ContainsSubstring(part); }
#else
using Catch::Detail::Approx;
/// Matches a string, or the message of an exception in CHECK_THROWS_WITH, that contains `part`.
inline auto contains(const std::string& part) { return Catch::Matchers::Contains(part); }
#endif

}  // namespace gflow::test
