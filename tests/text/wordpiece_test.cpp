#include <gflow/text/wordpiece.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

using gflow::WordPiece;
using gflow::test::contains;
using Ids = std::vector<std::int32_t>;

namespace {

//                          0      1      2      3      4       5    6      7     8      9      10   11  12 13 14
const char* const small_vocabulary =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\nrun\n##ning\nthe\n,\nunk\n<\n>\n";

WordPiece small_wordpiece(bool unk_as_token = false) {
    return WordPiece::from_string(small_vocabulary, {.unk_as_token = unk_as_token});
}

}  // namespace

TEST_CASE("WordPiece: the longest piece is taken from the left") {
    const WordPiece wordpiece = small_wordpiece();
    CHECK(wordpiece.encode("unaffable, RUNNING the").size() == 7);
    CHECK(wordpiece.encode("unaffable, RUNNING the") == Ids{5, 6, 7, 11, 8, 9, 10});
    CHECK(wordpiece.encode("the\nthe\r\n\tthe") == Ids{10, 10, 10});
    CHECK(wordpiece.encode("").empty());
    CHECK(wordpiece.encode("  \n").empty());
}

TEST_CASE("WordPiece: a word that the pieces do not cover is one unknown id") {
    const WordPiece wordpiece = small_wordpiece();
    CHECK(wordpiece.encode("unaffablez the") == Ids{1, 10});
    CHECK(wordpiece.encode("z") == Ids{1});
    const WordPiece x = WordPiece::from_string("[UNK]\nx\n##x\né\n##й");
    CHECK(x.encode(std::string(100, 'x')).size() == 100);
    CHECK(x.encode(std::string(101, 'x')) == Ids{0});
    std::string greek = "x";  // 100 characters, but 199 bytes: characters count
    for (int i = 0; i < 99; ++i) greek += "ж";
    CHECK(WordPiece::from_string("[UNK]\nx\n##ж").encode(greek).size() == 100);
    CHECK(WordPiece::from_string("[UNK]\nx\n##ж").encode(greek + "ж") == Ids{0});
}

TEST_CASE("WordPiece: special tokens in the text are themselves") {
    const WordPiece wordpiece = small_wordpiece();
    CHECK(wordpiece.encode("the[SEP]the [MASK] [UNK]") == Ids{10, 3, 10, 4, 1});
    CHECK(wordpiece.encode("[sep]") == Ids{1, 1, 1});  // only as written
    CHECK(wordpiece.encode("[the") == Ids{1, 10});
    CHECK(WordPiece::from_string("[UNK]\nsep\n[\n]\n").encode("[SEP]") == Ids{2, 1, 3});  // not in this vocabulary
}

TEST_CASE("WordPiece: the literal <unk> is one id where asked for, and decoded back") {
    CHECK(small_wordpiece().encode("the <unk>") == Ids{10, 13, 12, 14});
    const WordPiece wordpiece = small_wordpiece(true);
    CHECK(wordpiece.encode("the <unk> the") == Ids{10, 1, 10});
    CHECK(wordpiece.encode("the<unk>the<un") == Ids{10, 1, 10, 13, 5});
    CHECK(wordpiece.encode("[SEP]<unk>") == Ids{3, 1});
    CHECK(wordpiece.encode("<UNK>") == Ids{13, 12, 14});
    CHECK(wordpiece.decode(Ids{10, 1, 10}) == "the <unk> the");
    CHECK(wordpiece.unk_as_token());
    CHECK_FALSE(small_wordpiece().unk_as_token());
}

TEST_CASE("WordPiece: a pair stands between [CLS] and [SEP]") {
    CHECK(small_wordpiece().encode_pair("the", "run, the") == Ids{2, 10, 3, 8, 11, 10, 3});
    CHECK(small_wordpiece().encode_pair("", "") == Ids{2, 3, 3});
    CHECK_THROWS_WITH(WordPiece::from_string("[UNK]\na").encode_pair("a", "a"), contains("missing=[CLS]"));
    CHECK_THROWS_WITH(WordPiece::from_string("[UNK]\n[CLS]\na").encode_pair("a", "a"), contains("missing=[SEP]"));
}

TEST_CASE("WordPiece: ids are decoded to words, and piece by piece to the same") {
    const WordPiece wordpiece = small_wordpiece();
    const Ids ids{5, 6, 7, 11, 8, 9, 1};
    CHECK(wordpiece.decode(ids) == "unaffable , running [UNK]");
    CHECK(wordpiece.decode({}).empty());
    CHECK(wordpiece.decode(Ids{6}) == "aff");
    std::string streamed;
    for (const auto id : ids) streamed += wordpiece.piece(id, streamed.empty());
    CHECK(streamed == wordpiece.decode(ids));
    CHECK_THROWS_AS(wordpiece.decode(Ids{15}), gflow::index_error);
    CHECK_THROWS_WITH(wordpiece.decode(Ids{-1}), contains("id=-1, vocab_size=15"));
}

