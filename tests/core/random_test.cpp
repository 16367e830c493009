#include <gflow/core/random.hpp>

#include <cmath>
#include <set>
#include <thread>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("Philox4x32-10 gives the known answers of Random123") {
    CHECK(philox({0, 0}, {0, 0, 0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(philox({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}) ==
          PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox({0xa4093822, 0x299f31d0}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}) ==
          PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a word becomes a number in [0, 1)") {
    CHECK(uniform(0) == 0.0F);
    CHECK(uniform(0xFFFFFFFF) < 1.0F);
    CHECK(uniform(0x80000000) == 0.5F);
}

TEST_CASE("a generator's whole state is three integers") {
    Generator generator(5, 2);
    CHECK(generator.state() == Generator::State{5, 2, 0});
    const Tensor first = randn({4}, float32, 1, generator);
    CHECK(generator.state() == Generator::State{5, 2, 1});
    const Generator::State kept = generator.state();
    const Tensor second = randn({4}, float32, 1, generator);
    Generator resumed;
    resumed.set_state(kept);
    expect_same_bits(randn({4}, float32, 1, resumed), second);
    CHECK_FALSE(first.to_vector<float>() == second.to_vector<float>());
}

TEST_CASE("other seeds, streams and calls give other numbers") {
    std::set<float> seen;
    for (std::uint64_t seed : {0U, 1U, 2U})
        for (std::uint64_t stream : {0U, 1U, 2U}) {
            Generator generator(seed, stream);
            for (int call = 0; call < 3; ++call) seen.insert(randn({1}, float32, 1, generator).item<float>());
        }
    CHECK(seen.size() == 27);
}

TEST_CASE("manual_seed starts again; every thread has its own default generator") {
    manual_seed(11);
    const Tensor once = rand({5});
    manual_seed(11);
    const Tensor again = rand({5});
    expect_same_bits(again, once);
    const auto calls = default_generator().state().calls;
    std::thread([] { rand({5}); }).join();
    CHECK(default_generator().state().calls == calls);
}

TEST_CASE("an element does not depend on the shape around it") {
    Generator a(3), b(3);
    const Tensor small = rand({7}, float32, a), large = rand({4, 100}, float32, b);
    expect_same_bits(small, large.viewed_as({7}));
    Generator c(3), d(3);
    expect_close(randn({9}, float32, 1, c), to(randn({9}, float64, 1, d), float32), exactly);
}

TEST_CASE("moments of the distributions") {
    const Index n = 200'000;
    Generator generator(1);
    const auto moments = [&](const Tensor& x) {
        double sum[5] = {};
        for (Index i = 0; i < n; ++i)
            for (int power = 1; power <= 4; ++power) sum[power] += std::pow(x.data<double>()[i], power);
        return std::vector<double>{sum[1] / n, sum[2] / n, sum[3] / n, sum[4] / n};
    };
    const auto normal = moments(randn({n}, float64, 2, generator));  // five standard errors each
    CHECK(std::abs(normal[0]) < 0.025);
    CHECK(std::abs(normal[1] - 4) < 0.07);
    CHECK(std::abs(normal[2]) < 0.4);
    CHECK(std::abs(normal[3] - 48) < 1.8);
    const Tensor x = rand({n}, float64, generator);
    const auto flat = moments(x);
    CHECK(std::abs(flat[0] - 0.5) < 0.004);
    CHECK(std::abs(flat[1] - 1.0 / 3) < 0.004);
    for (Index i = 0; i < n; ++i) REQUIRE((x.data<double>()[i] >= 0 && x.data<double>()[i] < 1));
}

TEST_CASE("neighbouring elements and calls are not correlated") {
    const Index n = 100'000;
    Generator generator(9);
    const Tensor a = randn({n}, float64, 1, generator), b = randn({n}, float64, 1, generator);
    double neighbours = 0, calls = 0;
    for (Index i = 0; i + 1 < n; ++i) {
        neighbours += a.data<double>()[i] * a.data<double>()[i + 1];
        calls += a.data<double>()[i] * b.data<double>()[i];
    }
    CHECK(std::abs(neighbours) / n < 0.016);
    CHECK(std::abs(calls) / n < 0.016);
}

TEST_CASE("random numbers are floating, and may be none") {
    CHECK_THROWS_AS(randn({2}, int64), dtype_error);
    CHECK_THROWS_AS(rand({2}, bfloat16), dtype_error);
    CHECK(rand({0, 3}).numel() == 0);
    CHECK(randn({}).rank() == 0);
}
