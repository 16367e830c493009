#pragma once
#include <gflow/ops/layer_norm.hpp>

namespace gflow {

/// layer_norm(x + update) in one sweep of memory, forward and backward: the end of a residual branch.
/// @param x       [..., n], float32 or float64
/// @param update  the same
/// @param weight  [n], or undefined for 1
/// @param bias    [n], or undefined for 0
/// @return        [..., n]
/// @throws        shape_error, dtype_error if they do not fit together;  usage_error unless eps ≥ 0
inline Tensor add_layer_norm(const Tensor& x, const Tensor& update, const Tensor& weight = {}, const Tensor& bias = {},
                             double eps = 1e-5) {
    const char* op = "add_layer_norm";
    detail::check_layer_norm(op, x, weight, bias, eps);
    require(update.defined() && update.shape() == x.shape(), op, "x and update must have the same shape",
            {{"x", x}, {"update", update}});
    require<dtype_error>(update.dtype() == x.dtype(), op, "dtypes must be equal", {{"x", x}, {"update", update}});
    const detail::LayerNormTensors with(x, weight, bias);
    const bool recorded = will_record({x, update, weight, bias});
    Tensor y = empty_like(x), moments = with.moments;
    Tensor sum = recorded ? empty_like(x) : y;
    visit_floating(op, x.dtype(), [&]<class T>(T) {
        kernels::add_layer_norm<T>(read_rows<T>(x), read_rows<T>(update), read<T>(with.scale), read<T>(with.shift), eps,
                                   write_rows<T>(sum), write_rows<T>(y), write_rows<T>(moments));
    });
    return record(
        op, {x, update, weight, bias}, y, {sum, with.scale, moments},
        [](const Saved& saved, const Tensor& dy, Gradients& d) { detail::layer_norm_backward(saved, dy, d, 2); });
}

}  // namespace gflow
