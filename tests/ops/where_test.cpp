#include <gflow/ops/where.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("where") {
    const auto condition = [](const Shape& shape) {
        Tensor c = zeros(shape, uint8);
        for (Index i = 0; i < c.numel(); ++i) c.mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(i % 3);
        return c;
    };
    SECTION("values and gradients, with broadcasting") {
        expect_grad(where, condition({2, 3}), randn({2, 3}, float64), randn({2, 3}, float64));
        expect_grad(where, condition({2, 3}), randn({3}, float64), randn({}, float64));
        expect_grad(where, condition({2, 1}), randn({4, 1, 3}, float64), randn({2, 3}, float64));
        expect_grad(where, condition({}), randn({2}, float64), randn({2}, float64));
        expect_grad(where, condition({0, 2}), randn({2}, float64), randn({2}, float64));
        expect_values(where(condition({4}), full({4}, 1), full({4}, -1)), {-1, 1, 1, -1});
    }
    SECTION("agrees with PyTorch") { expect_golden("where", where); }
    SECTION("what is not chosen neither shows nor gets a gradient") {
        Tensor a = from_vector<float>({1, static_cast<float>(not_a_number)}), b = full({2}, 5);
        a.set_requires_grad();
        b.set_requires_grad();
        const Tensor y = where(from_vector<std::uint8_t>({1, 0}), a, b);
        expect_values(y, {1, 5});
        backward(y, from_vector<float>({2, static_cast<float>(infinity)}));
        expect_values(a.grad(), {2, 0});
        expect_values(b.grad(), {0, infinity});
    }
    SECTION("any number of threads gives the same bits") {
        expect_same_on_any_thread_count(where, condition({300, 400}), randn({300, 400}), randn({400}));
    }
    SECTION("what does not fit is refused") {
        CHECK_THROWS_WITH(where(zeros({2}), zeros({2}), zeros({2})),
                          contains("gflow::where: the condition must be uint8; got condition=float32 [2]"));
        CHECK_THROWS_AS(where(condition({2}), zeros({3}), zeros({3})), shape_error);
        CHECK_THROWS_AS(where(condition({2}), zeros({2}), zeros({2}, float64)), dtype_error);
    }
}
