#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace gflow {

namespace detail {

/// What the bytes at the front of `text` (not empty) are. `length` bytes belong together: one character if whole;
/// the start of one that needs more bytes if truncated; otherwise a byte sequence that no continuation can mend.
struct Utf8Head {
    std::size_t length;
    bool whole;
    bool truncated;
};

/// The Unicode standard's table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF.
inline Utf8Head utf8_head(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return {1, true, false};
    if (first < 0xC2 || first > 0xF4) return {1, false, false};
    const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    unsigned char low = 0x80, high = 0xBF;  // bounds of the second byte; later ones have the full range
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
    for (std::size_t i = 1; i < length; ++i) {
        if (i == text.size()) return {i, false, true};
        if (byte(i) < low || byte(i) > high) return {i, false, false};
        low = 0x80, high = 0xBF;
    }
    return {length, true, false};
}

/// Eight ASCII bytes at a time: text is mostly ASCII.
inline std::size_t ascii_prefix(std::string_view text) {
    std::size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) {
        std::uint64_t eight;
        std::memcpy(&eight, text.data() + i, 8);
        if (eight & 0x8080808080808080u) break;
    }
    while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) ++i;
    return i;
}

/// The code point of the character at the front of valid UTF-8.
inline char32_t utf8_code_point(std::string_view character) {
    const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(character[i])); };
    const char32_t first = byte(0);
    if (first < 0x80) return first;
    if (first < 0xE0) return (first & 0x1F) << 6 | (byte(1) & 0x3F);
    if (first < 0xF0) return (first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    return (first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
}

inline std::string hex_byte(char byte) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto value = static_cast<unsigned char>(byte);
    return {'0', 'x', digits[value >> 4], digits[value & 15]};
}

}  // namespace detail

/// Offset (from 0) of the first byte that is not part of well-formed UTF-8; nothing if the text is valid.
inline std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        i += detail::ascii_prefix(text.substr(i));
        if (i == text.size()) break;
        const detail::Utf8Head head = detail::utf8_head(text.substr(i));
        if (!head.whole) return i;
        i += head.length;
    }
    return std::nullopt;
}

/// Holds back the bytes of an unfinished character, so that what is printed is always whole characters.
/// Bytes that cannot become a character come out as U+FFFD.
class Utf8Stream {
public:
    /// Adds bytes; returns every character that is now whole.
    std::string push(std::string_view bytes) {
        held_ += bytes;
        return take(false);
    }

    /// What is still held, which can no longer be completed: empty, or U+FFFD.
    std::string flush() { return take(true); }

    /// Bytes that wait for the rest of their character (0 to 3).
    std::size_t held() const { return held_.size(); }

private:
    std::string take(bool all) {
        std::string text;
        std::string_view rest = held_;
        while (!rest.empty()) {
            const detail::Utf8Head head = detail::utf8_head(rest);
            if (head.truncated && !all) break;
            if (head.whole)
                text += rest.substr(0, head.length);
            else
                text += "\xEF\xBF\xBD";
            rest.remove_prefix(head.length);
        }
        held_ = std::string(rest);
        return text;
    }

    std::string held_;
};

}  // namespace gflow
