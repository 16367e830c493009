#pragma once
// What the programs with plain clocks share.

#include <algorithm>
#include <chrono>
#include <gflow/core/index.hpp>
#include <vector>

namespace gflow::bench {

/// The seconds that f() takes.
template <class F>
double seconds_of(F&& f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The value in the middle, or the mean of the two there.  values: one at least
inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return (values[values.size() / 2] + values[(values.size() - 1) / 2]) / 2;
}

struct Timing {
    double seconds = 0;  ///< the median
    Index repeats = 0;   ///< calls that it is the median of
    bool warm = true;    ///< whether a call that is not counted came before
};

/// The median time of f() over `repeats` calls, after one that is not counted. With a budget in seconds (0: none) as
/// many calls as fit into it, one at least; where the first alone exceeds it, that one is the time.
template <class F>
Timing time_of(F&& f, Index repeats, double budget = 0) {
    const double first = seconds_of(f);
    if (budget > 0 && first > budget) return {first, 1, false};
    if (budget > 0) repeats = std::clamp<Index>(static_cast<Index>(budget / std::max(first, 1e-9)) - 1, 1, repeats);
    std::vector<double> all;
    for (Index i = 0; i < repeats; ++i) all.push_back(seconds_of(f));
    return {median(all), repeats, true};
}

}  // namespace gflow::bench
