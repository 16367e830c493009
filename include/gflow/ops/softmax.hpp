#pragma once
#include <gflow/kernels/softmax.hpp>
#include <gflow/ops/common.hpp>

namespace gflow {

/// Softmax over the last axis.
/// @param x  [..., n], float32 or float64
/// @return   [..., n]; rows sum to 1, or are 0 where x is −inf throughout (and pass no gradient on); NaN in a row makes
///           the row NaN
/// @throws   shape_error if x has no axis;  dtype_error if it is not floating
inline Tensor softmax(const Tensor& x) {
    detail::require_floating("softmax", x);
    require(x.rank() >= 1, "softmax", "at least one axis is needed", {{"x", x}});
    Tensor y = empty_like(x);
    visit_floating("softmax", x.dtype(), [&]<class T>(T) { kernels::softmax<T>(read_rows<T>(x), write_rows<T>(y)); });
    return record("softmax", {x}, y, {y}, [](const Saved& saved, const Tensor& dy, Gradients& d) {
        // dx = y ⊙ (dy − ⟨y, dy⟩)
        detail::into(d, 0, [&](Tensor& dx, bool accumulate) {
            visit_floating("softmax", dy.dtype(), [&]<class T>(T) {
                kernels::softmax_backward<T>(read_rows<T>(saved[0]), read_rows<T>(dy), write_rows<T>(dx), accumulate);
            });
        });
    });
}

/// The logarithm of softmax over the last axis, without its loss of digits.
/// @param x  [..., n], float32 or float64
/// @return   [..., n]; a row that is −inf throughout stays −inf and passes no gradient on (softmax gives 0 there)
/// @throws   shape_error if x has no axis;  dtype_error if it is not floating
inline Tensor log_softmax(const Tensor& x) {
    detail::require_floating("log_softmax", x);
    require(x.rank() >= 1, "log_softmax", "at least one axis is needed", {{"x", x}});
    Tensor y = empty_like(x);
    visit_floating("log_softmax", x.dtype(),
                   [&]<class T>(T) { kernels::log_softmax<T>(read_rows<T>(x), write_rows<T>(y)); });
    return record("log_softmax", {x}, y, {y}, [](const Saved& saved, const Tensor& dy, Gradients& d) {
        // dx = dy − exp(y) Σ dy
        detail::into(d, 0, [&](Tensor& dx, bool accumulate) {
            visit_floating("log_softmax", dy.dtype(), [&]<class T>(T) {
                kernels::log_softmax_backward<T>(read_rows<T>(saved[0]), read_rows<T>(dy), write_rows<T>(dx),
                                                 accumulate);
            });
        });
    });
}

}  // namespace gflow
