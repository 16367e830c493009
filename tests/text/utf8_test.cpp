#include <gflow/text/utf8.hpp>

#include "support/catch.hpp"

using gflow::first_invalid_utf8;
using gflow::Utf8Stream;

TEST_CASE("valid UTF-8 has no bad byte") {
    for (const char* text : {"", "a", "plain ASCII, longer than eight bytes", "\xC2\x80", "é", "日本語", "😀",
                             "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"})
        CHECK_FALSE(first_invalid_utf8(text));
    CHECK_FALSE(first_invalid_utf8(std::string_view("a\0b", 3)));
}

TEST_CASE("the first bad byte is found wherever it is") {
    struct {
        const char* text;
        std::size_t offset;
    } const rows[] = {
        {"\x80", 0},                   // a continuation without a start
        {"\xFF", 0},                   // never in UTF-8
        {"\xC0\xAF", 0},               // overlong /
        {"\xC1\xBF", 0},               // overlong, two bytes
        {"\xE0\x9F\xBF", 0},           // overlong, three bytes
        {"\xF0\x8F\xBF\xBF", 0},       // overlong, four bytes
        {"\xED\xA0\x80", 0},           // a surrogate
        {"\xF4\x90\x80\x80", 0},       // above U+10FFFF
        {"\xF5\x80\x80\x80", 0},       // above U+10FFFF
        {"é\xC3", 2},                  // cut off at the end
        {"日\xE6\x97", 3},             // cut off at the end
        {"日\xE6\x97z", 3},            // cut off by another character
        {"0123456789abcdef\xC3(", 16}  // behind the part that is read eight bytes at a time
    };
    for (const auto& row : rows) {
        INFO(row.text);
        REQUIRE(first_invalid_utf8(row.text));
        CHECK(*first_invalid_utf8(row.text) == row.offset);
    }
    for (std::size_t at = 0; at < 40; ++at) {
        std::string text(40, 'x');
        text[at] = '\x80';
        CHECK(first_invalid_utf8(text) == at);
    }
}

TEST_CASE("a stream gives whole characters only, however the bytes are cut") {
    const std::string text = "aé日😀!\xEF\xBB\xBFz";
    for (std::size_t step = 1; step <= text.size(); ++step) {
        Utf8Stream stream;
        std::string all;
        for (std::size_t i = 0; i < text.size(); i += step) {
            const std::string part = stream.push(std::string_view(text).substr(i, step));
            CHECK_FALSE(first_invalid_utf8(part));
            CHECK(stream.held() < 4);
            all += part;
        }
        CHECK(all == text);
        CHECK(stream.flush().empty());
    }
}

TEST_CASE("a stream holds back what is unfinished and replaces what is broken") {
    Utf8Stream stream;
    CHECK(stream.push("\xF0\x9F").empty());
    CHECK(stream.held() == 2);
    CHECK(stream.push("\x98\x80") == "😀");
    CHECK(stream.push("\xE6\x97").empty());
    CHECK(stream.push("z") == "\xEF\xBF\xBDz");
    CHECK(stream.push("\xFF") == "\xEF\xBF\xBD");
    CHECK(stream.push("") == "");
    CHECK(stream.push("a\xC3") == "a");
    CHECK(stream.flush() == "\xEF\xBF\xBD");
    CHECK(stream.held() == 0);
    CHECK(stream.flush().empty());
}
