#include <gflow/ops/add_layer_norm.hpp>
#include <gflow/ops/arithmetic.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

Tensor fused_norm(const Tensor& x, const Tensor& update, const Tensor& weight, const Tensor& bias) {
    return add_layer_norm(x, update, weight, bias);
}
Tensor norm_of_sum(const Tensor& x, const Tensor& update, const Tensor& weight, const Tensor& bias) {
    return layer_norm(x + update, weight, bias);
}

/// The value, and the gradients of all inputs for one given gradient of the value.
template <class F>
std::vector<Tensor> value_and_gradients(F f, const std::vector<Tensor>& inputs, const Tensor& dy) {
    std::vector<Tensor> in;
    for (const Tensor& x : inputs) in.push_back(clone(x).set_requires_grad());
    const Tensor y = f(in[0], in[1], in[2], in[3]);
    backward(y, dy);
    std::vector<Tensor> result{y.detach()};
    for (const Tensor& x : in) result.push_back(x.grad());
    return result;
}

}  // namespace

TEST_CASE("add_layer_norm: values and gradients") {
    for (const Shape& shape : {Shape{3}, {1, 4}, {3, 5}, {2, 3, 7}, {0, 3}, {3, 0}}) {
        const Shape features{shape.back()};
        expect_grad(fused_norm, randn(shape, float64), randn(shape, float64), randn(features, float64),
                    randn(features, float64));
    }
}

TEST_CASE("add_layer_norm is layer_norm of the sum, bit for bit, in value and gradients") {
    for (const DType dtype : {float32, float64})
        for (const Shape& shape : {Shape{5, 3}, {2, 300, 67}}) {
            const Shape features{shape.back()};
            const std::vector<Tensor> in{randn(shape, dtype), randn(shape, dtype), randn(features, dtype),
                                         randn(features, dtype)};
            const Tensor dy = randn(shape, dtype);
            const auto one = value_and_gradients(fused_norm, in, dy), two = value_and_gradients(norm_of_sum, in, dy);
            for (std::size_t i = 0; i < one.size(); ++i) expect_same_bits(one[i], two[i]);
            expect_same_bits(fused_norm(in[0], in[1], in[2], in[3]), one[0]);  // without a graph
        }
}

TEST_CASE("add_layer_norm of one element a row gives the bias, and no gradient but the bias's") {
    const std::vector<Tensor> in{from_vector<double>({3, -2}, {2, 1}), from_vector<double>({1, 4}, {2, 1}),
                                 full({1}, 5, float64), full({1}, 7, float64)};
    const auto results = value_and_gradients(fused_norm, in, from_vector<double>({1, 10}, {2, 1}));
    const std::vector<std::vector<double>> expected{{7, 7}, {0, 0}, {0, 0}, {0}, {11}};
    for (std::size_t i = 0; i < expected.size(); ++i) expect_values(results[i], expected[i]);
}

TEST_CASE("add_layer_norm of a tensor and itself, and of one that has a gradient already, gathers all of them") {
    const auto twice = [](const Tensor& x, const Tensor& weight) { return add_layer_norm(x, x, weight); };
    expect_grad(twice, randn({4, 6}, float64), randn({6}, float64));
    const auto used_again = [](const Tensor& x, const Tensor& update) {
        return add_layer_norm(x, update) + 2.0 * update + x * update;
    };
    expect_grad(used_again, randn({4, 6}, float64), randn({4, 6}, float64));
}

TEST_CASE("add_layer_norm agrees with PyTorch") {
    expect_golden("layer_norm", [](const Tensor& x, const Tensor& weight, const Tensor& bias) {
        return add_layer_norm(0.25 * x, 0.75 * x, weight, bias);
    });
}

TEST_CASE("add_layer_norm keeps NaN and infinity in their row") {
    const Tensor x = from_vector<double>({1, not_a_number, 3, 1, infinity, 3, 1, 2, 3}, {3, 3});
    const Tensor y = add_layer_norm(x, zeros({3, 3}, float64));
    for (Index i = 0; i < 6; ++i) REQUIRE(std::isnan(y.data<double>()[i]));
    for (Index i = 6; i < 9; ++i) REQUIRE(std::isfinite(y.data<double>()[i]));
}

TEST_CASE("add_layer_norm has the same bits on any number of threads") {
    expect_same_on_any_thread_count(fused_norm, randn({3001, 67}), randn({3001, 67}), randn({67}), randn({67}));
}

TEST_CASE("add_layer_norm names what does not fit") {
    const Tensor x = zeros({2, 3});
    REQUIRE_THROWS_WITH(add_layer_norm(x, zeros({3})),
                        "gflow::add_layer_norm: x and update must have the same shape; got x=float32 [2, 3], "
                        "update=float32 [3]");
    REQUIRE_THROWS_AS(add_layer_norm(x, zeros({2, 3}, float64)), dtype_error);
    REQUIRE_THROWS_AS(add_layer_norm(x, x, zeros({2})), shape_error);
    REQUIRE_THROWS_AS(add_layer_norm(x, x, {}, {}, -1), usage_error);
    REQUIRE_THROWS_AS(add_layer_norm(x, Tensor()), shape_error);
}
