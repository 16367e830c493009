#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/reduce.hpp>
#include <gflow/ops/to.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("to passes gradients between float32 and float64, each in the dtype of its tensor") {
    for (const DType from : {float32, float64})
        for (const DType into : {float32, float64}) {
            Tensor x = full({2}, 3, from).set_requires_grad();
            const Tensor y = to(x, into);
            CHECK(y.dtype() == into);
            backward(y * y, full({2}, 0.5, into));
            CHECK(x.grad().dtype() == from);
            expect_values(x.grad(), {3, 3});
            sum(to(x, into)).backward();
            expect_values(x.grad(), {4, 4});
        }
}

TEST_CASE("to gives x itself where it has that dtype already") {
    Tensor x = ones({2}).set_requires_grad();
    CHECK(to(x, float32).node() == x.node());
    CHECK(to(x, float32).raw() == x.raw());
}

TEST_CASE("to leaves the graph for a dtype without gradients, for detached tensors and under NoGrad") {
    const Tensor x = ones({2}).set_requires_grad();
    for (const DType dtype : {bfloat16, int32, int64, uint8}) CHECK_FALSE(to(x, dtype).requires_grad());
    CHECK_FALSE(to(x.detach(), float64).requires_grad());
    const NoGrad scope;
    CHECK_FALSE(to(x, float64).requires_grad());
}
