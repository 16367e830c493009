#include <gflow/ops/concat.hpp>
#include <gflow/ops/reshape.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("concat") {
    SECTION("values and gradients") {
        expect_grad(
            [](const Tensor& a, const Tensor& b) {
                return concat({a, b}, 1);
            },
            randn({2, 3, 4}, float64), randn({2, 1, 4}, float64));
        expect_grad(
            [](const Tensor& a, const Tensor& b, const Tensor& c) {
                return concat({a, b, c}, 0);
            },
            randn({2, 3}, float64), randn({0, 3}, float64), randn({1, 3}, float64));
        expect_grad(
            [](const Tensor& a, const Tensor& b) {
                return concat({a, b, a}, -1);
            },
            randn({2, 3}, float64), randn({2, 3}, float64));
        expect_grad([](const Tensor& a) { return concat({a}, 0); }, randn({2}, float64));
        const Tensor a = reshape(arange(4), {2, 2}), b = reshape(arange(2), {2, 1});
        expect_values(concat({a, b}, 1), {0, 1, 0, 2, 3, 1});
        expect_values(concat({a, a}, 0), {0, 1, 2, 3, 0, 1, 2, 3});
    }
    SECTION("agrees with PyTorch") {
        expect_golden("concat", [](const Tensor& a, const Tensor& b) { return concat({a, b}, 1); });
    }
    SECTION("every dtype") {
        for (DType dtype : {float32, float64, bfloat16, int32, int64, uint8})
            expect_values(concat({to(arange(2), dtype), to(arange(3), dtype)}, 0), {0, 1, 0, 1, 2}, exactly);
    }
    SECTION("what does not fit is refused") {
        CHECK_THROWS_WITH(concat({}, 0), contains("gflow::concat: at least one tensor is needed"));
        CHECK_THROWS_WITH(concat({zeros({2, 3}), zeros({3, 3})}, 1),
                          contains("all axes but one must be equal; got first=float32 [2, 3], other=float32 [3, 3]"));
        CHECK_THROWS_AS(concat({zeros({2, 3}), zeros({2})}, 0), shape_error);
        CHECK_THROWS_AS(concat({zeros({2}), zeros({2}, float64)}, 0), dtype_error);
        CHECK_THROWS_AS(concat({zeros({}), zeros({})}, 0), index_error);
        CHECK_THROWS_WITH(concat({zeros({2}), Tensor()}, 0), contains("must be defined"));
    }
}
