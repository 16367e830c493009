#include <gflow/optim/schedule.hpp>

#include <limits>
#include <vector>

#include "support/catch.hpp"

using namespace gflow;
using gflow::test::Approx;
using gflow::test::contains;

namespace {

std::vector<double> table(const ScheduleOptions& options, Index last) {
    const Schedule schedule(options);
    std::vector<double> rates;
    for (Index update = 1; update <= last; ++update) rates.push_back(schedule(update));
    return rates;
}

void check_table(const std::vector<double>& rates, const std::vector<double>& expected) {
    REQUIRE(rates.size() == expected.size());
    for (std::size_t i = 0; i < rates.size(); ++i) {
        CAPTURE(i + 1);
        CHECK(rates[i] == Approx(expected[i]).epsilon(1e-12));
    }
}

}  // namespace

TEST_CASE("Schedule: the table of values") {
    // The peak is that of update 4, exactly the last of warm-up; the floor that of update 8, the last of all.
    check_table(table({.decay = Decay::linear, .peak = 8, .floor = 0.8, .warmup = 4, .steps = 8}, 10),
                {2, 4, 6, 8, 6.2, 4.4, 2.6, 0.8, 0.8, 0.8});
    const double half = std::sqrt(0.5);
    check_table(table({.decay = Decay::cosine, .peak = 8, .floor = 0, .warmup = 4, .steps = 8}, 9),
                {2, 4, 6, 8, 4 * (1 + half), 4, 4 * (1 - half), 0, 0});
    check_table(table({.decay = Decay::constant, .peak = 3, .floor = 1, .warmup = 2, .steps = 4}, 6),
                {1.5, 3, 3, 3, 3, 3});
}

TEST_CASE("Schedule without warm-up starts just below the peak, and warm-up may fill the whole run") {
    check_table(table({.decay = Decay::linear, .peak = 1, .warmup = 0, .steps = 4}, 4), {0.75, 0.5, 0.25, 0});
    check_table(table({.decay = Decay::constant, .peak = 1, .warmup = 0, .steps = 2}, 2), {1, 1});
    check_table(table({.decay = Decay::cosine, .peak = 1, .warmup = 4, .steps = 4}, 5), {0.25, 0.5, 0.75, 1, 0});
}

TEST_CASE("Schedule never leaves the band between floor and peak, and falls monotonically") {
    for (const Decay decay : {Decay::linear, Decay::cosine}) {
        const Schedule schedule({.decay = decay, .peak = 6e-4, .floor = 6e-5, .warmup = 100, .steps = 12345});
        for (Index update = 101; update <= 12345; ++update) {
            REQUIRE(schedule(update) <= schedule(update - 1));
            REQUIRE(schedule(update) >= 6e-5);
        }
        CHECK(schedule(100) == 6e-4);
        CHECK(schedule(12345) == 6e-5);
    }
}

TEST_CASE("Schedule refuses what makes no sense") {
    CHECK_THROWS_WITH(Schedule({.steps = 0}), contains("steps=0"));
    CHECK_THROWS_WITH(Schedule({.warmup = 5, .steps = 4}), contains("warmup=5"));
    CHECK_THROWS_WITH(Schedule({.warmup = -1, .steps = 4}), contains("warmup=-1"));
    CHECK_THROWS_WITH(Schedule({.peak = 1e-3, .floor = 1e-2}), contains("floor=0.01"));
    CHECK_THROWS_WITH(Schedule({.peak = std::nan("")}), contains("peak=nan"));
    CHECK_THROWS_WITH(Schedule({.peak = std::numeric_limits<double>::infinity()}), contains("finite"));
}

TEST_CASE("parse_decay names the choices") {
    for (const Decay decay : {Decay::constant, Decay::linear, Decay::cosine})
        CHECK(parse_decay(name_of(decay)) == decay);
    CHECK_THROWS_WITH(parse_decay("cosin"), contains("constant, linear or cosine; got schedule=cosin"));
}
