#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/blend.hpp>

#include <cmath>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

/// Gradient of a sum of blends in the gate, computed with the stack so many bytes lower.
[[gnu::noinline]] Tensor gate_gradient(const Tensor& gate, const Tensor& h, const Tensor& g, std::size_t bytes) {
    auto* gap = static_cast<volatile char*>(__builtin_alloca(bytes));
    gap[0] = 0;
    Tensor a = clone(gate).set_requires_grad();
    backward(blend(a, h, g), h);
    return a.grad();
}

}  // namespace

TEST_CASE("blend") {
    SECTION("values and gradients") {
        for (const Shape& shape : {Shape{}, {1}, {3, 5}, {2, 3, 7}, {0, 3}, {1500}}) {
            const Tensor a = randn(shape, float64, 2), h = randn(shape, float64), g = randn(shape, float64);
            if (a.numel() < 100) expect_grad(blend, a, h, g);
            expect_value(
                blend,
                [](const Tensor& gate, const Tensor& one, const Tensor& other) {
                    Tensor y = empty_like(gate);
                    for (Index i = 0; i < y.numel(); ++i) {
                        const double alpha = 1 / (1 + std::exp(-gate.data<double>()[i]));
                        y.mutable_data<double>()[i] =
                            alpha * one.data<double>()[i] + (1 - alpha) * other.data<double>()[i];
                    }
                    return y;
                },
                a, h, g);
        }
    }
    SECTION("tensors in several places gather all their gradients") {
        const Tensor a = randn({600}, float64), h = randn({600}, float64);
        const auto gradient_of = [&](auto f) {
            Tensor x = clone(h).set_requires_grad();
            backward(f(x), ones({600}, float64));
            return x.grad();
        };
        // α h + (1−α) h = h
        expect_close(gradient_of([&](const Tensor& x) { return blend(a, x, x); }), ones({600}, float64));
        expect_grad([](const Tensor& x, const Tensor& y) { return blend(x, y, y); }, randn({5}, float64),
                    randn({5}, float64));
        expect_grad([](const Tensor& x, const Tensor& y) { return blend(x, x, y); }, randn({5}, float64),
                    randn({5}, float64));
        expect_grad([](const Tensor& x, const Tensor& y) { return blend(x, y, x); }, randn({5}, float64),
                    randn({5}, float64));
    }
    SECTION("a gate that is wide open or shut passes one side alone, in vectors and beside them") {
        std::vector<double> gates, expected;
        for (int repeat = 0; repeat < 9; ++repeat) {
            gates.insert(gates.end(), {infinity, -infinity, 1000, -1000});
            expected.insert(expected.end(), {3, 1e30, 3, 1e30});
        }
        // α is exactly 0 where the gate is shut; 1 − α where it is open
        for (const DType dtype : {float32, float64})
            expect_values(blend(to(from_vector(gates), dtype), full({36}, 3, dtype), full({36}, 1e30, dtype)), expected,
                          {0, 1e-6});
    }
    SECTION("small gates keep their digits") {
        const Tensor y = blend(full({40}, -20), ones({40}), zeros({40}));
        expect_values(y, std::vector<double>(40, 1 / (1 + std::exp(20.0))), {0, 1e-6});
    }
    SECTION("NaN in any place stays visible") {
        const Tensor nan = full({20}, std::nan("")), one = ones({20});
        for (const Tensor& y : {blend(nan, one, one), blend(one, nan, one), blend(one, one, nan)})
            for (const float value : y.to_vector<float>()) CHECK(std::isnan(value));
    }
    SECTION("any number of threads gives the same bits") {
        expect_same_on_any_thread_count(blend, randn({100'003}), randn({100'003}), randn({100'003}));
    }
    SECTION("the bits do not depend on where the stack lies") {
        const Tensor a = randn({1000}), h = randn({1000}), g = randn({1000});
        const std::vector<float> expected = gate_gradient(a, h, g, 16).to_vector<float>();
        for (const std::size_t bytes : {32U, 48U, 64U, 80U})
            CHECK(gate_gradient(a, h, g, bytes).to_vector<float>() == expected);
    }
    SECTION("agrees with PyTorch") { expect_golden("blend", blend); }
    SECTION("bad input") {
        const Tensor x = zeros({2, 3});
        CHECK_THROWS_WITH(blend(x, x, zeros({3})),
                          "gflow::blend: shapes must be equal; got gate_logits=float32 [2, 3], h=float32 [2, 3], "
                          "g=float32 [3]");
        CHECK_THROWS_WITH(blend(x, zeros({2, 3}, float64), x),
                          "gflow::blend: dtypes must be equal; got gate_logits=float32 [2, 3], h=float64 [2, 3], "
                          "g=float32 [2, 3]");
        CHECK_THROWS_WITH(blend(arange(3), x, x), contains("gflow::blend: float32 or float64 is needed"));
        CHECK_THROWS_WITH(blend(x, Tensor(), x), contains("must be defined"));
    }
}
