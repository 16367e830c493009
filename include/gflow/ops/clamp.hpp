#pragma once
#include <gflow/kernels/elementwise.hpp>
#include <gflow/ops/common.hpp>

namespace gflow {

/// x, but at least low and at most high, element by element; NaN stays NaN.  dx = dy where low ≤ x ≤ high, else 0
/// @throws usage_error unless low ≤ high
inline Tensor clamp(const Tensor& x, double low, double high) {
    detail::require_floating("clamp", x);
    require<usage_error>(low <= high, "clamp", "low must not exceed high", {{"low", low}, {"high", high}});
    Tensor y = empty_like(x);
    visit_floating("clamp", x.dtype(), [&]<class T>(T) {
        const T floor = static_cast<T>(low), ceiling = static_cast<T>(high);
        kernels::elementwise(
            write<T>(y), false,
            [=](const auto& u) {
                return u.unaryExpr([=](T v) { return v < floor ? floor : v > ceiling ? ceiling : v; });
            },
            read<T>(x));
    });
    return record("clamp", {x}, y, {x}, [low, high](const Saved& saved, const Tensor& dy, Gradients& d) {
        detail::into(d, 0, [&](Tensor& dx, bool accumulate) {
            visit_floating("clamp", dy.dtype(), [&]<class T>(T) {
                const T floor = static_cast<T>(low), ceiling = static_cast<T>(high);
                kernels::elementwise(
                    write<T>(dx), accumulate,
                    [=](const auto& u, const auto& dys) { return (u < floor || u > ceiling).select(T(0), dys); },
                    read<T>(saved[0]), read<T>(dy));
            });
        });
    });
}

}  // namespace gflow
