#pragma once
#include <gflow/kernels/broadcast.hpp>
#include <gflow/ops/common.hpp>
#include <gflow/ops/sum_to.hpp>

namespace gflow {

namespace detail {

/// y = f(a, b), or y += f(a, b), with a and b stretched to y's shape. f turns Eigen arrays into an array expression.
template <class F>
void broadcast_into(Tensor& y, bool accumulate, const Tensor& a, const Tensor& b, F f) {
    visit_floating("broadcast", y.dtype(), [&]<class T>(T) {
        kernels::broadcast<T>(kernels::BroadcastWalk<2>(y.shape(), {a.shape(), b.shape()}), a.data<T>(), b.data<T>(),
                              y.mutable_data<T>(), accumulate, f);
    });
}

template <class F>
Tensor broadcast_value(const char* op, const Tensor& a, const Tensor& b, F f) {
    require_pair(op, a, b);
    Tensor y = empty(broadcast(op, a.shape(), b.shape()), a.dtype(), a.device());
    broadcast_into(y, false, a, b, f);
    return y;
}

/// Adds f(a, b), which has y's shape, to the gradient of an input that was stretched from `shape` to that.
template <class F>
void broadcast_gradient(Gradients& d, std::size_t input, const Shape& shape, const Shape& y, const Tensor& a,
                        const Tensor& b, F f) {
    if (shape == y)
        return into(d, input, [&](Tensor& dx, bool accumulate) { broadcast_into(dx, accumulate, a, b, f); });
    if (!d.needed(input)) return;
    Tensor whole = empty(y, a.dtype(), a.device());
    broadcast_into(whole, false, a, b, f);
    d.add(input, sum_to(whole, shape));
}

/// y = f(x) for an f with a constant in it;  dx = g(dy, s), where s is what is saved (x, y or dy itself).
template <class F, class G>
Tensor with_constant(const char* op, const Tensor& x, F f, bool saves_both, G g) {
    require_floating(op, x);
    Tensor y = empty_like(x);
    visit_floating(op, x.dtype(), [&]<class T>(T) { kernels::elementwise(write<T>(y), false, f, read<T>(x)); });
    std::vector<Tensor> saved;
    if (saves_both) saved = {x, y};
    return record(op, {x}, y, saved, [g, saves_both](const Saved& kept, const Tensor& dy, Gradients& d) {
        into(d, 0, [&](Tensor& dx, bool accumulate) {
            visit_floating("constant", dy.dtype(), [&]<class T>(T) {
                const auto dys = read<T>(dy);
                kernels::elementwise(write<T>(dx), accumulate, g, dys, saves_both ? read<T>(kept[0]) : dys,
                                     saves_both ? read<T>(kept[1]) : dys);
            });
        });
    });
}

template <class X>
using ScalarOf = typename std::remove_cvref_t<X>::Scalar;

}  // namespace detail

/// a + b. Shapes broadcast as in NumPy: aligned at the last axis, a size of 1 (or a missing axis) stretches.
/// @throws shape_error if they do not broadcast, dtype_error unless both are float32 or both float64
inline Tensor add(const Tensor& a, const Tensor& b) {
    Tensor y = detail::broadcast_value("add", a, b, [](const auto& u, const auto& v) { return u + v; });
    // da = dy, db = dy, each summed over the axes that were stretched
    return record("add", {a, b}, y, {}, [sa = a.shape(), sb = b.shape()](const Saved&, const Tensor& dy, Gradients& d) {
        if (d.needed(0)) d.add(0, detail::sum_to(dy, sa));
        if (d.needed(1)) d.add(1, detail::sum_to(dy, sb));
    });
}

/// a − b, broadcast as in add.
inline Tensor sub(const Tensor& a, const Tensor& b) {
    Tensor y = detail::broadcast_value("sub", a, b, [](const auto& u, const auto& v) { return u - v; });
    // da = dy, db = −dy
    return record("sub", {a, b}, y, {}, [sa = a.shape(), sb = b.shape()](const Saved&, const Tensor& dy, Gradients& d) {
        if (d.needed(0)) d.add(0, detail::sum_to(dy, sa));
        if (!d.needed(1)) return;
        const Tensor sum = detail::sum_to(dy, sb);
        detail::into(d, 1, [&](Tensor& db, bool accumulate) {
            visit_floating("sub", dy.dtype(), [&]<class T>(T) {
                kernels::elementwise(
                    write<T>(db), accumulate, [](const auto& v) { return -v; }, read<T>(sum));
            });
        });
    });
}

/// a ⊙ b, broadcast as in add.
inline Tensor mul(const Tensor& a, const Tensor& b) {
    const auto product = [](const auto& u, const auto& v) { return u * v; };
    Tensor y = detail::broadcast_value("mul", a, b, product);
    // da = dy ⊙ b, db = dy ⊙ a
    std::vector<Tensor> saved{b.requires_grad() ? a : Tensor(), a.requires_grad() ? b : Tensor()};
    return record("mul", {a, b}, y, std::move(saved),
                  [product, sa = a.shape(), sb = b.shape()](const Saved& kept, const Tensor& dy, Gradients& d) {
                      if (d.needed(0)) detail::broadcast_gradient(d, 0, sa, dy.shape(), dy, kept[1], product);
                      if (d.needed(1)) detail::broadcast_gradient(d, 1, sb, dy.shape(), dy, kept[0], product);
                  });
}

/// a / b, broadcast as in add.
inline Tensor div(const Tensor& a, const Tensor& b) {
    const auto quotient = [](const auto& u, const auto& v) { return u / v; };
    Tensor y = detail::broadcast_value("div", a, b, quotient);
    // da = dy / b, db = −dy ⊙ y / b
    return record(
        "div", {a, b}, y, {b, b.requires_grad() ? y : Tensor()},
        [quotient, sa = a.shape(), sb = b.shape()](const Saved& kept, const Tensor& dy, Gradients& d) {
            const Tensor &divisor = kept[0], &result = kept[1];
            if (d.needed(0)) detail::broadcast_gradient(d, 0, sa, dy.shape(), dy, divisor, quotient);
            if (!d.needed(1)) return;
            Tensor product = empty_like(dy);
            detail::broadcast_into(product, false, dy, result, [](const auto& u, const auto& v) { return u * v; });
            // b is constant along the axes that were stretched, so they are summed first.
            const Tensor sum = detail::sum_to(product, sb);
            detail::broadcast_gradient(d, 1, sb, sb, sum, divisor, [](const auto& u, const auto& v) { return -u / v; });
        });
}

inline Tensor neg(const Tensor& x) {
    return detail::with_constant(
        "neg", x, [](const auto& u) { return -u; }, false,
        [](const auto& dy, const auto&, const auto&) { return -dy; });
}

/// x + c for every element; c is converted to x's dtype.
inline Tensor add(const Tensor& x, double c) {
    return detail::with_constant(
        "add", x, [c](const auto& u) { return u + static_cast<detail::ScalarOf<decltype(u)>>(c); }, false,
        [](const auto& dy, const auto&, const auto&) { return dy; });
}
inline Tensor add(double c, const Tensor& x) { return add(x, c); }

inline Tensor sub(const Tensor& x, double c) {
    return detail::with_constant(
        "sub", x, [c](const auto& u) { return u - static_cast<detail::ScalarOf<decltype(u)>>(c); }, false,
        [](const auto& dy, const auto&, const auto&) { return dy; });
}
inline Tensor sub(double c, const Tensor& x) {
    return detail::with_constant(
        "sub", x, [c](const auto& u) { return static_cast<detail::ScalarOf<decltype(u)>>(c) - u; }, false,
        [](const auto& dy, const auto&, const auto&) { return -dy; });
}

inline Tensor mul(const Tensor& x, double c) {
    return detail::with_constant(
        "mul", x, [c](const auto& u) { return u * static_cast<detail::ScalarOf<decltype(u)>>(c); }, false,
        [c](const auto& dy, const auto&, const auto&) { return dy * static_cast<detail::ScalarOf<decltype(dy)>>(c); });
}
inline Tensor mul(double c, const Tensor& x) { return mul(x, c); }

inline Tensor div(const Tensor& x, double c) {
    return detail::with_constant(
        "div", x, [c](const auto& u) { return u / static_cast<detail::ScalarOf<decltype(u)>>(c); }, false,
        [c](const auto& dy, const auto&, const auto&) { return dy / static_cast<detail::ScalarOf<decltype(dy)>>(c); });
}
/// c / x:  dx = −dy ⊙ y / x
inline Tensor div(double c, const Tensor& x) {
    return detail::with_constant(
        "div", x, [c](const auto& u) { return static_cast<detail::ScalarOf<decltype(u)>>(c) / u; }, true,
        [](const auto& dy, const auto& u, const auto& y) { return -dy * y / u; });
}

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator+(const Tensor& x, double c) { return add(x, c); }
inline Tensor operator-(const Tensor& x, double c) { return sub(x, c); }
inline Tensor operator*(const Tensor& x, double c) { return mul(x, c); }
inline Tensor operator/(const Tensor& x, double c) { return div(x, c); }
inline Tensor operator+(double c, const Tensor& x) { return add(c, x); }
inline Tensor operator-(double c, const Tensor& x) { return sub(c, x); }
inline Tensor operator*(double c, const Tensor& x) { return mul(c, x); }
inline Tensor operator/(double c, const Tensor& x) { return div(c, x); }
inline Tensor operator-(const Tensor& x) { return neg(x); }

}  // namespace gflow
