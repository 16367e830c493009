#include <gflow/core/random.hpp>
#include <gflow/ops/concat.hpp>
#include <gflow/ops/linear.hpp>
#include <gflow/ops/matmul.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {
const auto affine = [](const Tensor& x, const Tensor& w, const Tensor& b) { return linear(x, w, b); };
const auto unbiased = [](const Tensor& x, const Tensor& w) { return linear(x, w); };
}  // namespace

TEST_CASE("linear: values and gradients") {
    for (const Shape& shape : {Shape{3}, {5, 3}, {2, 4, 3}, {0, 3}}) {
        expect_grad(affine, randn(shape, float64), randn({4, 3}, float64), randn({4}, float64));
        expect_grad(unbiased, randn(shape, float64), randn({4, 3}, float64));
    }
}

TEST_CASE("linear is x·Wᵀ + b") {
    expect_values(linear(from_vector<float>({1, 2}), from_vector<float>({1, 0, 0, 1, 3, 4}, {3, 2}),
                         from_vector<float>({10, 20, 30})),
                  {11, 22, 41});
    const Tensor x = randn({2, 5, 8}, float64), w = randn({9, 8}, float64);
    expect_close(linear(x, w), matmul(x, w, {.transpose_b = true}));
}

TEST_CASE("linear of several inputs is linear of their concat, in value and gradients") {
    const auto side_by_side = [](const Tensor& x, const Tensor& y, const Tensor& z, const Tensor& w, const Tensor& b) {
        return linear({x, y, z}, w, b);
    };
    for (const Shape& rows : {Shape{}, {1}, {70}, {2, 3}, {0}}) {
        const auto input = [&](Index size) {
            Shape shape = rows;
            shape.push_back(size);
            return randn(shape, float64);
        };
        const Tensor x = input(3), y = input(1), z = input(5), w = randn({4, 9}, float64), b = randn({4}, float64);
        expect_grad(side_by_side, x, y, z, w, b);
        expect_close(linear({x, y, z}, w, b), linear(concat({x, y, z}, -1), w, b));
    }
    // One tensor twice: each place meets columns of its own.
    expect_grad(
        [](const Tensor& x, const Tensor& w) {
            return linear({x, x}, w);
        },
        randn({5, 3}, float64), randn({4, 6}, float64));
    const Tensor h = randn({600, 64}), g = randn({600, 64}), w = randn({300, 128}), b = randn({300});
    expect_close_in_norm("over several tiles", linear({h, g}, w, b), linear(concat({h, g}, -1), w, b), 1e-6);
}

TEST_CASE("linear has the same bits on any number of threads") {
    expect_same_on_any_thread_count(affine, randn({900, 64}, float64), randn({600, 64}, float64),
                                    randn({600}, float64));
    expect_same_on_any_thread_count(
        [](const Tensor& x, const Tensor& w) {
            return linear({x, x}, w);
        },
        randn({900, 64}), randn({600, 128}));
    expect_same_on_any_thread_count(affine, randn({5000, 8}, float64), randn({9, 8}, float64), randn({9}, float64));
}

TEST_CASE("linear names what does not fit") {
    REQUIRE_THROWS_WITH(linear(zeros({2, 3}), zeros({4, 5})), Catch::Contains("x=float32 [2, 3]"));
    REQUIRE_THROWS_AS(linear(zeros({2, 3}), zeros({4, 3}), zeros({3})), shape_error);
    REQUIRE_THROWS_AS(linear(zeros({2, 3}), zeros({4, 3}, float64)), dtype_error);
    REQUIRE_THROWS_AS(linear(scalar(1), zeros({4, 1})), shape_error);
    REQUIRE_THROWS_WITH(linear({zeros({2, 3}), zeros({3, 3})}, zeros({4, 6})),
                        "gflow::linear: inputs must agree in all axes but the last; got x=float32 [2, 3], "
                        "other=float32 [3, 3]");
    REQUIRE_THROWS_AS(linear({zeros({2, 3}), zeros({3})}, zeros({4, 6})), shape_error);
    REQUIRE_THROWS_AS(linear({zeros({2, 3}), zeros({2, 3}, float64)}, zeros({4, 6})), dtype_error);
    REQUIRE_THROWS_AS(linear({zeros({2, 3}), zeros({2, 3})}, zeros({4, 7})), shape_error);
    REQUIRE_THROWS_AS(linear(std::vector<Tensor>{}, zeros({4, 6})), shape_error);
}
