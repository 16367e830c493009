#include <gflow/io/atomic_file.hpp>

#include "io/file_size_limit.hpp"
#include "io/temporary_folder.hpp"
#include "support/catch.hpp"

using gflow::test::contains;
using gflow::test::FileSizeLimit;
using gflow::test::TemporaryFolder;
namespace fs = std::filesystem;

TEST_CASE("write_file") {
    TemporaryFolder folder;
    const fs::path file = folder / "result.txt";

    SECTION("writes, replaces and leaves nothing beside") {
        gflow::write_file(file, "one");
        CHECK(gflow::read_file(file) == "one");
        gflow::write_file(file, "");
        CHECK(gflow::read_file(file).empty());
        const std::string all("\0\xff\n two", 7);
        gflow::write_file(file, all);
        CHECK(gflow::read_file(file) == all);
        CHECK(folder.names() == std::vector<std::string>{"result.txt"});
    }
    SECTION("keeps the mode of the earlier file") {
        gflow::write_file(file, "one");
        fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
        gflow::write_file(file, "two");
        CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    }
    SECTION("follows a link") {
        gflow::write_file(file, "one");
        fs::create_symlink(file, folder / "link");
        gflow::write_file(folder / "link", "two");
        CHECK(fs::is_symlink(folder / "link"));
        CHECK(gflow::read_file(file) == "two");
    }
    SECTION("a full disk leaves the earlier file and no other") {
        gflow::write_file(file, "earlier");
        {
            FileSizeLimit limit(1000);
            CHECK_THROWS_AS(gflow::write_file(file, std::string(5000, 'x')), gflow::io_error);
            CHECK_THROWS_WITH(gflow::write_file(file, std::string(5000, 'x'), "save"),
                              "gflow::save: cannot write " + file.string() +
                                  ": File too large; raise the limit on file sizes (ulimit -f) or choose another file "
                                  "system");
        }
        CHECK(gflow::read_file(file) == "earlier");
        CHECK(folder.names() == std::vector<std::string>{"result.txt"});
    }
    SECTION("a device is written straight, never renamed over") {
        CHECK_THROWS_WITH(gflow::write_file("/dev/full", "x"),
                          "gflow::write_file: cannot write /dev/full: No space left on device; free some space or "
                          "choose another folder");
        gflow::write_file("/dev/null", "x");
        CHECK(fs::is_character_file("/dev/null"));
    }
    SECTION("a place that cannot be written") {
        gflow::write_file(file, "earlier");
        CHECK_THROWS_WITH(gflow::write_file(file / "below", "x"),
                          contains("Not a directory; a part of the path is a file, not a folder"));
        CHECK_THROWS_WITH(gflow::write_file(folder / "none" / "x", "x"), contains("create the folder first"));
        CHECK_THROWS_WITH(gflow::write_file(folder.path(), "x"), contains("Is a directory; name a file"));
        CHECK_THROWS_AS(gflow::write_file("", "x"), gflow::io_error);
        CHECK(gflow::read_file(file) == "earlier");
    }
}

TEST_CASE("AtomicFile without commit changes nothing") {
    TemporaryFolder folder;
    gflow::write_file(folder / "a", "earlier");
    {
        gflow::AtomicFile file(folder / "a");
        file.write("half");
        CHECK(folder.names().size() == 2);
    }
    CHECK(gflow::read_file(folder / "a") == "earlier");
    CHECK(folder.names() == std::vector<std::string>{"a"});
}

TEST_CASE("make_directory") {
    TemporaryFolder folder;
    gflow::make_directory(folder / "a" / "b");
    gflow::make_directory(folder / "a" / "b" / "");
    CHECK(fs::is_directory(folder / "a" / "b"));
    gflow::write_file(folder / "file", "x");
    CHECK_THROWS_WITH(gflow::make_directory(folder / "file" / "c"),
                      contains("cannot create folder " + (folder / "file" / "c").string() + ": Not a directory"));
    CHECK_THROWS_WITH(gflow::make_directory(folder / "file"), contains("Not a directory"));
}

TEST_CASE("replace_directory") {
    TemporaryFolder folder;
    const fs::path last = folder / "last", fresh = folder / "last.new", old = folder / "last.old";
    const auto make = [](const fs::path& path, const char* text) {
        fs::create_directories(path);
        gflow::write_file(path / "state", text);
    };
    const auto state = [&] { return gflow::read_file(gflow::recover_directory(last) / "state"); };

    SECTION("first, then again") {
        make(fresh, "1");
        gflow::replace_directory(fresh, last);
        CHECK(state() == "1");
        make(fresh, "2");
        gflow::replace_directory(folder / "last.new" / "", folder / "last" / "");
        CHECK(state() == "2");
        CHECK(folder.names() == std::vector<std::string>{"last"});
    }
    SECTION("cut short between the two renames: the old one is used, then replaced") {
        make(old, "1");
        CHECK(gflow::recover_directory(last) == old);
        CHECK(gflow::recover_directory(folder / "last" / "") == old);
        make(fresh, "2");
        gflow::replace_directory(fresh, last);
        CHECK(state() == "2");
        CHECK(folder.names() == std::vector<std::string>{"last"});
    }
    SECTION("cut short before the old one was removed") {
        make(old, "1");
        make(last, "2");
        CHECK(gflow::recover_directory(last) == last);
        make(fresh, "3");
        gflow::replace_directory(fresh, last);
        CHECK(state() == "3");
        CHECK(folder.names() == std::vector<std::string>{"last"});
    }
    SECTION("nothing new: the old one stays") {
        make(last, "1");
        CHECK_THROWS_WITH(gflow::replace_directory(fresh, last), contains("cannot move " + fresh.string()));
        CHECK(state() == "1");
    }
    SECTION("a place that cannot be: the new one stays where it was") {
        make(fresh, "1");
        gflow::write_file(folder / "file", "x");
        CHECK_THROWS_AS(gflow::replace_directory(fresh, folder / "file" / "last"), gflow::io_error);
        CHECK(gflow::read_file(fresh / "state") == "1");
    }
    SECTION("neither is there: the name itself, for the error of whoever reads") {
        CHECK(gflow::recover_directory(last) == last);
    }
}
