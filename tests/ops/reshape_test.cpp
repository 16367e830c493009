#include <gflow/ops/reshape.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("reshape") {
    SECTION("values and gradients") {
        expect_grad([](const Tensor& x) { return reshape(x, {4, 6}); }, randn({2, 3, 4}, float64));
        expect_grad([](const Tensor& x) { return reshape(x, {-1}); }, randn({2, 3}, float64));
        expect_grad([](const Tensor& x) { return reshape(x, {}); }, randn({1, 1}, float64));
        expect_grad([](const Tensor& x) { return reshape(x, {1, 1}); }, randn({}, float64));
        expect_grad([](const Tensor& x) { return reshape(x, {0, 7}); }, randn({3, 0}, float64));
        expect_values(reshape(arange(6), {3, 2}), {0, 1, 2, 3, 4, 5});
    }
    SECTION("agrees with PyTorch") {
        expect_golden("reshape", [](const Tensor& x) { return reshape(x, {4, 6}); });
    }
    SECTION("one size may be left open") {
        CHECK(reshape(zeros({2, 3, 4}), {-1, 4}).shape() == Shape{6, 4});
        CHECK(reshape(zeros({2, 3, 4}), {2, -1, 2}).shape() == Shape{2, 6, 2});
        CHECK(reshape(zeros({0, 4}), {-1, 2}).shape() == Shape{0, 2});
        CHECK(reshape(zeros({2, 3}), Shape{6}).shape() == Shape{6});
    }
    SECTION("it is a view, for every dtype") {
        for (DType dtype : {float32, float64, bfloat16, int32, int64, uint8}) {
            const Tensor x = zeros({2, 3}, dtype);
            CHECK(reshape(x, {6}).raw() == x.raw());
        }
    }
    SECTION("what does not fit is refused") {
        CHECK_THROWS_WITH(reshape(zeros({2, 3}), {4, 2}),
                          contains("gflow::reshape: the number of elements must stay the same; got x=float32 [2, 3], "
                                   "shape=[4, 2]"));
        CHECK_THROWS_WITH(reshape(zeros({2, 3}), {4, -1}), contains("must fill the open axis evenly"));
        CHECK_THROWS_WITH(reshape(zeros({2, 3}), {0, -1}), contains("must fill the open axis evenly"));
        CHECK_THROWS_WITH(reshape(zeros({2, 3}), {-1, -1}), contains("got shape=[-1, -1]"));
        CHECK_THROWS_AS(reshape(zeros({2, 3}), {-2, 3}), shape_error);
        CHECK_THROWS_WITH(reshape(Tensor(), {1}), contains("must be defined"));
        CHECK_THROWS_AS(reshape(zeros({0}), {Index{1} << 32U, Index{1} << 32U}), shape_error);
        CHECK_THROWS_AS(reshape(zeros({4}), {Index{1} << 32U, Index{1} << 32U, -1}), shape_error);
    }
}
