#include <gflow/train/lm_corpus.hpp>

#include "support/catch.hpp"

using namespace gflow;
using gflow::test::contains;

namespace {

const WordPiece& tokenizer() {
    static const WordPiece words = WordPiece::from_string("[UNK]\na\nb\nc\n");
    return words;
}

}  // namespace

TEST_CASE("encode_text counts words and bytes of the text as it is") {
    const LmText text = encode_text(tokenizer(), " a  b\nzz \n");
    CHECK(text.ids == std::vector<std::int32_t>{1, 2, 0});
    CHECK(text.words == 3);
    CHECK(text.bytes == 10);
}

TEST_CASE("encode_corpus names the part that is too short") {
    const Corpus good{"a b c a b", "a b", "b c"};
    CHECK(encode_corpus(tokenizer(), good, 4).train.ids.size() == 5);
    CHECK_THROWS_WITH(encode_corpus(tokenizer(), good, 5),
                      contains("training text is shorter than a chunk") && contains("tokens=5, needed=6"));
    CHECK_THROWS_WITH(encode_corpus(tokenizer(), {good.train, "a", "b c"}, 2), contains("the validation text"));
    CHECK_THROWS_WITH(encode_corpus(tokenizer(), {good.train, "a b", ""}, 2), contains("the test text"));
}

TEST_CASE("fingerprint tells texts apart") {
    const LmCorpus a{{{1, 2, 3}, 0, 0}, {{4}, 0, 0}, {{5}, 0, 0}};
    LmCorpus b = a, c = a;
    b.test.ids[0] = 6;
    std::swap(c.train.ids[0], c.train.ids[1]);
    CHECK(fingerprint(a) == fingerprint(LmCorpus(a)));
    CHECK(fingerprint(a) != fingerprint(b));
    CHECK(fingerprint(a) != fingerprint(c));
    CHECK(fingerprint(a).size() == 16);
}
