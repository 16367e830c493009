#include <gflow/core/random.hpp>
#include <gflow/ops/linear.hpp>
#include <gflow/ops/linear_cross_entropy.hpp>
#include <gflow/ops/reshape.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

auto fused_loss(Tensor targets) {
    return [=](const Tensor& h, const Tensor& w) { return linear_cross_entropy(h, w, targets); };
}
auto composed_loss(Tensor targets) {
    return [=](const Tensor& h, const Tensor& w) { return cross_entropy(linear(h, w), targets); };
}
Tensor some_targets(Index rows, Index classes) {
    std::vector<Index> ids;
    for (Index i = 0; i < rows; ++i) ids.push_back(i % 5 == 3 ? -100 : (7 * i + 1) % classes);
    return from_vector(ids);
}

template <class F>
std::size_t peak_of(F f, const Tensor& h, const Tensor& w) {
    Tensor x = clone(h).set_requires_grad(), weight = clone(w).set_requires_grad();
    BufferPool::instance().reset_peak();
    const std::size_t before = BufferPool::instance().statistics().live_bytes;
    f(x, weight).backward();
    return BufferPool::instance().statistics().peak_bytes - before;
}

}  // namespace

TEST_CASE("linear_cross_entropy equals linear and cross_entropy, also over several chunks") {
    for (const Index rows : {1, 5, 256, 300, 1300}) {
        const Tensor targets = some_targets(rows, 11);
        const Tensor h = randn({rows, 6}, float64), w = randn({11, 6}, float64);
        Tensor h1 = clone(h).set_requires_grad(), w1 = clone(w).set_requires_grad();
        Tensor h2 = clone(h).set_requires_grad(), w2 = clone(w).set_requires_grad();
        const Tensor one = fused_loss(targets)(h1, w1), two = composed_loss(targets)(h2, w2);
        expect_close(one, two, {1e-13, 1e-13});
        backward(one, scalar(3, float64));  // a seed other than 1
        backward(two, scalar(3, float64));
        expect_close(h1.grad(), h2.grad(), {1e-13, 1e-12});
        expect_close(w1.grad(), w2.grad(), {1e-13, 1e-12});
    }
}

TEST_CASE("linear_cross_entropy: gradients agree with differences") {
    expect_grad(fused_loss(some_targets(4, 7)), randn({4, 3}, float64), randn({7, 3}, float64));
    expect_grad(fused_loss(reshape(some_targets(6, 7), {2, 3})), randn({2, 3, 3}, float64), randn({7, 3}, float64));
}

TEST_CASE("linear_cross_entropy is 0, with zero gradients, where nothing counts") {
    const Tensor ignored = full({3}, -100, int64);
    Tensor h = randn({3, 2}).set_requires_grad(), w = randn({4, 2}).set_requires_grad();
    const Tensor loss = linear_cross_entropy(h, w, ignored);
    REQUIRE(loss.item() == 0);
    loss.backward();
    expect_close(h.grad(), zeros({3, 2}), exactly);
    expect_close(w.grad(), zeros({4, 2}), exactly);
    REQUIRE(linear_cross_entropy(empty({0, 2}), w, empty({0}, int64)).item() == 0);
}

TEST_CASE("linear_cross_entropy keeps its digits however far a few logits rise above the others") {
    constexpr Index rows = 40, classes = 700, d = 5;
    const Tensor targets = some_targets(rows, classes);
    for (const double above : {0, 30, 60, 86, 400}) {
        INFO("above " << above);
        Tensor h = randn({rows, d}), w = randn({classes, d});
        for (Index i = 0; i < rows; ++i) h.mutable_data<float>()[i * d] = 1;
        // At no round numbers, so that they are not among a sample of evenly spaced classes.
        for (Index j = 0; j < classes; ++j)
            w.mutable_data<float>()[j * d] = static_cast<float>(j % 97 == 41 ? above : 0);
        Tensor h1 = clone(h).set_requires_grad(), w1 = clone(w).set_requires_grad();
        Tensor h2 = to(h, float64).set_requires_grad(), w2 = to(w, float64).set_requires_grad();
        const Tensor loss = fused_loss(targets)(h1, w1), expected = composed_loss(targets)(h2, w2);
        REQUIRE(loss.item() == Approx(expected.item()).epsilon(1e-6).margin(1e-6));
        loss.backward();
        expected.backward();
        expect_close_in_norm("dh", to(h1.grad(), float64), h2.grad(), 1e-5);
        expect_close_in_norm("dw", to(w1.grad(), float64), w2.grad(), 1e-5);
    }
}

