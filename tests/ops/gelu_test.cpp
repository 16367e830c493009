#include <gflow/ops/gelu.hpp>

#include <cmath>
#include <numbers>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

double exact(double x) { return x / 2 * std::erfc(-x / std::numbers::sqrt2); }
double exact_slope(double x) {
    return std::erfc(-x / std::numbers::sqrt2) / 2 + x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}
double with_tanh(double x) {
    return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
Tensor exact_op(const Tensor& x) { return gelu(x); }
Tensor tanh_op(const Tensor& x) { return gelu(x, Gelu::tanh); }

Tensor map(const Tensor& x, double (*f)(double)) {
    std::vector<double> y = to(x, float64).to_vector<double>();
    for (double& value : y) value = f(value);
    return from_vector(y, x.shape());
}

/// −13 … 13 in small steps, in float32.
Tensor sweep() {
    std::vector<float> x;
    for (int i = -130'000; i <= 130'000; ++i) x.push_back(static_cast<float>(i) * 1e-4F);
    return from_vector(x);
}

}  // namespace

TEST_CASE("gelu") {
    SECTION("values and gradients") {
        for (const Shape& shape : {Shape{}, {1}, {3, 5}, {2, 3, 7}, {0, 3}, {37}}) {
            const Tensor x = randn(shape, float64);
            expect_grad(exact_op, x);
            expect_grad(tanh_op, x);
            expect_value(
                exact_op, [](const Tensor& u) { return map(u, exact); }, x);
            expect_value(
                tanh_op, [](const Tensor& u) { return map(u, with_tanh); }, x);
        }
    }
    SECTION("float32: Φ is right to 2e-7, and to 1e-5 of itself on the negative side") {
        Tensor x = sweep();
        x.set_requires_grad();
        const Tensor y = gelu(x);
        backward(y, ones(y.shape()));
        const std::vector<float> xs = x.to_vector<float>(), ys = y.to_vector<float>(),
                                 slopes = x.grad().to_vector<float>();
        double worst = 0, worst_relative = 0, worst_slope = 0;
        for (std::size_t i = 0; i < xs.size(); ++i) {
            const double t = xs[i], error = std::abs(ys[i] - exact(t));
            worst = std::max(worst, error / std::max(1.0, std::abs(t)));
            if (t > -12 && t < 0) worst_relative = std::max(worst_relative, error / std::abs(exact(t)));
            worst_slope = std::max(worst_slope, std::abs(slopes[i] - exact_slope(t)));
        }
        CHECK(worst < 2e-7);
        CHECK(worst_relative < 1e-5);
        CHECK(worst_slope < 3e-7);
    }
    SECTION("NaN goes through; −∞ gives 0 and ∞ gives ∞, with slopes 0 and 1") {
        std::vector<double> x, y, slope;
        for (int repeat = 0; repeat < 7; ++repeat) {  // in vectors and beside them
            x.insert(x.end(), {not_a_number, infinity, -infinity, 0, -1000, 1000});
            y.insert(y.end(), {not_a_number, infinity, 0, 0, 0, 1000});
            slope.insert(slope.end(), {not_a_number, 1, 0, 0.5, 0, 1});
        }
        for (DType dtype : {float32, float64})
            for (auto op : {exact_op, tanh_op}) {
                Tensor leaf = to(from_vector(x), dtype);
                leaf.set_requires_grad();
                const Tensor out = op(leaf);
                backward(out, ones(out.shape(), dtype));
                expect_values(out, y, {1e-30, 0});
                expect_values(leaf.grad(), slope, {1e-6, 0});
            }
    }
    SECTION("agrees with PyTorch") {
        expect_golden("gelu", exact_op);
        expect_golden("gelu_tanh", tanh_op);
    }
    SECTION("any number of threads gives the same bits") {
        expect_same_on_any_thread_count(exact_op, randn({100'003}));
        expect_same_on_any_thread_count(tanh_op, randn({100'003}));
    }
    SECTION("integers are refused") {
        CHECK_THROWS_WITH(gelu(arange(3)), contains("gflow::gelu: float32 or float64 is needed; got x=int64 [3]"));
    }
}
