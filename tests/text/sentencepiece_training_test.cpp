#include <cmath>
#include <gflow/text/sentencepiece.hpp>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"

using gflow::SentencePiece;
using gflow::test::contains;

namespace {
const std::string cats_and_dogs = "the cat sat on the mat\nthe dog sat on the cat\na cat and a dog and a mat\n";
}

TEST_CASE("SentencePiece training: the same text gives the same model") {
    const gflow::test::TemporaryFolder folder;
    SentencePiece::train(cats_and_dogs, {.size = 18}).save(folder / "a");
    SentencePiece::train(cats_and_dogs, {.size = 18}).save(folder / "b");
    CHECK(gflow::detail::read_bytes("test", folder / "a") == gflow::detail::read_bytes("test", folder / "b"));

    gflow::detail::write_bytes("test", folder / "first.txt", cats_and_dogs.substr(0, 46));  // two lines
    gflow::detail::write_bytes("test", folder / "second.txt", cats_and_dogs.substr(46));
    const std::vector<std::filesystem::path> files{folder / "first.txt", folder / "second.txt"};
    SentencePiece::train_files(files, {.size = 18}).save(folder / "c");
    CHECK(gflow::detail::read_bytes("test", folder / "a") == gflow::detail::read_bytes("test", folder / "c"));
}

TEST_CASE("SentencePiece training: the largest size that works is named when the text is too small, and works") {
    std::string message;
    try {
        SentencePiece::train(cats_and_dogs, {.size = 5000});
    } catch (const gflow::usage_error& problem) {
        message = problem.what();
    }
    const auto largest = gflow::detail::number_after(message, "at most ");
    INFO(message);
    REQUIRE(largest);
    CHECK(SentencePiece::train(cats_and_dogs, {.size = *largest}).vocab_size() == *largest);
    CHECK_THROWS_WITH(SentencePiece::train(cats_and_dogs, {.size = *largest + 1}),
                      contains("at most " + std::to_string(*largest)) && contains("give more text"));
}

TEST_CASE("SentencePiece training: the smallest size that works is named when there are more characters than pieces") {
    CHECK_THROWS_AS(SentencePiece::train(cats_and_dogs, {.size = 5}), gflow::usage_error);
    CHECK_THROWS_WITH(SentencePiece::train(cats_and_dogs, {.size = 5}), contains("at least 15 pieces; got size=5"));
    CHECK(SentencePiece::train(cats_and_dogs, {.size = 15}).vocab_size() == 15);
}

TEST_CASE("SentencePiece training: sizes and shares that mean nothing are refused") {
    for (const gflow::Index size : {0, -1, 3, 1000001})
        CHECK_THROWS_WITH(SentencePiece::train(cats_and_dogs, {.size = size}),
                          contains("size=" + std::to_string(size)));
    for (const double share : {0.0, 0.97, 1.5, -1.0, std::nan("")})
        CHECK_THROWS_WITH(SentencePiece::train(cats_and_dogs, {.size = 20, .character_coverage = share}),
                          contains("character_coverage"));
}

TEST_CASE("SentencePiece training: a text without characters is refused, not the end of the process") {
    for (const char* empty : {"", "\n", "  \n\t\n", "\xE2\x80\x8B\n", "\xE2\x96\x81", "\x01\x02"}) {
        CHECK_THROWS_AS(SentencePiece::train(empty, {.size = 20}), gflow::usage_error);
        CHECK_THROWS_WITH(SentencePiece::train(empty, {.size = 20}), contains("visible characters"));
    }
    CHECK_THROWS_WITH(SentencePiece::train("<unk>", {.size = 20}, {.unk_as_token = true}), contains("visible"));
    CHECK(SentencePiece::train("日本\n", {.size = 6}).vocab_size() == 6);
}

TEST_CASE("SentencePiece training: text that is not UTF-8 is refused with the place") {
    CHECK_THROWS_WITH(SentencePiece::train("ab\xFF"), contains("offset=2"));
}

TEST_CASE("SentencePiece training: lines that the trainer would skip are used") {
    CHECK(SentencePiece::train("a\tb\nc\n", {.size = 7}).encode("a b c").size() == 6);
    std::string line;
    for (int i = 0; i < 3000; ++i) line += "cat dog ";
    CHECK(SentencePiece::train(line, {.size = 12}).encode("cat dog").size() < 7);
    std::string wide;  // no space to cut at; cut between characters
    for (int i = 0; i < 3000; ++i) wide += "日本";
    CHECK(SentencePiece::train("x" + wide, {.size = 7, .character_coverage = 1}).vocab_size() == 7);
}

TEST_CASE("SentencePiece training: <unk> is not learnt where it is a token") {
    const std::string with = "cat <unk> dog <unk> <unk> <unk>\n";
    const SentencePiece model = SentencePiece::train(with, {.size = 10}, {.unk_as_token = true});
    for (std::int32_t id = 3; id < 10; ++id) CHECK(model.token(id).find('<') == std::string::npos);
}
