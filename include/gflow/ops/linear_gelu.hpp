#pragma once
#include <gflow/ops/gelu.hpp>
#include <gflow/ops/linear.hpp>

namespace gflow {

/// gelu(linear(x, weight, bias)), with the exact GELU of each tile computed while the tile is in cache. For backward
/// its slope is kept in the place of what goes into it: value and slope share a tail and a density, and dx needs no
/// other function but a product.
/// @param x       [..., in], float32 or float64
/// @param weight  [out, in]
/// @param bias    [out], or undefined for none
/// @return        [..., out]
/// @throws        shape_error, dtype_error if they do not fit together
inline Tensor linear_gelu(const Tensor& x, const Tensor& weight, const Tensor& bias = {}) {
    Tensor y = detail::linear_result("linear_gelu", {x}, weight, bias);
    // First u = x·Wᵀ + b, then gelu'(u); where nothing is kept for backward, y itself, in which the value comes last.
    Tensor slope = will_record({x, weight, bias}) ? empty_like(y) : y;
    visit_floating("linear_gelu", y.dtype(), [&]<class T>(T) {
        const Matrix<T> out = write_rows<T>(y);
        detail::linear_forward<T>({x}, weight, bias, slope, [&](Vector<T> u, Index row, Index col) {
            kernels::gelu_with_slope<T>(u, {out[row].data() + col, u.size()});
        });
    });
    return record("linear_gelu", {x, weight, bias}, y, {x, weight, slope},
                  [](const Saved& saved, const Tensor& dy, Gradients& d) {
                      // du = dy ⊙ gelu'(u):  dx = du·W,  dW = duᵀ·x,  db = Σ_rows du
                      Tensor du = detail::in_place_of(dy), unwanted = empty({dy.size(-1)}, dy.dtype());
                      Tensor& dbias = d.needed(2) ? d[2] : unwanted;
                      visit_floating("linear_gelu", dy.dtype(), [&]<class T>(T) {
                          kernels::multiply_and_column_sums<T>(read_rows<T>(dy), read_rows<T>(saved[2]),
                                                               write_rows<T>(du), write<T>(dbias));
                          detail::linear_backward<T>(saved, 1, read_rows<T>(du), d);
                      });
                  });
}

}  // namespace gflow
