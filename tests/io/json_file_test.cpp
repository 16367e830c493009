#include <gflow/io/json_file.hpp>

#include <cmath>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"

using gflow::parse_json;
using gflow::test::contains;
using gflow::test::TemporaryFolder;

TEST_CASE("read_json and write_json") {
    TemporaryFolder folder;
    const auto file = folder / "config.json";

    SECTION("come back the same, and pretty") {
        const nlohmann::ordered_json json = {{"zebra", 1}, {"list", {1, 2.5, nullptr}}, {"text", "ä \" \n"}};
        gflow::write_json(file, json);
        CHECK(gflow::read_json<nlohmann::ordered_json>(file) == json);
        CHECK_THAT(gflow::read_file(file), contains("{\n  \"zebra\": 1,\n"));
        CHECK(gflow::read_file(file).back() == '\n');
        CHECK(folder.names() == std::vector<std::string>{"config.json"});
    }
    SECTION("numbers keep all digits") {
        const nlohmann::json json = {{"lr", 0.1}, {"seed", 18446744073709551615ULL}, {"low", -9223372036854775807LL}};
        gflow::write_json(file, json);
        const auto back = gflow::read_json(file);
        CHECK(back["lr"].get<double>() == 0.1);
        CHECK(back["seed"].get<std::uint64_t>() == 18446744073709551615ULL);
        CHECK(back["low"].get<std::int64_t>() == -9223372036854775807LL);
    }
    SECTION("NaN becomes null and broken UTF-8 a replacement") {
        gflow::write_json(file, nlohmann::json{{"loss", std::nan("")}, {"path", "a\xff"}});
        CHECK(gflow::read_json(file)["loss"].is_null());
        CHECK(gflow::read_json(file)["path"] == "a\xef\xbf\xbd");
    }
    SECTION("a missing file is named") {
        CHECK_THROWS_AS(gflow::read_json(file), gflow::io_error);
        CHECK_THROWS_WITH(gflow::read_json(file, "train_lm"), contains("gflow::train_lm: cannot read " + file.string() +
                                                                       ": No such file or directory; check the path"));
    }
    SECTION("a fault is named with file, line and column") {
        gflow::write_file(file, "{\n  \"a\": 1,\n  \"b\": oops\n}");
        CHECK_THROWS_WITH(gflow::read_json(file), contains(file.string() + ": line 3, column 8: syntax error"));
    }
}

TEST_CASE("parse_json refuses what is no JSON, or loses something") {
    const auto refuses = [](const std::string& text, const std::string& part) {
        INFO(text);
        CHECK_THROWS_AS(parse_json(text, "x.json"), gflow::io_error);
        CHECK_THROWS_WITH(parse_json(text, "x.json"), contains("gflow::parse_json: x.json: ") && contains(part));
    };
    refuses("", "line 1, column 1");
    refuses("{", "line 1, column 2");
    refuses("{\"a\": 1} x", "line 1, column 10");
    refuses("{\"a\": 1,}", "line 1, column 9");
    refuses("[1,\n\n2 3]", "line 3, column 3");
    refuses("\"\xff\"", "line 1, column 2");
    refuses("[1e999]", "1e999");
    refuses("{\"a\": 1, \"a\": 2}", "a key must appear once in an object; got \"a\" twice");
    refuses("{\"b\": {\"a\": 1, \"c\": {}, \"a\": 2}}", "\"a\" twice");
    refuses(std::string(200000, '['), "nest deeper than 100");
    CHECK(parse_json("{\"a\": {\"a\": 1}, \"b\": [{\"a\": 1}, {\"a\": 2}]}", "x.json")["b"][1]["a"] == 2);
    CHECK(parse_json(" 3 ", "x.json") == 3);
}
