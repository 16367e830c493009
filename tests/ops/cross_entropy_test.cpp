#include <gflow/core/scratch.hpp>
#include <gflow/ops/cross_entropy.hpp>
#include <gflow/ops/softmax.hpp>

#include <cmath>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

Tensor targets_of(const std::vector<std::int64_t>& targets, const Shape& shape) { return from_vector(targets, shape); }
Tensor loss_of(const Tensor& logits, const Tensor& targets) { return cross_entropy(logits, targets); }

Tensor plain_cross_entropy(const Tensor& logits, const Tensor& targets) {
    const Index n = logits.size(-1);
    double sum = 0, counted = 0;
    for (Index row = 0; row < targets.numel(); ++row) {
        const double* x = logits.data<double>() + row * n;
        const Index target = targets.data<Index>()[row];
        if (target == -100) continue;
        double total = 0;
        for (Index i = 0; i < n; ++i) total += std::exp(x[i]);
        sum += std::log(total) - x[target];
        ++counted;
    }
    return scalar(counted > 0 ? sum / counted : 0, float64);
}

struct LossAndGradient {
    double loss;
    std::vector<double> gradient;
};
LossAndGradient run(const Tensor& logits, const Tensor& targets) {
    Tensor x = clone(logits).set_requires_grad();
    const Tensor loss = cross_entropy(x, targets);
    loss.backward();
    return {loss.item(), to(x.grad(), float64).to_vector<double>()};
}

}  // namespace

TEST_CASE("cross_entropy") {
    SECTION("values and gradients") {
        const std::pair<Shape, std::vector<std::int64_t>> cases[] = {
            {{1, 1}, {0}},          {{4}, {2}},   {{3, 5}, {4, -100, 0}}, {{2, 3, 7}, {0, 6, 1, -100, 3, 3}},
            {{2, 4}, {-100, -100}}, {{0, 3}, {}}, {{1, 2100}, {2000}},
        };
        for (const auto& [shape, list] : cases) {
            const Tensor logits = randn(shape, float64, 2);
            const Tensor targets = targets_of(list, Shape(std::span(shape.begin(), shape.end() - 1)));
            if (logits.numel() < 500) {
                expect_grad(loss_of, logits, targets);
                expect_grad(loss_of, logits, to(targets, int32));
            }
            expect_value(loss_of, plain_cross_entropy, logits, targets);
        }
    }
    SECTION("another ignore_index, within the classes or not") {
        const Tensor logits = randn({4, 3}, float64);
        const Tensor usual = targets_of({0, -100, 2, -100}, {4});
        for (const std::int64_t ignore : {1, -1, 7}) {
            const Tensor targets = targets_of({0, ignore, 2, ignore}, {4});
            expect_close(cross_entropy(logits, targets, {.ignore_index = ignore}), cross_entropy(logits, usual));
        }
    }
    SECTION("where no target counts, loss and gradient are 0, even of logits that are NaN") {
        const auto [loss, gradient] = run(full({2, 3}, std::nan("")), targets_of({-100, -100}, {2}));
        CHECK(loss == 0);
        CHECK(gradient == std::vector<double>(6, 0.0));
        CHECK(run(zeros({0, 3}), targets_of({}, {0})).loss == 0);
    }
    SECTION("large logits leave the loss its digits") {
        const auto [loss, gradient] = run(full({1, 3}, 1e6), targets_of({1}, {1}));
        CHECK(loss == Approx(std::log(3)).epsilon(1e-6));
        CHECK(gradient[0] == Approx(1.0 / 3).epsilon(1e-6));
        CHECK(log_softmax(full({1, 3}, -1e6)).to_vector<float>()[0] == Approx(-std::log(3)).epsilon(1e-6));
    }
    SECTION("NaN in a row that counts makes the loss NaN, and the gradient of that row alone") {
        Tensor logits = zeros({2, 20});
        logits.mutable_data<float>()[27] = std::nanf("");
        const auto [loss, gradient] = run(logits, targets_of({0, 0}, {2}));
        CHECK(std::isnan(loss));
        for (std::size_t i = 0; i < 40; ++i) CHECK(std::isnan(gradient[i]) == (i >= 20));
        CHECK(run(logits, targets_of({0, -100}, {2})).loss == Approx(std::log(20)));
    }
    SECTION("large logits do not overflow, and masked classes have no part") {
        for (const DType dtype : {float32, float64}) {
            const Tensor logits = to(from_vector<double>({1e4, 1e4, -1e4, -infinity}, {1, 4}), dtype);
            const auto [loss, gradient] = run(logits, targets_of({1}, {1}));
            CHECK(loss == Approx(std::log(2)).epsilon(1e-3));
            CHECK(gradient[0] == Approx(0.5).epsilon(1e-3));
            CHECK(gradient[2] == 0);
            CHECK(gradient[3] == 0);
            CHECK(run(logits, targets_of({3}, {1})).loss == infinity);
        }
    }
    SECTION("a row that is -inf throughout has loss inf and no gradient") {
        const auto [loss, gradient] = run(full({2, 3}, -infinity), targets_of({1, -100}, {2}));
        CHECK(loss == infinity);
        CHECK(gradient == std::vector<double>(6, 0.0));
    }
    SECTION("any number of threads gives the same bits") {
        std::vector<std::int64_t> targets;
        for (Index i = 0; i < 300; ++i) targets.push_back(i % 7 == 0 ? -100 : i % 501);
        expect_same_on_any_thread_count(loss_of, randn({300, 501}), targets_of(targets, {300}));
    }
    SECTION("agrees with PyTorch") { expect_golden("cross_entropy", loss_of); }
    SECTION("bad input") {
        const Tensor logits = zeros({2, 3, 5});
        CHECK_THROWS_AS(cross_entropy(logits, targets_of({0, 1, 2, 3, 4, 5}, {2, 3})), index_error);
        CHECK_THROWS_WITH(cross_entropy(logits, targets_of({0, 1, 2, 3, 4, 5}, {2, 3})),
                          "gflow::cross_entropy: every target must be a class or ignore_index; got target=5, "
                          "position=[1, 2], classes=5, ignore_index=-100");
        CHECK_THROWS_WITH(cross_entropy(zeros({1, 2}), to(targets_of({-1}, {1}), int32)),
                          contains("got target=-1, position=[0], classes=2, ignore_index=-100"));
        CHECK_THROWS_WITH(cross_entropy(logits, targets_of({0, 1}, {2})),
                          "gflow::cross_entropy: targets must have the shape of logits without its last axis; got "
                          "logits=float32 [2, 3, 5], targets=int64 [2]");
        CHECK_THROWS_WITH(cross_entropy(zeros({2, 0}), targets_of({0, 0}, {2})),
                          "gflow::cross_entropy: logits need at least one class; got logits=float32 [2, 0]");
        CHECK_THROWS_WITH(cross_entropy(zeros({}), targets_of({0}, {})), contains("logits need at least one class"));
        CHECK_THROWS_WITH(cross_entropy(zeros({2, 3}), zeros({2})), contains("ids must be int32 or int64"));
        CHECK_THROWS_WITH(cross_entropy(zeros({2, 3}), Tensor()), contains("targets=undefined"));
        CHECK_THROWS_WITH(cross_entropy(arange(3), targets_of({0}, {})), contains("float32 or float64 is needed"));
    }
}
