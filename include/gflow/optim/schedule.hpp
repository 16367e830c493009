#pragma once
#include <gflow/core/errors.hpp>
#include <gflow/core/index.hpp>

#include <cmath>
#include <numbers>
#include <string>
#include <string_view>

namespace gflow {

/// What the learning rate does after warm-up.
enum class Decay { constant, linear, cosine };

inline const char* name_of(Decay decay) {
    switch (decay) {
        case Decay::constant:
            return "constant";
        case Decay::linear:
            return "linear";
        case Decay::cosine:
            return "cosine";
    }
    return "unknown";
}
inline std::string describe(Decay decay) { return name_of(decay); }
/// @throws usage_error listing the choices
inline Decay parse_decay(std::string_view text) {
    for (const Decay decay : {Decay::constant, Decay::linear, Decay::cosine})
        if (text == name_of(decay)) return decay;
    fail<usage_error>("parse_decay", "schedule must be constant, linear or cosine", {{"schedule", text}});
}

struct ScheduleOptions {
    Decay decay = Decay::cosine;
    double peak = 1e-3;  ///< the highest learning rate, reached at the end of warm-up
    double floor = 0;    ///< the last learning rate (linear and cosine)
    Index warmup = 0;    ///< updates with a rising learning rate; 0 starts at the peak
    Index steps = 1;     ///< updates altogether
};

/// The learning rate of each update. Updates are counted from 1.
class Schedule {
public:
    /// @throws usage_error unless 0 ≤ floor ≤ peak, 0 ≤ warmup ≤ steps and steps ≥ 1
    explicit Schedule(ScheduleOptions options) : options_(options) {
        require<usage_error>(options.steps >= 1, "Schedule", "at least one step is needed", {{"steps", options.steps}});
        require<usage_error>(options.warmup >= 0 && options.warmup <= options.steps, "Schedule",
                             "warm-up must end within the run", {{"warmup", options.warmup}, {"steps", options.steps}});
        require<usage_error>(std::isfinite(options.peak) && options.floor >= 0 && options.floor <= options.peak,
                             "Schedule", "learning rates must be finite, and the floor between 0 and the peak",
                             {{"floor", options.floor}, {"peak", options.peak}});
    }

    const ScheduleOptions& options() const { return options_; }

    /// Rises in a line from peak/warmup at update 1 to the peak at update `warmup`, then falls to the floor, which
    /// update `steps` and all later ones have.
    double operator()(Index update) const {
        const auto& [decay, peak, floor, warmup, steps] = options_;
        if (update <= warmup)
            return warmup == 0 ? peak : peak * static_cast<double>(update) / static_cast<double>(warmup);
        if (decay == Decay::constant) return peak;
        if (update >= steps) return floor;
        const double done = static_cast<double>(update - warmup) / static_cast<double>(steps - warmup);
        const double left = decay == Decay::linear ? 1 - done : (1 + std::cos(std::numbers::pi * done)) / 2;
        return floor + (peak - floor) * left;
    }

private:
    ScheduleOptions options_;
};

}  // namespace gflow