TEST_CASE("linear_cross_entropy never holds all logits") {
    const Index rows = 4096, classes = 1500;
    const Tensor h = randn({rows, 16}), w = randn({classes, 16});
    const auto logits = static_cast<std::size_t>(rows * classes) * sizeof(float);
    REQUIRE(peak_of(fused_loss(some_targets(rows, classes)), h, w) < logits / 4);
    REQUIRE(peak_of(composed_loss(some_targets(rows, classes)), h, w) > logits);  // the measurement can tell
}

TEST_CASE("linear_cross_entropy keeps no gradient where none is asked for") {
    const Tensor h = randn({600, 8}), w = randn({900, 8}), targets = some_targets(600, 900);
    REQUIRE(!linear_cross_entropy(h, w, targets).requires_grad());
    Tensor leaf = clone(h).set_requires_grad();
    linear_cross_entropy(leaf, w, targets).backward();
    REQUIRE(leaf.grad().defined());
    const NoGrad off;
    REQUIRE(!linear_cross_entropy(leaf, w, targets).requires_grad());
}

TEST_CASE("linear_cross_entropy: two backward passes add up when the graph is kept") {
    Tensor h = randn({4, 3}, float64).set_requires_grad(), w = randn({5, 3}, float64).set_requires_grad();
    const Tensor loss = linear_cross_entropy(h, w, some_targets(4, 5));
    backward(loss, {}, {.retain_graph = true});
    const Tensor once = clone(w.grad());
    backward(loss);
    Tensor twice = clone(once);
    for (Index i = 0; i < twice.numel(); ++i) twice.mutable_data<double>()[i] *= 2;
    expect_close(w.grad(), twice, {1e-14, 1e-14});
}

TEST_CASE("linear_cross_entropy shows NaN") {
    Tensor h = randn({3, 2});
    h.mutable_data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
    REQUIRE(std::isnan(linear_cross_entropy(h, randn({4, 2}), some_targets(3, 4)).item()));
}

TEST_CASE("linear_cross_entropy: what a token that does not count holds reaches nothing") {
    Tensor h = randn({4, 2}, float64), w = randn({5, 2}, float64).set_requires_grad();
    for (const Index position : {1, 3}) h.mutable_data<double>()[2 * position] = not_a_number;
    h.set_requires_grad();
    const Tensor loss = linear_cross_entropy(h, w, from_vector<Index>({4, -100, 0, -100}));
    REQUIRE(std::isfinite(loss.item()));
    loss.backward();
    for (Index i = 0; i < w.grad().numel(); ++i) REQUIRE(std::isfinite(w.grad().data<double>()[i]));
    for (const Index i : {2, 3, 6, 7}) REQUIRE(h.grad().data<double>()[i] == 0);
}

TEST_CASE(
    "linear_cross_entropy is inf where the logits are -inf throughout, and changes the weight by no other token") {
    const Tensor targets = from_vector<Index>({2, 1});
    Tensor w = full({3, 1}, -infinity).set_requires_grad();
    const Tensor loss = linear_cross_entropy(ones({2, 1}), w, targets);
    REQUIRE(loss.item() == infinity);
    loss.backward();
    expect_close(w.grad(), zeros({3, 1}), exactly);
}

TEST_CASE("linear_cross_entropy has the same bits on any number of threads") {
    expect_same_on_any_thread_count(fused_loss(some_targets(600, 700)), randn({600, 8}, float64),
                                    randn({700, 8}, float64));
}

TEST_CASE("linear_cross_entropy names what does not fit") {
    const Tensor h = zeros({2, 3}), w = zeros({4, 3});
    REQUIRE_THROWS_WITH(linear_cross_entropy(h, w, from_vector<Index>({1, 4})),
                        Catch::Contains("target=4, position=[1]"));
    REQUIRE_THROWS_AS(linear_cross_entropy(h, w, from_vector<Index>({1})), shape_error);
    REQUIRE_THROWS_AS(linear_cross_entropy(h, zeros({4, 2}), from_vector<Index>({1, 2})), shape_error);
    REQUIRE_THROWS_WITH(linear_cross_entropy(zeros({2, 0}), zeros({4, 0}), from_vector<Index>({1, 2})),
                        Catch::Contains("a state must have a number or more"));
    REQUIRE_THROWS_AS(linear_cross_entropy(h, w, zeros({2})), dtype_error);
}
