#include <gflow/train/sampler.hpp>

#include <limits>
#include <map>

#include "support/catch.hpp"

using namespace gflow;
using gflow::test::Approx;
using gflow::test::contains;

namespace {

Vector<const float> view(const std::vector<float>& logits) {
    return {logits.data(), static_cast<Index>(logits.size())};
}

/// How often each id comes in n draws, as a share.
std::map<Index, double> shares(const std::vector<float>& logits, SamplerOptions options, int n = 20000) {
    Sampler sampler(options);
    std::map<Index, double> share;
    for (int i = 0; i < n; ++i) share[sampler(view(logits))] += 1.0 / n;
    return share;
}

const float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("Sampler draws with the probabilities of the softmax") {
    const std::vector<float> logits{std::log(0.5F), std::log(0.1F), std::log(0.4F)};
    const auto share = shares(logits, {.seed = 1});
    CHECK(share.at(0) == Approx(0.5).margin(0.015));  // four standard deviations
    CHECK(share.at(1) == Approx(0.1).margin(0.009));
    CHECK(share.at(2) == Approx(0.4).margin(0.015));
}

TEST_CASE("Sampler: a temperature sharpens or flattens") {
    const std::vector<float> logits{std::log(0.8F), std::log(0.2F)};
    CHECK(shares(logits, {.temperature = 0.5}).at(0) == Approx(0.64 / 0.68).margin(0.01));
    CHECK(shares(logits, {.temperature = 1e6}).at(0) == Approx(0.5).margin(0.015));
    CHECK(shares({1, 2, 1.5}, {.temperature = 1e-6}).at(1) == Approx(1));
}

TEST_CASE("Sampler: temperature 0 takes the most probable; of equal ones the first") {
    CHECK(shares({1, 3, 2}, {.temperature = 0}).at(1) == Approx(1));
    CHECK(shares({1, 3, 3}, {.temperature = 0}).at(1) == Approx(1));
    CHECK(shares({-infinity, -5}, {.temperature = 0}).at(1) == Approx(1));
}

TEST_CASE("Sampler: top_k keeps the k most probable") {
    const std::vector<float> logits{0, 1, 2, 3};
    const auto share = shares(logits, {.top_k = 2});
    CHECK(share.size() == 2);
    CHECK(share.at(3) == Approx(1 / (1 + std::exp(-1.0))).margin(0.015));
    CHECK(shares(logits, {.top_k = 1}).at(3) == Approx(1));
    CHECK(shares(logits, {.top_k = 99}).size() == 4);
    CHECK(shares({5, 5, 5}, {.top_k = 2}).count(2) == 0);  // ties: the smaller ids stay
}

TEST_CASE("Sampler: top_p keeps the fewest that reach p") {
    const std::vector<float> logits{std::log(0.1F), std::log(0.6F), std::log(0.3F)};
    CHECK(shares(logits, {.top_p = 0.5}).size() == 1);
    const auto share = shares(logits, {.top_p = 0.8});
    CHECK(share.size() == 2);
    CHECK(share.at(1) == Approx(2.0 / 3).margin(0.015));
    CHECK(shares(logits, {.top_p = 0.95}).size() == 3);
    CHECK(shares(logits, {.top_p = 1e-9}).at(1) == Approx(1));
}

TEST_CASE("Sampler: top_p counts within what top_k left") {
    const std::vector<float> logits{std::log(0.4F), std::log(0.3F), std::log(0.3F)};
    CHECK(shares(logits, {.top_k = 2, .top_p = 0.57}).size() == 1);  // 0.4/0.7 = 0.571
    CHECK(shares(logits, {.top_k = 2, .top_p = 0.58}).size() == 2);
}

TEST_CASE("Sampler: the seed decides") {
    const std::vector<float> logits(50, 0.0F);
    const auto draw = [&](std::uint64_t seed) {
        Sampler sampler({.seed = seed});
        std::vector<Index> ids;
        for (int i = 0; i < 20; ++i) ids.push_back(sampler(view(logits)));
        return ids;
    };
    CHECK(draw(1) == draw(1));
    CHECK(draw(1) != draw(2));
}

TEST_CASE("Sampler never draws a token of probability 0, and large logits do not overflow") {
    CHECK(shares({-infinity, 0, -infinity}, {}).at(1) == Approx(1));
    CHECK(shares({1e30F, 1e30F}, {}).at(0) == Approx(0.5).margin(0.015));
    CHECK(shares({7}, {}).at(0) == Approx(1));
}

TEST_CASE("Sampler refuses what it cannot draw from") {
    Sampler sampler({});
    CHECK_THROWS_WITH(sampler(view({})), contains("at least one logit is needed"));
    CHECK_THROWS_WITH(sampler(view({1, std::nanf("")})), contains("must be numbers"));
    CHECK_THROWS_WITH(sampler(view({1, infinity})), contains("below infinity"));
    CHECK_THROWS_WITH(sampler(view({-infinity, -infinity})), contains("must be finite"));
    CHECK_THROWS_WITH(Sampler({.temperature = -1}), contains("temperature=-1"));
    CHECK_THROWS_WITH(Sampler({.temperature = std::nan("")}), contains("temperature=nan"));
    CHECK_THROWS_WITH(Sampler({.top_k = -1}), contains("top_k=-1"));
    CHECK_THROWS_WITH(Sampler({.top_p = 0}), contains("top_p=0"));
    CHECK_THROWS_WITH(Sampler({.top_p = 1.01}), contains("top_p=1.01"));
}
