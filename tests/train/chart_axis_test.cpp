#include <gflow/train/chart_axis.hpp>

#include "support/catch.hpp"

using gflow::detail::ChartAxis;
using gflow::test::Approx;

namespace {

std::string labels(const std::vector<double>& values, bool logarithmic = false, double margin = 0) {
    ChartAxis axis;
    axis.logarithmic = logarithmic;
    axis.fit(values, margin);
    std::string text;
    for (const auto& [value, label] : axis.ticks) {
        CHECK(axis.place(value) >= -1e-6);
        CHECK(axis.place(value) <= 1 + 1e-6);
        text += (text.empty() ? "" : " ") + label;
    }
    return text;
}

}  // namespace

TEST_CASE("ticks of an axis are numbers that people count in") {
    CHECK(labels({0, 1}) == "0 0.2 0.4 0.6 0.8 1.0");
    CHECK(labels({0, 10}) == "0 2 4 6 8 10");
    CHECK(labels({1, 1240}) == "0 200 400 600 800 1,000 1,200");
    CHECK(labels({100, 12000}) == "0 2k 4k 6k 8k 10k 12k");
    CHECK(labels({0, 2539520}) == "0 0.5M 1.0M 1.5M 2.0M 2.5M");
    CHECK(labels({-3, 3}) == "-3 -2 -1 0 1 2 3");
    CHECK(labels({5.01, 5.04}) == "5.010 5.015 5.020 5.025 5.030 5.035 5.040");
    CHECK(labels({0, 0.0004}) == "0 0.00005 0.00010 0.00015 0.00020 0.00025 0.00030 0.00035 0.00040");
    CHECK(labels({0, 3e13}) == "0 5e+12 1e+13 1.5e+13 2e+13 2.5e+13 3e+13");
}

TEST_CASE("ticks of a logarithmic axis") {
    CHECK(labels({1, 10000}, true) == "1 10 100 1,000 10k");
    CHECK(labels({100, 9000}, true) == "100 200 500 1,000 2,000 5,000");
    CHECK(labels({80, 400}, true) == "80 90 100 150 200 250 300 400");
    CHECK(labels({301, 333}, true) == "305 310 315 320 325 330");
    CHECK(labels({0.001, 0.1}, true) == "0.001 0.002 0.005 0.01 0.02 0.05 0.1");
    CHECK_FALSE(labels({1e-90, 1e90}, true).empty());
}

TEST_CASE("an axis of one value, and what it shows") {
    ChartAxis axis;
    axis.fit({5}, 0.05);
    CHECK(axis.low < 5);
    CHECK(axis.high > 5);
    CHECK(axis.place(5) == Approx(0.5));
    CHECK_FALSE(labels({0}).empty());
    CHECK_FALSE(labels({-7, -7}).empty());
    CHECK_FALSE(labels({7}, true, 0.05).empty());
    CHECK_FALSE(axis.shows(std::nan("")));
    CHECK_FALSE(axis.shows(INFINITY));
    CHECK_FALSE(axis.shows(1e300));
    CHECK(axis.shows(-1));
    axis.logarithmic = true;
    CHECK_FALSE(axis.shows(0));
    CHECK_FALSE(axis.shows(-1));
}

TEST_CASE("places on an axis") {
    ChartAxis axis;
    axis.logarithmic = true;
    axis.start = 100;
    axis.end = 0;
    axis.fit({1, 100}, 0);
    CHECK(axis.place(1) == Approx(100));
    CHECK(axis.place(10) == Approx(50));
    CHECK(axis.place(100) == Approx(0).margin(1e-9));
}
