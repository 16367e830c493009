#include <gflow/core/random.hpp>
#include <gflow/ops/matmul.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {
auto product(MatmulOptions options) {
    return [=](const Tensor& a, const Tensor& b) { return matmul(a, b, options); };
}
}  // namespace

TEST_CASE("matmul: values and gradients, plain and transposed") {
    for (const bool ta : {false, true})
        for (const bool tb : {false, true})
            for (const Index depth : {1, 3, 9}) {
                const Tensor a = randn(ta ? Shape{depth, 4} : Shape{4, depth}, float64);
                const Tensor b = randn(tb ? Shape{5, depth} : Shape{depth, 5}, float64);
                expect_grad(product({ta, tb}), a, b);
            }
}

TEST_CASE("matmul: leading axes are a batch and broadcast") {
    const auto check = [](Shape a, Shape b, Shape c) {
        INFO(to_string(a) << " · " << to_string(b));
        const Tensor left = randn(a, float64), right = randn(b, float64);
        REQUIRE(matmul(left, right).shape() == c);
        expect_grad(product({}), left, right);
    };
    check({2, 3, 4}, {2, 4, 5}, {2, 3, 5});
    check({2, 3, 4}, {4, 5}, {2, 3, 5});
    check({3, 4}, {2, 4, 5}, {2, 3, 5});
    check({2, 1, 3, 4}, {3, 4, 2}, {2, 3, 3, 2});
    check({1, 3, 4}, {2, 4, 5}, {2, 3, 5});
    check({3, 3}, {3, 3}, {3, 3});
}

TEST_CASE("matmul agrees with PyTorch") {
    expect_golden("matmul", product({}));
    expect_golden("matmul_batched", product({}));
    expect_golden("matmul_tn", product({.transpose_a = true}));
    expect_golden("matmul_nt", product({.transpose_b = true}));
    expect_golden("matmul_tt", product({.transpose_a = true, .transpose_b = true}));
}

TEST_CASE("matmul with sizes of 0") {
    REQUIRE(matmul(empty({0, 3}), empty({3, 4})).shape() == Shape{0, 4});
    REQUIRE(matmul(empty({2, 3, 4}), empty({2, 4, 0})).shape() == Shape{2, 3, 0});
    expect_values(matmul(empty({2, 0}), empty({0, 1})), {0, 0});
    expect_grad(product({}), randn({2, 0}, float64), randn({0, 3}, float64));
    expect_grad(product({}), randn({0, 2, 3}, float64), randn({3, 4}, float64));
}

TEST_CASE("matmul has the same bits on any number of threads") {
    expect_same_on_any_thread_count(product({}), randn({300, 90}, float64), randn({90, 400}, float64));
    expect_same_on_any_thread_count(product({}), randn({7, 40, 30}, float64), randn({30, 50}, float64));
}

TEST_CASE("matmul names what does not fit") {
    REQUIRE_THROWS_WITH(matmul(zeros({32, 256}), zeros({128, 64})),
                        Catch::Contains("gflow::matmul: inner sizes must agree; got a=float32 [32, 256], "
                                        "b=float32 [128, 64]"));
    REQUIRE_THROWS_AS(matmul(zeros({3}), zeros({3, 4})), shape_error);
    REQUIRE_THROWS_AS(matmul(zeros({2, 3, 4}), zeros({3, 4, 5})), shape_error);
    REQUIRE_THROWS_AS(matmul(zeros({3, 3}), zeros({3, 3}, float64)), dtype_error);
    REQUIRE_THROWS_AS(matmul(zeros({3, 3}, int64), zeros({3, 3}, int64)), dtype_error);
}
