#include <gflow/train/run_folder.hpp>

#include <fstream>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"

using namespace gflow;
using gflow::test::contains;

namespace {

/// A run's folder with an untrained model and a WordPiece vocabulary of four pieces.
nlohmann::ordered_json write_run(const std::filesystem::path& folder, Index vocab_size = 4) {
    const std::string pieces = "[UNK]\na\nb\nc\n";
    manual_seed(1);
    TransformerLMOptions options{
        .vocab_size = vocab_size, .max_length = 4, .d_model = 8, .layers = 1, .d_ff = 8, .heads = 2};
    const nlohmann::ordered_json config{{"format", "gflow"},
                                        {"version", "0.1.0"},
                                        {"model", "transformer"},
                                        {"settings", options_to_json(options)},
                                        {"tokenizer",
                                         {{"kind", "wordpiece"},
                                          {"file", "tokenizer.txt"},
                                          {"unk_as_token", false},
                                          {"fingerprint", fingerprint(pieces)}}}};
    std::ofstream(folder / "tokenizer.txt") << pieces;
    write_json(folder / "config.json", config);
    save_checkpoint(folder / "last", TransformerLM(options), config);
    return config;
}

}  // namespace

TEST_CASE("load_run reads best, last, or the folder of a checkpoint itself") {
    const test::TemporaryFolder folder;
    const auto config = write_run(folder.path());
    CHECK_THROWS_WITH(load_run(folder.path()), contains("no checkpoint \"best\"") && contains("use --which last"));
    for (const LoadedModel& loaded : {load_run(folder.path(), "last"), load_run(folder / "last")}) {
        CHECK(loaded.model->vocab_size() == 4);
        CHECK_FALSE(loaded.model->training());
        CHECK(loaded.tokenizer->encode("b a") == std::vector<std::int32_t>{2, 1});
    }
    std::filesystem::rename(folder / "last", folder / "last.old");  // a swap that was cut short
    CHECK(load_run(folder.path(), "last").model->vocab_size() == 4);
}

TEST_CASE("load_run names what is wrong") {
    const test::TemporaryFolder folder;
    CHECK_THROWS_WITH(load_run(folder / "none"), contains("none is no folder"));
    CHECK_THROWS_WITH(load_run(folder.path()), contains("name the --out folder"));
    CHECK_THROWS_WITH(load_run(folder.path(), "first"), contains("--which must be best or last; got first"));
    write_run(folder.path(), 5);
    CHECK_THROWS_WITH(load_run(folder.path(), "last"), contains("the tokenizer has 4 pieces, the model 5"));
    std::ofstream(folder / "tokenizer.txt") << "[UNK]\na\nb\nd\n";
    CHECK_THROWS_WITH(load_run(folder.path(), "last"),
                      contains("tokenizer.txt is not the tokenizer that the model was trained with"));
    std::filesystem::remove(folder / "tokenizer.txt");
    CHECK_THROWS_WITH(load_run(folder.path(), "last"), contains("tokenizer.txt"));
}

TEST_CASE("holds_run and remove_run know the files of a run and leave others alone") {
    const test::TemporaryFolder folder;
    CHECK_FALSE(holds_run(folder.path()));
    std::ofstream(folder / "notes.txt") << "mine\n";
    CHECK_FALSE(holds_run(folder.path()));
    write_run(folder.path());
    CHECK(holds_run(folder.path()));
    remove_run(folder.path());
    CHECK(folder.names() == std::vector<std::string>{"notes.txt"});
}

TEST_CASE("FolderClaim keeps a folder for one, and takes away what it made for nothing") {
    const test::TemporaryFolder folder;
    {
        const FolderClaim claim(folder / "a" / "run");
        CHECK_THROWS_WITH(FolderClaim(folder / "a" / "run"), contains("in use by another run"));
    }
    CHECK_FALSE(std::filesystem::exists(folder / "a" / "run"));
    {
        const FolderClaim claim(folder / "b");
        std::ofstream(folder / "b" / "config.json") << "{}";
    }
    CHECK(std::filesystem::exists(folder / "b"));
    const FolderClaim again(folder / "b");
    std::ofstream(folder / "file") << "x";
    CHECK_THROWS_AS(FolderClaim(folder / "file"), io_error);
}
