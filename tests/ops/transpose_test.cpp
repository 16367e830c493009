#include <gflow/ops/reshape.hpp>
#include <gflow/ops/transpose.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("transpose") {
    SECTION("values and gradients") {
        for (Index a : {0, 1, 2, -1})
            for (Index b : {0, 1, -2, 3})
                expect_grad([=](const Tensor& x) { return transpose(x, a, b); }, randn({2, 3, 4, 2}, float64));
        expect_grad([](const Tensor& x) { return transpose(x, 0, 1); }, randn({0, 3}, float64));
        expect_values(transpose(reshape(arange(6), {2, 3}), 0, 1), {0, 3, 1, 4, 2, 5});
        CHECK(transpose(zeros({2, 3, 4}), 0, 2).shape() == Shape{4, 3, 2});
    }
    SECTION("agrees with PyTorch") {
        expect_golden("transpose", [](const Tensor& x) { return transpose(x, 1, 2); });
    }
    SECTION("larger than a block, and not a multiple of one") {
        const Tensor x = randn({3, 70, 45}, float32);
        const Tensor y = transpose(x, 1, 2);
        for (Index i : {0, 1, 2})
            for (Index a : {0, 31, 32, 69})
                for (Index b : {0, 31, 32, 44})
                    CHECK(y.data<float>()[(i * 45 + b) * 70 + a] == x.data<float>()[(i * 70 + a) * 45 + b]);
        expect_same_bits(transpose(y, 2, 1), x);
        expect_same_on_any_thread_count([](const Tensor& u) { return transpose(u, 0, 2); }, randn({70, 40, 45}));
    }
    SECTION("every dtype") {
        for (DType dtype : {float32, float64, bfloat16, int32, int64, uint8})
            expect_values(transpose(to(reshape(arange(6), {2, 3}), dtype), 0, 1), {0, 3, 1, 4, 2, 5}, exactly);
    }
    SECTION("an axis must be there") {
        CHECK_THROWS_WITH(transpose(zeros({2, 3}), 0, 2),
                          contains("gflow::transpose: axis must be within the rank; got axis=2, rank=2"));
        CHECK_THROWS_AS(transpose(zeros({}), 0, 0), index_error);
        CHECK_THROWS_WITH(transpose(Tensor(), 0, 1), contains("must be defined"));
    }
}