TEST_CASE("WordPiece: a wrong vocabulary is refused with the reason") {
    const auto load = [](const char* text) { return WordPiece::from_string(text); };
    CHECK_THROWS_AS(load(""), gflow::io_error);
    CHECK_THROWS_WITH(load(""), contains("must not be empty"));
    CHECK_THROWS_WITH(load("\n\n"), contains("must not be empty"));
    CHECK_THROWS_WITH(load("a\nb\n"), contains("missing=[UNK]"));
    CHECK_THROWS_WITH(load("[UNK]\na\nb\na\n"), contains("token=a, lines=2 and 4"));
    CHECK_THROWS_WITH(load("[UNK]\n##a\n##a\n"), contains("token=##a, lines=2 and 3"));
    CHECK_THROWS_WITH(load("[UNK]\n\nb\n"), contains("blank") && contains("line=2"));
    CHECK_THROWS_WITH(load("[UNK]\na\xFF\n"), contains("UTF-8") && contains("line=2, byte=0xff"));
    CHECK_THROWS_WITH(WordPiece(std::filesystem::path("/no/such/vocab.txt")), contains("file=/no/such/vocab.txt"));
    CHECK(load("[UNK]\r\na\r\n\r\n").encode("a") == Ids{1});  // Windows line ends
    CHECK(load("[UNK]\na\n##a").encode("aa") == Ids{1, 2});   // a piece and its inner form are two tokens
}

TEST_CASE("WordPiece: text that is not UTF-8 is refused with the place") {
    const WordPiece wordpiece = small_wordpiece();
    CHECK_THROWS_AS(wordpiece.encode("the\xFF"), gflow::io_error);
    CHECK_THROWS_WITH(wordpiece.encode("the\xFF"), contains("byte=0xff, offset=3"));
    CHECK_THROWS_AS(wordpiece.encode_pair("the", "\xC3"), gflow::io_error);
}

TEST_CASE("WordPiece: a vocabulary is saved and read back, and copies do not share fate") {
    const gflow::test::TemporaryFolder folder;
    auto first = std::make_unique<WordPiece>(small_wordpiece());
    const WordPiece copy = *first;
    first->save(folder / "tokenizer.txt");
    first.reset();
    CHECK(copy.encode("unaffable") == Ids{5, 6, 7});
    const WordPiece again(folder / "tokenizer.txt");
    CHECK(again.vocab_size() == 15);
    CHECK(again.token(6) == "##aff");
    CHECK(again.id_of("##able") == 7);
    CHECK_FALSE(again.id_of("zebra"));
    CHECK(again.unk_id() == 1);
    CHECK(again.kind() == "wordpiece");
    CHECK(gflow::detail::read_bytes("test", folder / "tokenizer.txt") == small_vocabulary);
    CHECK_THROWS_AS(again.save(folder / "no" / "file"), gflow::io_error);
}

TEST_CASE("WordPiece: ids are those of Hugging Face tokenizers", "[data]") {
    const auto data = gflow::test::data_dir();
    if (!data) {
        WARN("skipped: GFLOW_DATA is not set");
        return;
    }
    const WordPiece wordpiece(gflow::test::data_file(*data, "bert-vocab/vocab.txt"));
    CHECK(wordpiece.vocab_size() == 30522);
    const auto each = [&](const char* name, std::size_t expected, auto&& ids_of) {
        const std::filesystem::path file = gflow::test::data_file(*data, std::string("bert-golden/") + name);
        std::istringstream lines(gflow::read_text(file));
        std::size_t count = 0;
        for (std::string line; std::getline(lines, line); ++count) {
            const auto golden = nlohmann::json::parse(line);
            INFO(line);
            CHECK(ids_of(golden) == golden["ids"].get<Ids>());
        }
        CHECK(count == expected);
    };
    each("edge_cases.jsonl", 21, [&](const auto& golden) {
        Ids ids = wordpiece.encode(golden["text"].template get<std::string>());
        ids.insert(ids.begin(), wordpiece.special_id("[CLS]"));
        ids.push_back(wordpiece.special_id("[SEP]"));
        return ids;
    });
    each("snli_dev_first300_pairs.jsonl", 300, [&](const auto& golden) {
        return wordpiece.encode_pair(golden["a"].template get<std::string>(), golden["b"].template get<std::string>());
    });
    each("wikitext2_valid_first200_nonempty.jsonl", 200,
         [&](const auto& golden) { return wordpiece.encode(golden["text"].template get<std::string>()); });
}
