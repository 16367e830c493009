#include <gflow/ops/mse_loss.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("mse_loss") {
    SECTION("values and gradients") {
        for (const Shape& shape : {Shape{}, {1}, {3, 5}, {2, 3, 4}})
            expect_grad(mse_loss, randn(shape, float64), randn(shape, float64));
        expect_values(mse_loss(from_vector<float>({1, 2, 3}), from_vector<float>({1, 0, 6})), {13.0 / 3});
        CHECK(mse_loss(zeros({2, 2}), zeros({2, 2})).shape() == Shape{});
    }
    SECTION("of nothing it is NaN, and NaN is not hidden") {
        expect_values(mse_loss(zeros({0}), zeros({0})), {not_a_number});
        expect_values(mse_loss(full({2}, not_a_number), zeros({2})), {not_a_number});
    }
    SECTION("any number of threads gives the same bits") {
        expect_same_on_any_thread_count(mse_loss, randn({300, 400}), randn({300, 400}));
    }
    SECTION("nothing broadcasts") {
        CHECK_THROWS_WITH(mse_loss(zeros({2, 1}), zeros({2})),
                          contains("gflow::mse_loss: shapes must be equal; got x=float32 [2, 1], target=float32 [2]"));
        CHECK_THROWS_AS(mse_loss(zeros({2}), zeros({2}, float64)), dtype_error);
    }
}
