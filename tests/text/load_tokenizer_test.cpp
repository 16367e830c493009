#include <gflow/text/load_tokenizer.hpp>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"

using gflow::parse_tokenizer;
using gflow::test::contains;

TEST_CASE("the command line form of a tokenizer") {
    CHECK(parse_tokenizer("wordpiece:a/vocab.txt").kind == "wordpiece");
    CHECK(parse_tokenizer("wordpiece:a/vocab.txt").file == "a/vocab.txt");
    CHECK(parse_tokenizer("sentencepiece:C:x.model").file == "C:x.model");  // only the first colon counts
    CHECK(parse_tokenizer("train:1000").kind == "train");
    CHECK(parse_tokenizer("train:1000").size == 1000);
    for (const char* wrong : {"", ":", "wordpiece", "wordpiece:", "bpe:x", "train:", "train:0", "train:-1", "train:x",
                              "train:12x", "train:99999999999999999999"}) {
        CHECK_THROWS_AS(parse_tokenizer(wrong), gflow::usage_error);
        CHECK_THROWS_WITH(parse_tokenizer(wrong), contains("got tokenizer=" + std::string(wrong)));
    }
}

TEST_CASE("a run folder's tokenizer comes back as it was") {
    const gflow::test::TemporaryFolder folder;
    gflow::detail::write_bytes("test", folder / "vocab.txt", "[UNK]\ncat\n##s\n");
    const auto wordpiece = gflow::make_tokenizer(gflow::parse_tokenizer("wordpiece:" + (folder / "vocab.txt").string()),
                                                 {}, {.unk_as_token = true});
    const auto trained = gflow::make_tokenizer(gflow::parse_tokenizer("train:10"), "cat dog\n");
    CHECK(trained->vocab_size() == 10);
    for (const auto* tokenizer : {wordpiece.get(), trained.get()}) {
        const auto file = folder / gflow::tokenizer_file_name(tokenizer->kind());
        tokenizer->save(file);
        const auto again = gflow::load_tokenizer(tokenizer->kind(), file, {.unk_as_token = tokenizer->unk_as_token()});
        CHECK(again->encode("cats <unk> dog") == tokenizer->encode("cats <unk> dog"));
        CHECK(again->vocab_size() == tokenizer->vocab_size());
    }
    CHECK_THROWS_AS(gflow::load_tokenizer("bpe", folder / "vocab.txt"), gflow::usage_error);
    CHECK_THROWS_WITH(gflow::load_tokenizer("bpe", folder / "vocab.txt"), contains("kind=bpe"));
    CHECK_THROWS_AS(gflow::load_tokenizer("sentencepiece", folder / "vocab.txt"), gflow::io_error);
}
