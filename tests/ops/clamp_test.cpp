#include <gflow/ops/clamp.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("clamp") {
    const auto op = [](const Tensor& x) { return clamp(x, -0.5, 0.75); };
    SECTION("values and gradients") {
        for (const Shape& shape : {Shape{}, {1}, {3, 5}, {0, 3}, {37}}) expect_grad(op, randn(shape, float64));
        expect_values(op(from_vector<float>({-2, -0.5F, 0, 0.75F, 3})), {-0.5, -0.5, 0, 0.75, 0.75}, exactly);
    }
    SECTION("agrees with PyTorch") { expect_golden("clamp", op); }
    SECTION("the gradient passes at the bounds themselves, and not beyond") {
        Tensor x = from_vector<double>({-0.6, -0.5, 0.75, 0.76});
        x.set_requires_grad();
        backward(op(x), from_vector<double>({infinity, 1, 1, infinity}));
        expect_values(x.grad(), {0, 1, 1, 0});
    }
    SECTION("NaN stays, ∞ is bounded, one side may be open") {
        expect_values(op(from_vector<float>({static_cast<float>(not_a_number), static_cast<float>(infinity)})),
                      {not_a_number, 0.75});
        expect_values(clamp(from_vector<double>({-5, 5}), 0, infinity), {0, 5});
    }
    SECTION("bad input is refused") {
        CHECK_THROWS_WITH(clamp(zeros({2}), 1, 0),
                          contains("gflow::clamp: low must not exceed high; got low=1, high=0"));
        CHECK_THROWS_AS(clamp(zeros({2}), not_a_number, 1), usage_error);
        CHECK_THROWS_AS(clamp(arange(2), 0, 1), dtype_error);
    }
}
