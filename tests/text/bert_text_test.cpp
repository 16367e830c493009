#include <gflow/text/bert_text.hpp>
#include <vector>

#include "support/catch.hpp"

namespace {
std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> found;
    gflow::detail::bert_words(text, [&](std::string_view word) { found.emplace_back(word); });
    return found;
}
using Words = std::vector<std::string>;
}  // namespace

TEST_CASE("text is split into words as BERT does") {
    CHECK(words("").empty());
    CHECK(words(" \t\r\n ").empty());
    CHECK(words("Hello, World!") == Words{"hello", ",", "world", "!"});
    CHECK(words("don't e-mail $3.50") == Words{"don", "'", "t", "e", "-", "mail", "$", "3", ".", "50"});
    CHECK(words("a+b=c ^x`y~z|") == Words{"a", "+", "b", "=", "c", "^", "x", "`", "y", "~", "z", "|"});
    CHECK(words("“q” — end…") == Words{"“", "q", "”", "—", "end", "…"});
}

TEST_CASE("accents go, case goes, other scripts stay") {
    CHECK(words("Été NAÏVE Ångström İ") == Words{"ete", "naive", "angstrom", "i"});
    CHECK(words("Straße ΣΊΣΥΦΟΣ Й") == Words{"straße", "σισυφοσ", "и"});
    CHECK(words("e\xCC\x81\xCC\xA7x") == Words{"ex"});                    // marks in any order
    CHECK(words("\xCC\x81") == Words{});                                  // a mark alone
    CHECK(words("한") == Words{"\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB"});  // decomposed
}

TEST_CASE("spaces of every kind part words, controls vanish") {
    CHECK(words("a\xC2\xA0"
                "b\xE3\x80\x80"
                "c\xE2\x80\xA8"
                "d") == Words{"a", "b", "c", "d"});
    CHECK(words("ze\xE2\x80\x8Bro\xE2\x80\x8D \xEF\xBB\xBF"
                "bom") == Words{"zero", "bom"});
    CHECK(words("a\x01"
                "b\x7F"
                "c\x0B"
                "d") == Words{"abcd"});
    CHECK(words("é\xC2\x85"
                "x") == Words{"ex"});
    CHECK(words(std::string_view("a\0b\xEF\xBF\xBD"
                                 "c",
                                 7)) == Words{"abc"});
}

TEST_CASE("Chinese characters are words, kana are not") {
    CHECK(words("ah博推zz") == Words{"ah", "博", "推", "zz"});
    CHECK(words("中x") == Words{"中", "x"});
    CHECK(words("のテ") == Words{"のテ"});
    CHECK(words("𠀀𫠠") == Words{"𠀀", "𫠠"});
}
