#pragma once
#include <gflow/autograd/record.hpp>
#include <gflow/core/tensor_view.hpp>
#include <gflow/kernels/gemm.hpp>

namespace gflow {

/// y = x·Wᵀ + b over the last axis.
/// @param x       [..., in], float32 or float64
/// @param weight  [out, in], as PyTorch keeps it
/// @param bias    [out], or undefined for none
/// @return        [..., out]
/// @throws        shape_error, dtype_error if they do not fit together
inline Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}) {
    require(weight.rank() == 2 && x.rank() >= 1 && x.size(-1) == weight.size(1), "linear",
            "x must end in the weight's input size", {{"x", x}, {"weight", weight}});
    require(!bias.defined() || bias.shape() == Shape{weight.size(0)}, "linear",
            "the bias must have one value per output", {{"weight", weight}, {"bias", bias}});
    require<dtype_error>(x.dtype() == weight.dtype() && (!bias.defined() || bias.dtype() == weight.dtype()), "linear",
                         "dtypes must be equal", {{"x", x}, {"weight", weight}, {"bias", bias}});
    Shape shape = x.shape();
    shape[x.rank() - 1] = weight.size(0);
    Tensor y = empty(shape, x.dtype(), x.device());
    visit_floating("linear", x.dtype(), [&]<class T>(T) {
        const T* b = bias.data<T>();
        kernels::gemm<T>(read_rows<T>(x), kernels::transposed(read_rows<T>(weight)), write_rows<T>(y),
                         kernels::Onto::overwrite, [&](Matrix<T> tile, Index, Index col) {
                             if (b == nullptr) return;
                             const auto shift = kernels::array(b + col, tile.cols());
                             for (Index row = 0; row < tile.rows(); ++row) kernels::array(tile[row]) += shift;
                         });
    });
    return record("linear", {x, weight, bias}, y, {x, weight}, [](const Saved& saved, const Tensor& dy, Gradients& d) {
        // dx = dy·W,  dW = dyᵀ·x,  db = Σ_rows dy
        const auto onto = [](bool accumulate) { return accumulate ? kernels::Onto::add : kernels::Onto::overwrite; };
        visit_floating("linear", dy.dtype(), [&]<class T>(T) {
            if (d.needed(0)) {
                auto [dx, accumulate] = d.target(0);
                kernels::gemm<T>(read_rows<T>(dy), read_rows<T>(saved[1]), write_rows<T>(dx), onto(accumulate));
            }
            if (d.needed(1)) {
                auto [dw, accumulate] = d.target(1);
                kernels::gemm<T>(kernels::transposed(read_rows<T>(dy)), read_rows<T>(saved[0]), write_rows<T>(dw),
                                 onto(accumulate));
            }
            if (d.needed(2)) kernels::add_column_sums(read_rows<T>(dy), write<T>(d[2]));
        });
    });
}

}  // namespace gflow
