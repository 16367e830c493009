#include <gflow/autograd/checkpoint.hpp>
#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/reduce.hpp>
#include <gflow/ops/unary.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

using Tensors = std::vector<Tensor>;

/// Multiplies by random numbers, as dropout does.
Tensor noisy(const Tensor& x) { return x * rand(x.shape(), x.dtype()); }

Tensor leaf(const Tensor& x) { return clone(x).set_requires_grad(); }

}  // namespace

TEST_CASE("recompute gives the same values and gradients as keeping everything") {
    const Tensor x0 = randn({4, 3}, float64), w0 = randn({3}, float64);
    const auto layer = [](const Tensors& v) { return tanh(exp(v[0] * v[1]) * v[0]); };
    Tensor x = leaf(x0), w = leaf(w0), x_again = leaf(x0), w_again = leaf(w0);
    const Tensor y = layer({x, w}), y_again = checkpoint(layer, {x_again, w_again});
    expect_same_bits(y_again.detach(), y.detach());
    sum(y * y).backward();
    sum(y_again * y_again).backward();
    expect_close(x_again.grad(), x.grad(), {0, 1e-13});
    expect_close(w_again.grad(), w.grad(), {0, 1e-13});
}

TEST_CASE("it passes gradcheck, nested and in a chain") {
    const auto layer = [](const Tensors& v) { return tanh(v[0] * v[0]); };
    const auto nested = [&](const Tensors& v) {
        return checkpoint([&](const Tensors& u) { return checkpoint(layer, {checkpoint(layer, u)}) * u[0]; }, v);
    };
    const auto result = gradcheck(nested, {randn({3}, float64)});
    INFO(result.message);
    CHECK(result.ok);
}

TEST_CASE("random numbers are drawn again, and none beyond those of one forward") {
    manual_seed(3);
    Tensor x = leaf(ones({50}, float64));
    const Tensor y = noisy(noisy(x));
    const auto calls = default_generator().state().calls;
    sum(y).backward();

    manual_seed(3);
    Tensor x_again = leaf(ones({50}, float64));
    const Tensor y_again = checkpoint([](const Tensors& v) { return noisy(noisy(v[0])); }, {x_again});
    CHECK(default_generator().state().calls == calls);
    rand({1});  // somebody else draws before backward
    const auto before = default_generator().state();
    sum(y_again).backward();
    CHECK(default_generator().state() == before);
    expect_same_bits(y_again.detach(), y.detach());
    expect_same_bits(x_again.grad(), x.grad());
}

TEST_CASE("weights that the function captures get their gradients") {
    Tensor w = leaf(full({3}, 2, float64));
    const Tensor x = ones({3}, float64);
    sum(checkpoint([&](const Tensors& v) { return v[0] * w * w; }, {x})).backward();
    expect_values(w.grad(), {4, 4, 4});
}

TEST_CASE("the insides are not kept") {
    Tensor x = leaf(randn({10'000}, float64));
    const auto live = [] { return BufferPool::instance().statistics().live_bytes; };
    const auto layer = [](const Tensors& v) {
        Tensor y = v[0];
        for (int i = 0; i < 10; ++i) y = tanh(y);
        return y;
    };
    const std::size_t before = live();
    const Tensor kept = layer({x});
    const std::size_t with_insides = live() - before;
    const Tensor recomputed = checkpoint(layer, {x});
    CHECK(live() - before - with_insides < with_insides / 5);
}

TEST_CASE("under NoGrad it is the function itself") {
    Tensor x = leaf(ones({2}, float64));
    const NoGrad plain;
    CHECK_FALSE(checkpoint([](const Tensors& v) { return v[0] * 2; }, {x}).requires_grad());
}

TEST_CASE("an exception in the second forward leaves the mode and the random numbers as they were") {
    Tensor x = leaf(ones({2}, float64));
    bool broken = false;
    const Tensor y = checkpoint(
        [&](const Tensors& v) {
            if (broken) fail<usage_error>("layer", "broken");
            return noisy(v[0]);
        },
        {x});
    broken = true;
    const Generator::State state = default_generator().state();
    CHECK_THROWS_WITH(sum(y).backward(), contains("broken"));
    CHECK(is_grad_enabled());
    CHECK(default_generator().state() == state);
}
