#include <gflow/text/corpus.hpp>
#include <gflow/text/wordpiece.hpp>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

using gflow::read_corpus;
using gflow::split_corpus;
using gflow::test::contains;
using Paths = std::vector<std::filesystem::path>;

namespace {

std::string numbered(int lines) {
    std::string text;
    for (int i = 1; i <= lines; ++i) text += std::to_string(i) + "\n";
    return text;
}

}  // namespace

TEST_CASE("lines and words") {
    CHECK(gflow::count_lines("") == 0);
    CHECK(gflow::count_lines("a") == 1);
    CHECK(gflow::count_lines("a\n") == 1);
    CHECK(gflow::count_lines("\n\nb") == 3);
    CHECK(gflow::count_words("") == 0);
    CHECK(gflow::count_words(" \t\r\n") == 0);
    CHECK(gflow::count_words("a") == 1);
    CHECK(gflow::count_words(" = A  b = \n c") == 5);
}

TEST_CASE("one text is cut by lines: 90, 5 and 5 per cent") {
    const auto lines_of = [](int lines) {
        const auto corpus = split_corpus(numbered(lines));
        CHECK(corpus.train + corpus.valid + corpus.test == numbered(lines));
        return std::vector<gflow::Index>{gflow::count_lines(corpus.train), gflow::count_lines(corpus.valid),
                                         gflow::count_lines(corpus.test)};
    };
    CHECK(lines_of(100) == std::vector<gflow::Index>{90, 5, 5});
    CHECK(lines_of(119) == std::vector<gflow::Index>{109, 5, 5});
    CHECK(lines_of(20) == std::vector<gflow::Index>{18, 1, 1});
    CHECK(lines_of(3) == std::vector<gflow::Index>{1, 1, 1});

    const auto corpus = split_corpus("a\nb\nc");
    CHECK(corpus.train == "a\n");
    CHECK(corpus.valid == "b\n");
    CHECK(corpus.test == "c");
    CHECK(split_corpus("\n\n\n").test == "\n");

    for (const char* text : {"", "a", "a\nb\n"}) CHECK_THROWS_AS(split_corpus(text), gflow::io_error);
    CHECK_THROWS_WITH(split_corpus("a\nb"), contains("at least 3 lines") && contains("lines=2"));
}

TEST_CASE("a corpus from a folder or from files") {
    const gflow::test::TemporaryFolder folder;
    const auto write = [&](const char* name, const std::string& text) {
        gflow::detail::write_bytes("test", folder / name, text);
    };
    CHECK_THROWS_WITH(read_corpus(folder.path()), contains("wiki.{train,valid,test}.tokens"));
    CHECK_THROWS_WITH(read_corpus(folder / "absent"), contains("must exist"));

    write("train.txt", "t\r\n");
    write("valid.txt", "v");
    CHECK_THROWS_WITH(read_corpus(folder.path()), contains("must exist") && contains("test.txt"));
    write("test.txt", "s\n");
    CHECK(read_corpus(folder.path()).train == "t\r\n");
    CHECK(read_corpus(folder.path()).valid == "v");

    for (const char* part : {"train", "valid", "test"})
        write((std::string("wiki.") + part + ".tokens").c_str(), std::string(part) + "\n");
    CHECK(read_corpus(folder.path()).valid == "valid\n");
    write("wiki.valid.tokens", "");
    CHECK_THROWS_WITH(read_corpus(folder.path()), contains("must not be empty") && contains("wiki.valid.tokens"));

    write("a", "1\n2");  // no line end: one is put before the next file
    write("b", "3\n");
    const auto corpus = read_corpus(Paths{folder / "a", folder / "b"});
    CHECK(corpus.train == "1\n");
    CHECK(corpus.valid == "2\n");
    CHECK(corpus.test == "3\n");
    CHECK(read_corpus(Paths{folder / "b", folder / "a"}).train == "3\n");

    CHECK_THROWS_AS(read_corpus(Paths{}), gflow::usage_error);
    CHECK_THROWS_AS(read_corpus(Paths{folder / "a", folder.path()}), gflow::usage_error);
    write("b", "ok\n\xE9t\xE9\n");
    CHECK_THROWS_WITH(read_corpus(Paths{folder / "a", folder / "b"}), contains("line=2, byte=1, value=0xe9"));
}

TEST_CASE("Wikitext-2 has the known numbers of lines, words, bytes and ids", "[data]") {
    const auto data = gflow::test::data_dir();
    if (!data) {
        WARN("skipped: GFLOW_DATA is not set");
        return;
    }
    const auto corpus = read_corpus(gflow::test::data_file(*data, "wikitext-2"));
    const gflow::WordPiece wordpiece(gflow::test::data_file(*data, "bert-vocab/vocab.txt"));
    CHECK(corpus.valid.size() == 1121681);
    CHECK(gflow::count_words(corpus.valid) == 213886);
    struct {
        const std::string& text;
        gflow::Index lines, words;
        std::size_t ids;
    } const rows[] = {{corpus.train, 36718, 2088628, 2392641},
                      {corpus.valid, 3760, 217646, 260172},
                      {corpus.test, 4358, 245569, 299307}};
    for (const auto& row : rows) {
        CHECK(gflow::count_lines(row.text) == row.lines);
        CHECK(gflow::count_words(row.text) + row.lines == row.words);
        CHECK(wordpiece.encode(row.text).size() == row.ids);
    }
}
