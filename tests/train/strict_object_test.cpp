#include <gflow/train/strict_object.hpp>

#include "support/catch.hpp"

using namespace gflow;
using gflow::test::contains;

TEST_CASE("StrictObject reads what is there and leaves alone what is not") {
    StrictObject reader({{"a", 3}, {"b", 2.5}, {"c", "x"}, {"d", true}, {"e", {"p", "q"}}, {"f", {{1}, {2, 3}}}},
                        "here");
    Index a = 0, missing = 7;
    double b = 0;
    std::string c;
    bool d = false;
    std::vector<std::string> e;
    std::vector<std::vector<Index>> f;
    reader.read("a", a), reader.read("b", b), reader.read("c", c), reader.read("d", d), reader.read("e", e);
    reader.read("f", f), reader.read("missing", missing);
    reader.finish();
    CHECK((a == 3 && b == 2.5 && c == "x" && d && missing == 7));
    CHECK(e == std::vector<std::string>{"p", "q"});
    CHECK(f == std::vector<std::vector<Index>>{{1}, {2, 3}});
    double whole = 0;
    StrictObject({{"a", 3}}, "here").read("a", whole);  // a whole number is a number
    CHECK(whole == 3);
}

TEST_CASE("StrictObject names place, key and value of what is wrong") {
    CHECK_THROWS_WITH(StrictObject(nlohmann::json::array(), "here"), contains("here: a JSON object"));
    StrictObject reader({{"n", 1.5}, {"t", 4}, {"u", -1}, {"l", {{1, "x"}}}}, "f.json");
    CHECK_THROWS_WITH(reader.need<Index>("n"), contains("f.json: \"n\" must be a whole number; got 1.5"));
    CHECK_THROWS_WITH(reader.need<std::string>("t"), contains("\"t\" must be text; got 4"));
    CHECK_THROWS_WITH(reader.need<bool>("t"), contains("true or false"));
    CHECK_THROWS_WITH(reader.need<std::uint64_t>("u"), contains("at least 0; got -1"));
    CHECK_THROWS_WITH(reader.need<std::vector<std::vector<Index>>>("l"), contains("list of lists"));
    CHECK_THROWS_WITH(reader.need<Index>("gone"), contains("\"gone\" is missing"));
}

TEST_CASE("StrictObject refuses a key that nobody read") {
    StrictObject reader({{"lr", 1}, {"lrr", 2}}, "f.json");
    reader.need<Index>("lr");
    CHECK_THROWS_WITH(reader.finish(), contains("unknown key \"lrr\"") && contains("known are lr"));
    reader.skip("lrr");
    CHECK_NOTHROW(reader.finish());
}
