#pragma once
#include <gflow/kernels/gelu.hpp>
#include <gflow/ops/common.hpp>

namespace gflow {

/// Which formula gelu uses.
enum class Gelu {
    exact,  ///< x·Φ(x)
    tanh,   ///< ½x(1 + tanh(√(2/π)(x + 0.044715 x³))), as in GPT-2
};

/// The Gaussian error linear unit (Hendrycks and Gimpel, arXiv 1606.08415), element by element.
/// @param x  float32 or float64
/// @return   like x; 0 at −∞, ∞ at ∞
inline Tensor gelu(const Tensor& x, Gelu formula = Gelu::exact) {
    detail::require_floating("gelu", x);
    Tensor y = empty_like(x);
    visit_floating("gelu", x.dtype(), [&]<class T>(T) {
        if (formula == Gelu::exact)
            kernels::gelu<kernels::GeluExact, T>(read<T>(x), write<T>(y));
        else
            kernels::gelu<kernels::GeluTanh, T>(read<T>(x), write<T>(y));
    });
    // exact: dx = (Φ(x) + x·φ(x)) dy
    return record("gelu", {x}, y, {x}, [formula](const Saved& saved, const Tensor& dy, Gradients& d) {
        detail::into(d, 0, [&](Tensor& dx, bool accumulate) {
            visit_floating("gelu", dy.dtype(), [&]<class T>(T) {
                const auto xs = read<T>(saved[0]), dys = read<T>(dy);
                if (formula == Gelu::exact)
                    kernels::gelu_backward<kernels::GeluExactSlope, T>(xs, dys, write<T>(dx), accumulate);
                else
                    kernels::gelu_backward<kernels::GeluTanhSlope, T>(xs, dys, write<T>(dx), accumulate);
            });
        });
    });
}

}  // namespace gflow
