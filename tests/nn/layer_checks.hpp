#pragma once
#include <gflow/core/random.hpp>
#include <gflow/nn/module.hpp>

#include "support/tensor_checks.hpp"

namespace gflow::test {

/// Compares the gradients of a float64 layer with central differences: of its input, if that is floating, and of every
/// parameter, which is moved in place.
template <class Layer>
void expect_layer_grad(Layer& layer, const Tensor& x) {
    Tensor leaf = clone(x);
    if (leaf.dtype() == float64) leaf.set_requires_grad();
    layer.zero_grad();
    const Tensor y = layer(leaf);
    Generator fixed(17);
    const Tensor seed = randn(y.shape(), y.dtype(), 1, fixed);
    backward(y, seed);

    const auto weighted = [&] {
        const NoGrad plain;
        const Tensor value = layer(leaf.detach());
        double total = 0;
        for (Index i = 0; i < value.numel(); ++i) total += value.data<double>()[i] * seed.data<double>()[i];
        return total;
    };
    const auto expect_slope = [&](const std::string& name, Tensor moved, const Tensor& gradient) {
        for (Index i = 0; i < moved.numel(); ++i) {
            const double before = moved.data<double>()[i], step = 1e-5;
            moved.mutable_data<double>()[i] = before + step;
            const double above = weighted();
            moved.mutable_data<double>()[i] = before - step;
            const double below = weighted();
            moved.mutable_data<double>()[i] = before;
            INFO(name << ", element " << i);
            REQUIRE(gradient.defined());
            REQUIRE(gradient.data<double>()[i] == Approx((above - below) / (2 * step)).epsilon(1e-6).margin(1e-7));
        }
    };
    if (x.dtype() == float64) expect_slope("input", leaf.detach(), leaf.grad());
    for (const auto& [name, parameter] : layer.named_parameters())
        expect_slope(name, parameter.detach(), parameter.grad());
}

}  // namespace gflow::test
