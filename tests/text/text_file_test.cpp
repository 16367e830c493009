#include <gflow/text/text_file.hpp>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"

using gflow::read_text;
using gflow::test::contains;

TEST_CASE("a text is read byte for byte") {
    const gflow::test::TemporaryFolder folder;
    for (const std::string text : {"a", "a\r\nb\n\n", "\xEF\xBB\xBFmarked\n", "no line end"}) {
        gflow::detail::write_bytes("test", folder / "text", text);
        CHECK(read_text(folder / "text") == text);
    }
    const std::string large(200000, 'x');
    gflow::detail::write_bytes("test", folder / "text", large);
    CHECK(read_text(folder / "text") == large);
    CHECK(folder.names() == std::vector<std::string>{"text"});
}

TEST_CASE("a text that cannot be used is named, with the place and the remedy") {
    const gflow::test::TemporaryFolder folder;
    const auto write = [&](const char* bytes) { gflow::detail::write_bytes("test", folder / "text", bytes); };
    CHECK_THROWS_AS(read_text(folder / "absent"), gflow::io_error);
    CHECK_THROWS_WITH(read_text(folder / "absent"), contains("must exist") && contains("absent"));
    CHECK_THROWS_WITH(read_text(folder.path()), contains("not a folder"));
    write("");
    CHECK_THROWS_WITH(read_text(folder / "text"), contains("must not be empty"));
    write("good\nb\xC3\xA9\xFF\n");
    CHECK_THROWS_WITH(read_text(folder / "text"),
                      contains("text, line=2, byte=4, value=0xff") && contains("iconv -t UTF-8"));
    write("\x80");
    CHECK_THROWS_WITH(read_text(folder / "text"), contains("line=1, byte=1, value=0x80"));
    write("\n\x80");
    CHECK_THROWS_WITH(read_text(folder / "text"), contains("line=2, byte=1,"));
}

TEST_CASE("a file that cannot be written leaves nothing behind") {
    const gflow::test::TemporaryFolder folder;
    CHECK_THROWS_WITH(gflow::detail::write_bytes("save", folder / "no" / "file", "x"),
                      contains("gflow::save: the file must be writable"));
    std::filesystem::create_directories(folder / "taken" / "inside");
    CHECK_THROWS_AS(gflow::detail::write_bytes("save", folder / "taken", "x"), gflow::io_error);
    CHECK(folder.names() == std::vector<std::string>{"taken"});
}
