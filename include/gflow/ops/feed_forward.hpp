#pragma once
#include <gflow/ops/gelu.hpp>
#include <gflow/ops/linear.hpp>

namespace gflow {

namespace detail {

/// h = gelu(u):             dW₂ = dyᵀ·h,  db₂ = Σ_rows dy
/// du = dy·W₂ ⊙ gelu'(u):  dW₁ = duᵀ·x,  db₁ = Σ_rows du,  dx = du·W₁
/// saved: x, W₁, W₂, u.  d: x, W₁, b₁, W₂, b₂.
inline void feed_forward_backward(const Saved& saved, const Tensor& dy, Gradients& d) {
    const Tensor& u = saved[3];
    Tensor h = empty_like(u), du = empty_like(u), unwanted = empty({u.size(-1)}, u.dtype());
    Tensor& dup_bias = d.needed(2) ? d[2] : unwanted;
    visit_floating("feed_forward", dy.dtype(), [&]<class T>(T) {
        const Matrix<const T> dys = read_rows<T>(dy);
        kernels::gemm<T>(dys, read_rows<T>(saved[2]), write_rows<T>(du));
        kernels::gelu_and_backward<T>(read_rows<T>(u), read_rows<T>(du), write_rows<T>(h), write_rows<T>(du),
                                      write<T>(dup_bias));
        linear_backward<T>(saved, 1, read_rows<T>(du), d);
        into(d, 3, [&](Tensor& dweight, bool accumulate) {
            kernels::gemm<T>(kernels::transposed(dys), read_rows<T>(h), write_rows<T>(dweight), onto(accumulate));
        });
        if (d.needed(4)) kernels::column_sums<T>(dys, write<T>(d[4]));
    });
}

}  // namespace detail

/// linear(gelu(linear(x, up_weight, up_bias)), down_weight, down_bias), the exact GELU of each tile computed while the
/// tile is in cache. Of the hidden layer, the largest tensor of a block, backward finds what goes into GELU alone, and
/// computes value and slope again in one sweep: they share a tail and a density.
/// @param x            [..., in], float32 or float64
/// @param up_weight    [hidden, in]
/// @param up_bias      [hidden], or undefined for none
/// @param down_weight  [out, hidden]
/// @param down_bias    [out], or undefined for none
/// @return             [..., out]
/// @throws             shape_error, dtype_error if they do not fit together
inline Tensor feed_forward(const Tensor& x, const Tensor& up_weight, const Tensor& up_bias, const Tensor& down_weight,
                           const Tensor& down_bias) {
    const char* op = "feed_forward";
    Tensor u = detail::linear_result(op, {x}, up_weight, up_bias);
    require(down_weight.rank() == 2 && down_weight.size(1) == up_weight.size(0), op,
            "down_weight must take what up_weight gives", {{"up_weight", up_weight}, {"down_weight", down_weight}});
    Tensor y = detail::linear_result(op, {u}, down_weight, down_bias);
    // Where nothing is kept for backward, the value of GELU takes the place of what goes into it.
    Tensor h = will_record({x, up_weight, up_bias, down_weight, down_bias}) ? empty_like(u) : u;
    visit_floating(op, y.dtype(), [&]<class T>(T) {
        const Matrix<T> hidden = write_rows<T>(h);
        detail::linear_forward<T>({x}, up_weight, up_bias, u, [&](Vector<T> part, Index row, Index col) {
            kernels::gelu<kernels::GeluExact, T>(part, {hidden[row].data() + col, part.size()});
        });
        detail::linear_forward<T>({h}, down_weight, down_bias, y, [](Vector<T>, Index, Index) {});
    });
    return record(op, {x, up_weight, up_bias, down_weight, down_bias}, y, {x, up_weight, down_weight, u},
                  detail::feed_forward_backward);
}

}  // namespace gflow
