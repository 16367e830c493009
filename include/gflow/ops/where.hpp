#pragma once
#include <gflow/kernels/where.hpp>
#include <gflow/ops/common.hpp>
#include <gflow/ops/sum_to.hpp>

namespace gflow {

namespace detail {

inline void where_into(Tensor& y, bool accumulate, const Tensor& condition, const Tensor& a, const Tensor& b) {
    const auto shape_of = [](const Tensor& x) { return x.defined() ? x.shape() : Shape{}; };
    visit_floating("where", y.dtype(), [&]<class T>(T) {
        kernels::where<T>(kernels::BroadcastWalk<3>(y.shape(), {condition.shape(), shape_of(a), shape_of(b)}),
                          condition.data<std::uint8_t>(), a.data<T>(), b.data<T>(), y.mutable_data<T>(), accumulate);
    });
}

}  // namespace detail

/// a where condition is not 0, b elsewhere. Shapes broadcast as in add.
/// What is not chosen gets no gradient, even where it is NaN or ∞.
/// @param condition  uint8
/// @throws           shape_error, dtype_error
inline Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
    detail::require_defined("where", condition);
    detail::require_pair("where", a, b);
    require<dtype_error>(condition.dtype() == uint8, "where", "the condition must be uint8",
                         {{"condition", condition}});
    Tensor y = empty(broadcast("where", condition.shape(), broadcast("where", a.shape(), b.shape())), a.dtype());
    detail::where_into(y, false, condition, a, b);
    // da = condition ? dy : 0, db = condition ? 0 : dy, each summed over the axes that were stretched
    return record("where", {condition, a, b}, y, {condition},
                  [sa = a.shape(), sb = b.shape()](const Saved& saved, const Tensor& dy, Gradients& d) {
                      const auto give = [&](std::size_t input, const Shape& shape, const Tensor& left,
                                            const Tensor& right) {
                          if (!d.needed(input)) return;
                          if (shape == dy.shape())
                              return detail::into(d, input, [&](Tensor& dx, bool accumulate) {
                                  detail::where_into(dx, accumulate, saved[0], left, right);
                              });
                          Tensor whole = empty_like(dy);
                          detail::where_into(whole, false, saved[0], left, right);
                          d.add(input, detail::sum_to(whole, shape));
                      };
                      give(1, sa, dy, Tensor());
                      give(2, sb, Tensor(), dy);
                  });
}

}  // namespace gflow
