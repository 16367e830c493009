#include <gflow/ops/layer_norm.hpp>

#include <cmath>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

Tensor norm(const Tensor& x, const Tensor& weight, const Tensor& bias) { return layer_norm(x, weight, bias); }

/// In long double, from the definition.
Tensor plain_layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    const Index n = x.size(-1);
    Tensor y = empty(x.shape(), float64);
    const Tensor in = to(x, float64), scale = to(weight, float64), shift = to(bias, float64);
    for (Index row = 0; n > 0 && row < x.numel() / n; ++row) {
        const double* from = in.data<double>() + row * n;
        long double mean = 0, variance = 0;
        for (Index i = 0; i < n; ++i) mean += from[i];
        mean /= static_cast<long double>(n);
        for (Index i = 0; i < n; ++i) variance += (from[i] - mean) * (from[i] - mean);
        variance /= static_cast<long double>(n);
        for (Index i = 0; i < n; ++i)
            y.mutable_data<double>()[row * n + i] = static_cast<double>(
                (from[i] - mean) / std::sqrt(variance + 1e-5L) * scale.data<double>()[i] + shift.data<double>()[i]);
    }
    return y;
}

Tensor moved_by(Tensor x, double shift) {
    for (Index i = 0; i < x.numel(); ++i) x.mutable_data<double>()[i] += shift;
    return x;
}

}  // namespace

TEST_CASE("layer_norm") {
    SECTION("values and gradients") {
        for (const Shape& shape : {Shape{3}, {1, 4}, {3, 5}, {2, 3, 7}, {4, 100}, {0, 3}, {3, 0}, {200, 33}}) {
            const Shape features{shape.back()};
            const Tensor x = randn(shape, float64), weight = randn(features, float64), bias = randn(features, float64);
            if (x.numel() <= 500) expect_grad(norm, x, weight, bias);
            expect_value(norm, plain_layer_norm, x, weight, bias);
        }
    }
    SECTION("weight and bias may be left out, singly or both") {
        const Tensor x = randn({3, 4}, float64), weight = randn({4}, float64), bias = randn({4}, float64);
        const Tensor one = ones({4}, float64), zero = zeros({4}, float64);
        expect_grad([](const Tensor& in) { return layer_norm(in); }, x);
        expect_grad([](const Tensor& in, const Tensor& w) { return layer_norm(in, w); }, x, weight);
        expect_grad([](const Tensor& in, const Tensor& b) { return layer_norm(in, {}, b); }, x, bias);
        expect_close(layer_norm(x), plain_layer_norm(x, one, zero));
        expect_close(layer_norm(x, weight), plain_layer_norm(x, weight, zero));
        expect_close(layer_norm(x, {}, bias), plain_layer_norm(x, one, bias));
    }
    SECTION("one element a row gives the bias, and no gradient but the bias's") {
        Tensor x = from_vector<double>({3, -2}, {2, 1}).set_requires_grad();
        Tensor weight = full({1}, 5, float64).set_requires_grad(), bias = full({1}, 7, float64).set_requires_grad();
        const Tensor y = layer_norm(x, weight, bias);
        backward(y, from_vector<double>({1, 10}, {2, 1}));
        expect_values(y, {7, 7});
        expect_values(x.grad(), {0, 0});
        expect_values(weight.grad(), {0});
        expect_values(bias.grad(), {11});
    }
    SECTION("a row of equal elements gives the bias") {
        const Tensor bias = from_vector<float>({1, 2, 3});
        expect_values(layer_norm(full({2, 3}, 1234.567), ones({3}), bias), {1, 2, 3, 1, 2, 3});
    }
    SECTION("a mean that is large beside the spread loses nothing, in values and gradients") {
        const Tensor weight = randn({64}), bias = randn({64});
        for (const double mean : {1e3, 1e5, 1e6, -3e6}) {
            INFO("mean " << mean);
            const Tensor x = to(moved_by(randn({7, 64}, float64, 4), mean), float32);
            expect_close(layer_norm(x, weight, bias), plain_layer_norm(x, weight, bias), {2e-6, 1e-5});
            const Tensor dy = randn({7, 64});
            const auto gradient = [&](DType dtype) {
                Tensor leaf = clone(to(x, dtype)).set_requires_grad();
                backward(layer_norm(leaf, to(weight, dtype), to(bias, dtype)), to(dy, dtype));
                return leaf.grad();
            };
            expect_close_in_norm("dx", gradient(float32), gradient(float64), 1e-5);
        }
    }
    SECTION("NaN stays in its row") {
        const double nan = std::nan("");
        const Tensor y = layer_norm(from_vector<double>({1, nan, 3, 1, 2, 3}, {2, 3}));
        expect_values(y, {nan, nan, nan, -std::sqrt(1.5), 0, std::sqrt(1.5)}, {1e-4, 0});
    }
    SECTION("any number of threads gives the same bits") {
        expect_same_on_any_thread_count(norm, randn({3001, 67}), randn({67}), randn({67}));
    }
    SECTION("agrees with PyTorch") { expect_golden("layer_norm", norm); }
    SECTION("bad input") {
        const Tensor x = zeros({2, 3});
        CHECK_THROWS_WITH(
            layer_norm(x, zeros({2})),
            "gflow::layer_norm: weight and bias must have the size of x's last axis; got x=float32 [2, 3], "
            "weight=float32 [2], bias=undefined");
        CHECK_THROWS_AS(layer_norm(x, {}, zeros({1, 3})), shape_error);
        CHECK_THROWS_WITH(layer_norm(zeros({})), "gflow::layer_norm: at least one axis is needed; got x=float32 []");
        CHECK_THROWS_WITH(layer_norm(x, zeros({3}, float64)),
                          "gflow::layer_norm: dtypes must be equal; got x=float32 [2, 3], weight=float64 [3], "
                          "bias=undefined");
        CHECK_THROWS_WITH(layer_norm(x, {}, {}, -1), "gflow::layer_norm: eps must not be negative; got eps=-1");
        CHECK_THROWS_WITH(layer_norm(arange(3)), "gflow::layer_norm: float32 or float64 is needed; got x=int64 [3]");
        CHECK_THROWS_WITH(layer_norm(Tensor()), contains("must be defined"));
    }
}
