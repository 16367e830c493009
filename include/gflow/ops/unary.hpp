#pragma once
#include <gflow/kernels/unary.hpp>
#include <gflow/ops/common.hpp>

namespace gflow {

namespace detail {

/// y = f(x) for one of the functions of kernels/unary.hpp, which tells its derivative and what that needs.
template <class Function>
Tensor unary(const char* op, const Tensor& x) {
    require_floating(op, x);
    Tensor y = empty_like(x);
    visit_floating(op, x.dtype(), [&]<class T>(T) { kernels::unary<Function, T>(read<T>(x), write<T>(y)); });
    return record(op, {x}, y, {Function::saves_output ? y : x}, [](const Saved& saved, const Tensor& dy, Gradients& d) {
        into(d, 0, [&](Tensor& dx, bool accumulate) {
            visit_floating("unary", dy.dtype(), [&]<class T>(T) {
                kernels::unary_backward<Function, T>(read<T>(saved[0]), read<T>(dy), write<T>(dx), accumulate);
            });
        });
    });
}

}  // namespace detail

/// eˣ, element by element.  dx = y dy
inline Tensor exp(const Tensor& x) { return detail::unary<kernels::ExpFunction>("exp", x); }

/// The natural logarithm; −∞ at 0, NaN below.  dx = dy/x
inline Tensor log(const Tensor& x) { return detail::unary<kernels::LogFunction>("log", x); }

/// √x; NaN below 0.  dx = dy/(2y)
inline Tensor sqrt(const Tensor& x) { return detail::unary<kernels::SqrtFunction>("sqrt", x); }

/// dx = (1 − y²) dy
inline Tensor tanh(const Tensor& x) { return detail::unary<kernels::TanhFunction>("tanh", x); }

/// 1/(1 + e⁻ˣ).  dx = y(1 − y) dy
inline Tensor sigmoid(const Tensor& x) { return detail::unary<kernels::SigmoidFunction>("sigmoid", x); }

/// max(x, 0).  dx = dy where x > 0, else 0
inline Tensor relu(const Tensor& x) { return detail::unary<kernels::ReluFunction>("relu", x); }

}  // namespace gflow
