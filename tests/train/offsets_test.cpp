#include <gflow/train/offsets.hpp>

#include "support/catch.hpp"

using namespace gflow;
using gflow::test::contains;

TEST_CASE("parse_offsets: one offset for each layer, or a list for each") {
    CHECK(parse_offsets("1,2,4") == Offsets{{1}, {2}, {4}});
    CHECK(parse_offsets("7") == Offsets{{7}});
    CHECK(parse_offsets("1,2;1,2,4;8") == Offsets{{1, 2}, {1, 2, 4}, {8}});
    CHECK(parse_offsets("1,2;") == Offsets{{1, 2}});
    CHECK(parse_offsets("1, 2 ; 8, 8") == Offsets{{1, 2}, {8, 8}});
    CHECK(parse_offsets_for_all("1,2,4,8,8,8", 2) == Offsets{{1, 2, 4, 8, 8, 8}, {1, 2, 4, 8, 8, 8}});
}

TEST_CASE("parse_offsets reads what to_string writes") {
    for (const Offsets& offsets :
         {Offsets{{1}}, Offsets{{1}, {2}}, Offsets{{1, 2}}, Offsets{{1}, {2, 3}, {1, 2, 4, 4}}})
        CHECK(parse_offsets(to_string(offsets)) == offsets);
}

TEST_CASE("parse_offsets refuses what is no list of whole numbers from 1") {
    for (const char* text :
         {"", "0", "-1", "1,,2", "1,", ",1", "a", "1.5", "1;;2", ";", "1 2", "99999999999999999999"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(parse_offsets(text), usage_error);
        CHECK_THROWS_WITH(parse_offsets(text), contains(std::string("offsets=") + text));
    }
}
