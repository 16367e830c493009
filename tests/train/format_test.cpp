#include <gflow/train/format.hpp>

#include <cstdint>

#include "support/catch.hpp"

using gflow::format_count;
using gflow::format_duration;
using gflow::format_number;

TEST_CASE("format_count") {
    CHECK(format_count(0) == "0");
    CHECK(format_count(999) == "999");
    CHECK(format_count(1000) == "1,000");
    CHECK(format_count(-1000) == "-1,000");
    CHECK(format_count(-999) == "-999");
    CHECK(format_count(12607168) == "12,607,168");
    CHECK(format_count(INT64_MIN) == "-9,223,372,036,854,775,808");
}

TEST_CASE("format_duration") {
    CHECK(format_duration(0) == "0 s");
    CHECK(format_duration(12.4) == "12 s");
    CHECK(format_duration(59.6) == "1m 00s");
    CHECK(format_duration(200) == "3m 20s");
    CHECK(format_duration(3599.6) == "1h 00m");
    CHECK(format_duration(3720) == "1h 02m");
    CHECK(format_duration(86400 + 7200) == "1d 02h");
    CHECK(format_duration(-1) == "?");
    CHECK(format_duration(std::nan("")) == "?");
    CHECK(format_duration(INFINITY) == "?");
}

TEST_CASE("format_number") {
    CHECK(format_number(5.12345) == "5.123");
    CHECK(format_number(12000) == "12,000");
    CHECK(format_number(-3) == "-3");
    CHECK(format_number(0.00012345) == "0.0001234");
    CHECK(format_number(1e20) == "1e+20");
    CHECK(format_number(std::nan("")) == "nan");
    CHECK(format_number(INFINITY) == "inf");
}
