#include <gflow/train/replaced_run.hpp>

#include <fstream>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"

using namespace gflow;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
}
std::string read(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}
void write_run(const fs::path& folder, const std::string& text) {
    write(folder / "config.json", text);
    write(folder / "metrics.jsonl", text);
    write(folder / "best" / "model", text);
    write(folder / "last" / "model", text);
}
void check_run(const fs::path& folder, const std::string& text) {
    for (const char* file : {"config.json", "metrics.jsonl", "best/model", "last/model"})
        CHECK(read(folder / file) == text);
}

}  // namespace

TEST_CASE("ReplacedRun brings the earlier run back unless the new one stands") {
    const test::TemporaryFolder folder;
    write_run(folder.path(), "old");
    write(folder / "notes.txt", "mine");
    {
        const ReplacedRun earlier(folder.path());
        CHECK(folder.names() == std::vector<std::string>{"notes.txt", "replaced"});
        CHECK(holds_run(folder.path()));  // nobody may take the folder for an empty one
        write(folder / "config.json", "half of a new run");
    }
    check_run(folder.path(), "old");
    {
        ReplacedRun earlier(folder.path());
        write_run(folder.path(), "new");
        earlier.drop();
    }
    check_run(folder.path(), "new");
    CHECK_FALSE(fs::exists(folder / "replaced"));
    CHECK(read(folder / "notes.txt") == "mine");
}

TEST_CASE("ReplacedRun does nothing where there is no run") {
    const test::TemporaryFolder folder;
    {
        ReplacedRun earlier(folder.path());
        CHECK(folder.names().empty());
        write_run(folder.path(), "new");
    }
    check_run(folder.path(), "new");
}

TEST_CASE("ReplacedRun::recover ends what was cut short, wherever that was") {
    const test::TemporaryFolder folder;
    // While the earlier run was moved away, or back: "last" goes first and returns last.
    write_run(folder.path(), "old");
    write(folder / "replaced" / "last" / "model", "old");
    write(folder / "replaced" / "config.json", "old");
    fs::remove_all(folder / "last");
    fs::remove(folder / "config.json");
    ReplacedRun::recover(folder.path());
    check_run(folder.path(), "old");
    CHECK_FALSE(fs::exists(folder / "replaced"));

    // Before the new run had a checkpoint.
    fs::create_directory(folder / "replaced");
    for (const char* name : {"last", "best", "config.json", "metrics.jsonl"})
        fs::rename(folder / name, folder / "replaced" / name);
    write(folder / "config.json", "half of a new run");
    ReplacedRun::recover(folder.path());
    check_run(folder.path(), "old");

    // After it had one.
    write_run(folder / "replaced", "old");
    write_run(folder.path(), "new");
    ReplacedRun::recover(folder.path());
    check_run(folder.path(), "new");
    CHECK_FALSE(fs::exists(folder / "replaced"));
}
