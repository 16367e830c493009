#include <gflow/ops/slice.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("slice") {
    SECTION("values and gradients") {
        for (Index axis : {0, 1, 2, -1})
            for (const auto& [begin, end] : {std::pair<Index, Index>{0, 2}, {1, 2}, {1, 1}, {-2, -1}, {0, -1}})
                expect_grad([=, b = begin, e = end](const Tensor& x) { return slice(x, axis, b, e); },
                            randn({3, 4, 2}, float64));
        const Tensor x = reshape(arange(24), {2, 3, 4});
        expect_values(slice(x, 0, 1, 2), {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
        expect_values(slice(x, 1, 1, 2), {4, 5, 6, 7, 16, 17, 18, 19});
        expect_values(slice(x, 2, -2, -1), {2, 6, 10, 14, 18, 22});
        CHECK(slice(x, 1, 3, 3).shape() == Shape{2, 0, 4});
        CHECK(slice(zeros({0, 3}), 1, 0, 2).shape() == Shape{0, 2});
    }
    SECTION("agrees with PyTorch") {
        expect_golden("slice", [](const Tensor& x) { return slice(x, 1, 1, 3); });
        expect_golden("slice_leading", [](const Tensor& x) { return slice(x, 0, 1, 3); });
    }
    SECTION("the leading axis gives a view, other axes a copy") {
        const Tensor x = zeros({4, 3});
        CHECK(slice(x, 0, 1, 3).raw() == x.raw() + 3 * sizeof(float));
        CHECK(slice(x, 1, 0, 2).storage() != x.storage());
        CHECK(slice(reshape(x, {1, 12}), 1, 2, 5).raw() == x.raw() + 2 * sizeof(float));
    }
    SECTION("every dtype") {
        for (DType dtype : {float32, float64, bfloat16, int32, int64, uint8}) {
            const Tensor x = to(reshape(arange(6), {2, 3}), dtype);
            expect_values(slice(x, 1, 1, 3), {1, 2, 4, 5}, exactly);
        }
    }
    SECTION("several slices of one tensor add their gradients up") {
        Tensor x = zeros({4, 2}, float64);
        x.set_requires_grad();
        const Tensor all = x.detach();
        for (Index i = 0; i < 3; ++i) backward(slice(x, 0, i, i + 2), ones({2, 2}, float64));
        expect_values(x.grad(), {1, 1, 2, 2, 2, 2, 1, 1});
    }
    SECTION("what lies outside is refused") {
        CHECK_THROWS_WITH(slice(zeros({2, 3}), 1, 2, 4),
                          contains("gflow::slice: begin and end must be in order and within the axis; "
                                   "got x=float32 [2, 3], axis=1, begin=2, end=4"));
        CHECK_THROWS_AS(slice(zeros({2, 3}), 1, 2, 1), index_error);
        CHECK_THROWS_AS(slice(zeros({2, 3}), 1, -4, 2), index_error);
        CHECK_THROWS_AS(slice(zeros({2, 3}), 2, 0, 1), index_error);
        CHECK_THROWS_AS(slice(zeros({}), 0, 0, 1), index_error);
        CHECK_THROWS_WITH(slice(Tensor(), 0, 0, 1), contains("must be defined"));
    }
}

TEST_CASE("select") {
    SECTION("values and gradients") {
        for (Index axis : {0, 1, 2, -1})
            for (Index i : {0, 1, -1})
                expect_grad([=](const Tensor& x) { return select(x, axis, i); }, randn({3, 4, 2}, float64));
        expect_values(select(reshape(arange(6), {2, 3}), 1, -1), {2, 5});
        expect_values(select(arange(3), 0, 1), {1});
        CHECK(select(arange(3), 0, 1).shape() == Shape{});
    }
    SECTION("agrees with PyTorch") {
        expect_golden("select", [](const Tensor& x) { return select(x, 1, 2); });
    }
    SECTION("what lies outside is refused") {
        CHECK_THROWS_WITH(
            select(zeros({2, 3}), 1, 3),
            contains("gflow::select: the element must be within the axis; got x=float32 [2, 3], axis=1, i=3"));
        CHECK_THROWS_AS(select(zeros({2, 3}), 1, -4), index_error);
    }
}
