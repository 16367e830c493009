#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/clone.hpp>
#include <gflow/ops/reduce.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("clone") {
    SECTION("values and gradients") {
        for (const Shape& shape : {Shape{}, {1}, {3, 4}, {0, 3}}) {
            const Tensor x = randn(shape, float64);
            expect_grad(gflow::clone, x);
            expect_same_bits(clone(x), x);
        }
    }
    SECTION("the memory is its own, in any dtype") {
        for (const DType dtype : {float32, float64, bfloat16, int32, int64, uint8}) {
            const Tensor x = arange(3, dtype), y = clone(x);
            CHECK(y.raw() != x.raw());
            expect_same_bits(y, x);
        }
        CHECK_FALSE(clone(Tensor()).defined());
    }
    SECTION("the gradient comes through it; through a detached one it does not") {
        Tensor x = ones({2}, float64).set_requires_grad();
        CHECK_FALSE(clone(x).is_leaf());
        CHECK_FALSE(clone(x.detach()).requires_grad());
        sum(clone(x) * x).backward();
        expect_values(x.grad(), {2, 2});
    }
}
