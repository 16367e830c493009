#include <gflow/autograd/checkpoint.hpp>
#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/dropout.hpp>

#include <cmath>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

/// The same numbers at every call, so that differences can be taken.
Op fixed_dropout(double p) {
    return [p](const std::vector<Tensor>& x) {
        Generator generator(20);
        return dropout(x[0], p, generator);
    };
}

}  // namespace

TEST_CASE("dropout") {
    SECTION("values and gradients") {
        for (const Shape& shape : {Shape{}, {1}, {3, 5}, {2, 3, 7}, {0, 3}, {129}})
            for (const double p : {0.1, 0.5, 0.9}) expect_grad(fixed_dropout(p), randn(shape, float64));
    }
    SECTION("element i looks at word i of the call, in both dtypes and wherever i falls in a tile") {
        for (const Index n : {1, 3, 4, 63, 64, 65, 1000, 40'001}) {
            for (const double p : {1e-9, 0.1, 0.37, 0.999}) {
                const RandomCall call = Generator(5, 2).next_call();
                std::vector<double> expected;
                for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(n); ++i)
                    expected.push_back(static_cast<double>(uniform(call.block(i / 4)[i % 4])) >= p ? 3 / (1 - p) : 0);
                for (const DType dtype : {float32, float64}) {
                    Generator generator(5, 2);
                    expect_values(dropout(full({n}, 3, dtype), p, generator), expected);
                }
            }
        }
    }
    SECTION("an element whose number is p itself stays") {
        const RandomCall call = Generator(6).next_call();
        for (std::size_t i = 0; i < 4; ++i) {
            Generator generator(6);
            const Tensor y = dropout(ones({4}), static_cast<double>(uniform(call.block(0)[i])), generator);
            CHECK(y.data<float>()[i] > 0);
        }
    }
    SECTION("blocks beyond the 32nd bit of their number are the right ones") {
        const RandomCall call = Generator(8).next_call();
        std::array<std::int32_t, 64> words{};
        const std::uint64_t first = 0xFFFFFFFF - 7;
        kernels::random_words(call, first, words);
        for (std::size_t i = 0; i < 64; ++i)
            CHECK(static_cast<std::uint32_t>(words[i]) == call.block(first + i / 4)[i % 4] >> 8U);
    }
    SECTION("drops the share p of the elements and keeps the mean") {
        Generator generator(1);
        const Tensor y = dropout(ones({200'000}, float64), 0.3, generator);
        double zeros = 0, sum = 0;
        for (const double value : y.to_vector<double>()) {
            zeros += value == 0;
            sum += value;
        }
        CHECK(std::abs(zeros / 200'000 - 0.3) < 0.005);  // five standard deviations
        CHECK(std::abs(sum / 200'000 - 1) < 0.008);
    }
    SECTION("each call draws other numbers, the same seed the same ones") {
        const Tensor x = ones({1000});
        Generator one(3), two(3);
        const Tensor first = dropout(x, 0.5, one), second = dropout(x, 0.5, one);
        CHECK(first.to_vector<float>() != second.to_vector<float>());
        expect_same_bits(dropout(x, 0.5, two), first);
        expect_same_bits(dropout(x, 0.5, two), second);
        manual_seed(4);
        const Tensor of_default = dropout(x, 0.5);
        manual_seed(4);
        expect_same_bits(dropout(x, 0.5), of_default);
    }
    SECTION("p = 0 returns x itself and takes no call number") {
        const Tensor x = ones({3}).set_requires_grad();
        Generator generator(3);
        CHECK(dropout(x, 0, generator).node() == x.node());
        CHECK(dropout(x, 0, generator).raw() == x.raw());
        CHECK(generator.state().calls == 0);
    }
    SECTION("nothing is stored for backward") {
        const Tensor x = ones({100'000}).set_requires_grad();
        BufferPool& pool = BufferPool::instance();
        const std::size_t before = pool.statistics().live_bytes;
        const Tensor y = dropout(x, 0.5);
        CHECK(pool.statistics().live_bytes - before < y.bytes() * 9 / 8 + 1024);
    }
    SECTION("recompute drops the same elements again") {
        const auto twice = [](const std::vector<Tensor>& x) { return dropout(x[0] * x[0], 0.5); };
        const auto gradient = [&](auto run) {
            manual_seed(9);
            const Tensor x = full({500}, 3).set_requires_grad();
            backward(run(x), ones({500}));
            return x.grad();
        };
        expect_same_bits(gradient([&](const Tensor& x) { return checkpoint(twice, {x}); }),
                         gradient([&](const Tensor& x) { return twice({x}); }));
    }
    SECTION("NaN and infinity stay visible where they are dropped") {
        for (const double bad : {std::nan(""), HUGE_VAL})
            for (const float value : dropout(full({100}, bad), 0.5).to_vector<float>()) CHECK(!std::isfinite(value));
    }
    SECTION("any number of threads gives the same bits") {
        expect_same_on_any_thread_count(fixed_dropout(0.1), randn({100'003}));
    }
    SECTION("bad input") {
        const Tensor x = ones({3});
        CHECK_THROWS_AS(dropout(x, 1), usage_error);
        CHECK_THROWS_WITH(dropout(x, 1), "gflow::dropout: the probability must be at least 0 and below 1; got p=1");
        CHECK_THROWS_WITH(dropout(x, -0.1), contains("got p=-0.1"));
        CHECK_THROWS_WITH(dropout(x, std::nan("")), contains("got p=nan"));
        CHECK_THROWS_WITH(dropout(arange(3), 0.1), "gflow::dropout: float32 or float64 is needed; got x=int64 [3]");
        CHECK_THROWS_WITH(dropout(Tensor(), 0.1), contains("must be defined"));
    }
}
