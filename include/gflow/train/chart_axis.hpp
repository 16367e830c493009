#pragma once
#include <gflow/train/format.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace gflow::detail {

/// "0.5", "2,000", "15k", "2.5M": as many decimals as steps of this size need, the unit that suits `largest`.
inline std::string tick_label(double value, double step, double largest) {
    if (value == 0) return "0";
    char text[64];
    if (largest >= 1e12 || std::abs(value) < 1e-6) {
        std::snprintf(text, sizeof text, "%.3g", value);
        return text;
    }
    const double divisor = largest >= 1e9 ? 1e9 : largest >= 1e6 ? 1e6 : largest >= 1e4 ? 1e3 : 1;
    const char* unit = largest >= 1e9 ? "G" : largest >= 1e6 ? "M" : largest >= 1e4 ? "k" : "";
    value /= divisor;
    step /= divisor;
    int decimals = 0;
    for (; decimals < 6 && std::abs(step - std::round(step)) > 1e-6 * step; step *= 10) ++decimals;
    if (decimals == 0) return format_count(std::llround(value)) + unit;
    std::snprintf(text, sizeof text, "%.*f%s", decimals, value, unit);
    return text;
}

/// The values that one axis shows, where it marks them, and where they land in the picture.
struct ChartAxis {
    double low = 0, high = 1;
    bool logarithmic = false;
    double start = 0, end = 1;  // in the picture
    std::vector<std::pair<double, std::string>> ticks;

    /// Huge numbers count as none, so that differences and ratios stay finite.
    bool shows(double value) const { return std::abs(value) < 1e100 && (!logarithmic || value > 1e-100); }

    double place(double value) const {
        const double part = logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
        return start + (end - start) * part;
    }

    /// @param values  those that are shown, at least one
    void fit(const std::vector<double>& values, double margin) {
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        low = *least;
        high = *most;
        if (logarithmic) {
            if (high < low * 1.001) {
                low *= 0.8;
                high *= 1.25;
            }
            const double factor = std::pow(high / low, margin);
            low /= factor;
            high *= factor;
            mark_logarithmic();
            return;
        }
        if (high - low <= 1e-9 * std::max(std::abs(low), std::abs(high)) || high == low) {
            const double half = high == 0 ? 1 : 0.1 * std::abs(high);
            low -= half;
            high += half;
        } else if (margin > 0) {
            const double more = margin * (high - low);
            low = low >= 0 && low < more ? 0 : low - more;
            high += more;
        } else if (low > 0 && low < 0.1 * high) {
            low = 0;  // steps that begin at 10 of 1,000 are shown from 0
        }
        mark_linear();
    }

private:
    void mark_linear() {
        const double rough = (high - low) / 8, power = std::pow(10, std::floor(std::log10(rough)));
        double step = 10 * power;
        for (const double nice : {5.0, 2.0, 1.0})
            if (nice * power >= rough * 0.999) step = nice * power;
        const double largest = std::max(std::abs(low), std::abs(high));
        const double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);
        for (double i = first; i <= last && ticks.size() < 20; ++i)
            ticks.emplace_back(i * step, tick_label(i * step, step, largest));
    }
    /// The finest of a few sets of leading digits that does not crowd the axis; equal steps within less than a decade
    /// where those would be too few; only every so many decades on a very long axis.
    void mark_logarithmic() {
        const std::vector<double> sets[] = {
            {1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}, {1, 1.5, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}};
        const double first = std::floor(std::log10(low)), last = std::ceil(std::log10(high));
        for (double stride = 1; stride < 1000; stride *= 2)
            for (const auto& digits : sets) {
                ticks.clear();
                for (double decade = first; decade <= last; decade += stride)
                    for (const double digit : digits) {
                        const double unit = std::pow(10, decade), value = digit * unit;
                        if (value < low * 0.9999 || value > high * 1.0001) continue;
                        ticks.emplace_back(value,
                                           tick_label(value, digit == std::floor(digit) ? unit : unit / 2, value));
                    }
                if (ticks.size() > 8) continue;
                if (ticks.size() >= 3 || high / low >= 10) return;
                ticks.clear();
                return mark_linear();
            }
    }
};

}  // namespace gflow::detail
