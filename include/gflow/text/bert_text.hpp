#pragma once
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <utf8proc.h>
#include <gflow/core/errors.hpp>
#include <gflow/text/utf8.hpp>

// How BERT uncased cleans a text and splits it into words, as in Hugging Face's BertNormalizer and BertPreTokenizer:
// drop control characters, put spaces round Chinese characters, NFD, drop accents (Mn), lower-case, and make every
// punctuation character a word. Needs utf8proc.

namespace gflow::detail {

/// White space and ASCII controls but those; both are decided before any other property.
inline bool is_bert_space(char32_t c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/// U+0000, U+FFFD, controls, formats, private use and surrogates; unassigned code points stay.
inline bool is_bert_dropped(char32_t c) {
    if (c < 0x80) return c < 0x20 || c == 0x7F;
    if (c == 0xFFFD) return true;
    const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
    return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_CO ||
           category == UTF8PROC_CATEGORY_CS;
}

/// The CJK ideograph blocks only: Hangul and kana are written in words.
inline bool is_bert_chinese(char32_t c) {
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
           (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B820 && c <= 0x2CEAF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

/// Every ASCII character that is neither letter, digit, space nor control counts, "$" and "^" too.
inline bool is_bert_punctuation(char32_t c) {
    if (c < 0x80) return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
    const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
    return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

inline void append_utf8(std::string& text, char32_t c) {
    utf8proc_uint8_t bytes[4];
    const auto count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes);
    text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

/// Cleaned, decomposed, stripped of accents and lower-cased. `text` is valid UTF-8.
inline std::string bert_normalize(std::string_view text) {
    std::string clean;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = utf8_head(text.substr(i)).length;
        const std::string_view character = text.substr(i, length);
        const char32_t c = utf8_code_point(character);
        i += length;
        if (is_bert_space(c))
            clean += ' ';
        else if (is_bert_dropped(c))
            continue;
        else if (is_bert_chinese(c))
            (clean += ' ').append(character) += ' ';
        else
            clean += character;
    }
    if (clean.empty()) return clean;
    // Decomposition of the whole string, because marks are put in canonical order across characters.
    std::u32string points(clean.size() * 4, U'\0');  // no canonical decomposition is longer than four a byte
    const auto count = utf8proc_decompose(reinterpret_cast<const utf8proc_uint8_t*>(clean.data()),
                                          static_cast<utf8proc_ssize_t>(clean.size()),
                                          reinterpret_cast<utf8proc_int32_t*>(points.data()),
                                          static_cast<utf8proc_ssize_t>(points.size()), UTF8PROC_DECOMPOSE);
    if (count < 0 || static_cast<std::size_t>(count) > points.size())
        fail<io_error>("bert_normalize", utf8proc_errmsg(count), {{"bytes", clean.size()}});
    points.resize(static_cast<std::size_t>(count));
    std::string normal;
    for (const char32_t c : points)
        if (utf8proc_category(static_cast<utf8proc_int32_t>(c)) != UTF8PROC_CATEGORY_MN)
            append_utf8(normal, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    return normal;
}

/// Calls word(std::string_view) for each word of normalised text.
template <class Word>
void bert_split(std::string_view normal, Word&& word) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < normal.size();) {
        const std::size_t length = utf8_head(normal.substr(i)).length;
        const char32_t c = utf8_code_point(normal.substr(i, length));
        const bool space = is_bert_space(c);
        if (space || is_bert_punctuation(c)) {
            if (begin < i) word(normal.substr(begin, i - begin));
            if (!space) word(normal.substr(i, length));
            begin = i + length;
        }
        i += length;
    }
    if (begin < normal.size()) word(normal.substr(begin));
}

/// Calls word(std::string_view) for each word of a text (valid UTF-8) in BERT's normal form. Runs of ASCII between
/// spaces, nearly all of English, take a short way: lower-casing in place, no table and no decomposition.
template <class Word>
void bert_words(std::string_view text, Word&& word) {
    const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
    std::string run;
    for (std::size_t i = 0; i < text.size();) {
        if (is_space(text[i])) {
            ++i;
            continue;
        }
        std::size_t end = i;
        bool ascii = true;
        for (; end < text.size() && !is_space(text[end]); ++end) ascii &= static_cast<unsigned char>(text[end]) < 0x80;
        const std::string_view raw = text.substr(i, end - i);
        i = end;
        if (!ascii) {
            bert_split(bert_normalize(raw), word);
            continue;
        }
        run.clear();
        for (const char c : raw) {
            if (c >= 'A' && c <= 'Z')
                run += static_cast<char>(c - 'A' + 'a');
            else if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F)
                run += c;
        }
        bert_split(run, word);
    }
}

}  // namespace gflow::detail
