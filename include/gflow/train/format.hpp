#pragma once
#include <gflow/core/index.hpp>

#include <cmath>
#include <cstdio>
#include <string>

namespace gflow {

/// "1,234,567"
inline std::string format_count(Index count) {
    const std::string digits = std::to_string(count);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && digits[i - 1] != '-' && (digits.size() - i) % 3 == 0) text += ',';
        text += digits[i];
    }
    return text;
}

/// "12 s", "3m 20s", "1h 02m", "2d 03h"; "?" for what is no duration.
inline std::string format_duration(double seconds) {
    if (!(seconds >= 0) || seconds > 1e9) return "?";
    const long total = std::lround(seconds);
    char text[32];
    if (total < 60)
        std::snprintf(text, sizeof text, "%ld s", total);
    else if (total < 3600)
        std::snprintf(text, sizeof text, "%ldm %02lds", total / 60, total % 60);
    else if (total < 86400)
        std::snprintf(text, sizeof text, "%ldh %02ldm", total / 3600, total / 60 % 60);
    else
        std::snprintf(text, sizeof text, "%ldd %02ldh", total / 86400, total / 3600 % 24);
    return text;
}

/// A number for people: "1,234,567" if it is whole, else four digits, "5.123".
inline std::string format_number(double value) {
    if (std::abs(value) < 1e15 && value == std::round(value)) return format_count(std::llround(value));
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

}  // namespace gflow
