#pragma once
#include <gflow/kernels/elementwise.hpp>
#include <gflow/kernels/exp.hpp>

#include <cmath>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// A function of one number: its value; whether backward needs x or y = f(x); and dx from that (s) and dy.
/// Arguments are Eigen arrays. NaN goes through all of them, and ±∞ give the limits.
struct ExpFunction {
    static constexpr bool saves_output = true;
    static auto value(const auto& x) { return exponential(x); }
    static auto backward(const auto& s, const auto& dy) { return dy * s; }
};
struct LogFunction {
    static constexpr bool saves_output = false;
    static auto value(const auto& x) { return x.log(); }
    static auto backward(const auto& s, const auto& dy) { return dy / s; }
};
struct SqrtFunction {
    static constexpr bool saves_output = true;
    template <class X>
    static auto value(const X& x) {
        return x.unaryExpr([](typename X::Scalar v) { return std::sqrt(v); });  // Eigen's fast one has √∞ = NaN
    }
    template <class X>
    static auto backward(const X& s, const auto& dy) {
        return typename X::Scalar(0.5) * dy / s;
    }
};
/// Eigen's: at most 5 ulp off in float.
struct TanhFunction {
    static constexpr bool saves_output = true;
    static auto value(const auto& x) { return x.tanh(); }
    template <class X>
    static auto backward(const X& s, const auto& dy) {
        return dy * (typename X::Scalar(1) - s * s);
    }
};
/// At most 3 ulp off in float.
struct SigmoidFunction {
    static constexpr bool saves_output = true;
    template <class X>
    static auto value(const X& x) {
        return typename X::Scalar(1) / (typename X::Scalar(1) + exponential(-x));
    }
    template <class X>
    static auto backward(const X& s, const auto& dy) {
        return dy * s * (typename X::Scalar(1) - s);
    }
};
struct ReluFunction {
    static constexpr bool saves_output = true;
    template <class X>
    static auto value(const X& x) {
        return (x < typename X::Scalar(0)).select(typename X::Scalar(0), x);
    }
    template <class X>
    static auto backward(const X& s, const auto& dy) {
        return (s <= typename X::Scalar(0)).select(typename X::Scalar(0), dy);
    }
};

/// y = f(x).  x, y: [n].
template <class Function, class T>
void unary(Vector<const T> x, Vector<T> y) {
    elementwise(
        y, false, [](const auto& xs) { return Function::value(xs); }, x);
}

/// dx = f'(x) dy, or is added to; saved is x or y, as the function says.  All [n].
template <class Function, class T>
void unary_backward(Vector<const T> saved, Vector<const T> dy, Vector<T> dx, bool accumulate) {
    elementwise(
        dx, accumulate, [](const auto& s, const auto& dys) { return Function::backward(s, dys); }, saved, dy);
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
