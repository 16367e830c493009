#pragma once
#include <gflow/kernels/column_sums.hpp>
#include <gflow/kernels/gemm.hpp>
#include <gflow/ops/common.hpp>

#include <vector>

namespace gflow {

namespace detail {

/// Inputs whose last axes count as standing side by side, x = [x₀ x₁ …], meet the weight piece by piece:
/// x·Wᵀ = Σ x_i·W_iᵀ, where W_i are the columns of W that x_i meets. Nothing is copied together.
using LinearInputs = std::vector<Tensor>;

/// The memory for x·Wᵀ + b. @throws shape_error, dtype_error if x, W and b do not fit together
inline Tensor linear_result(const char* op, const LinearInputs& inputs, const Tensor& weight, const Tensor& bias) {
    require(!inputs.empty(), op, "at least one input is needed", {{"weight", weight}});
    const Tensor& first = inputs[0];
    require(weight.rank() == 2 && first.rank() >= 1, op, "x must end in the weight's input size",
            {{"x", first}, {"weight", weight}});
    Shape shape = first.shape();
    Index size = 0;
    for (const Tensor& x : inputs) {
        shape[first.rank() - 1] = x.rank() == first.rank() ? x.size(-1) : 0;
        require(x.shape() == shape, op, "inputs must agree in all axes but the last", {{"x", first}, {"other", x}});
        require<dtype_error>(x.dtype() == weight.dtype() && (!bias.defined() || bias.dtype() == weight.dtype()), op,
                             "dtypes must be equal", {{"x", x}, {"weight", weight}, {"bias", bias}});
        size += x.size(-1);
    }
    require(size == weight.size(1), op, "x must end in the weight's input size", {{"x", first}, {"weight", weight}});
    require(!bias.defined() || bias.shape() == Shape{weight.size(0)}, op, "the bias must have one value per output",
            {{"weight", weight}, {"bias", bias}});
    shape[first.rank() - 1] = weight.size(0);
    return empty(shape, weight.dtype(), weight.device());
}

/// y = x·Wᵀ + b, and finish(part of a row of y, the row, the part's first column) for each row of a tile of y while the
/// tile is in cache.
template <class T, class Finish>
void linear_forward(const LinearInputs& inputs, const Tensor& weight, const Tensor& bias, Tensor& y, Finish finish) {
    const auto finish_tile = [&](Matrix<T> tile, Index row, Index col) {
        for (Index i = 0; i < tile.rows(); ++i) {
            if (bias.defined()) kernels::array(tile[i]) += kernels::array(bias.data<T>() + col, tile.cols());
            finish(tile[i], row + i, col);
        }
    };
    const Matrix<T> out = write_rows<T>(y);
    Index begin = 0;
    for (const Tensor& x : inputs) {
        const Index end = begin + x.size(-1);
        const auto w = kernels::transposed(read_rows<T>(weight).col_range(begin, end));
        const auto onto = begin == 0 ? kernels::Onto::overwrite : kernels::Onto::add;
        if (&x == &inputs.back())
            kernels::gemm<T>(read_rows<T>(x), w, out, onto, finish_tile);
        else
            kernels::gemm<T>(read_rows<T>(x), w, out, onto);
        begin = end;
    }
}

/// What a product does with the gradient that it is written to.
inline kernels::Onto onto(bool accumulate) { return accumulate ? kernels::Onto::add : kernels::Onto::overwrite; }

/// dx_i = dy·W_i,  dW_i = dyᵀ·x_i.  saved and d: the inputs, then the weight.
template <class T>
void linear_backward(const Saved& saved, std::size_t inputs, Matrix<const T> dy, Gradients& d) {
    Index begin = 0;
    for (std::size_t i = 0; i < inputs; ++i) {
        const Index end = begin + saved[i].size(-1);
        const auto w = read_rows<T>(saved[inputs]).col_range(begin, end);
        into(d, i, [&](Tensor& dx, bool accumulate) { kernels::gemm<T>(dy, w, write_rows<T>(dx), onto(accumulate)); });
        begin = end;
    }
    into(d, inputs, [&](Tensor& dweight, bool accumulate) {
        Index first = 0;
        for (std::size_t i = 0; i < inputs; ++i) {
            const Matrix<const T> x = read_rows<T>(saved[i]);
            kernels::gemm<T>(kernels::transposed(dy), x, write_rows<T>(dweight).col_range(first, first + x.cols()),
                             onto(accumulate));
            first += x.cols();
        }
    });
}

/// The inputs, followed by others.
inline std::vector<Tensor> followed_by(LinearInputs inputs, std::initializer_list<Tensor> others) {
    inputs.insert(inputs.end(), others);
    return inputs;
}

}  // namespace detail

/// y = [x₀ x₁ …]·Wᵀ + b over the last axis: a linear layer of several inputs side by side, as of their concat, but
/// without that copy.
/// @param inputs  [..., in_i], float32 or float64, alike in all other axes
/// @param weight  [out, Σ in_i], as PyTorch keeps it
/// @param bias    [out], or undefined for none
/// @return        [..., out]
/// @throws        shape_error, dtype_error if they do not fit together
inline Tensor linear(const std::vector<Tensor>& inputs, const Tensor& weight, const Tensor& bias = {}) {
    Tensor y = detail::linear_result("linear", inputs, weight, bias);
    visit_floating("linear", y.dtype(), [&]<class T>(T) {
        detail::linear_forward<T>(inputs, weight, bias, y, [](Vector<T>, Index, Index) {});
    });
    return record("linear", detail::followed_by(inputs, {weight, bias}), y, detail::followed_by(inputs, {weight}),
                  [count = inputs.size()](const Saved& saved, const Tensor& dy, Gradients& d) {
                      // dx = dy·W,  dW = dyᵀ·x,  db = Σ_rows dy
                      visit_floating("linear", dy.dtype(), [&]<class T>(T) {
                          const Matrix<const T> rows = read_rows<T>(dy);
                          detail::linear_backward<T>(saved, count, rows, d);
                          if (d.needed(count + 1)) kernels::column_sums<T>(rows, write<T>(d[count + 1]));
                      });
                  });
}

/// y = x·Wᵀ + b over the last axis.
/// @param x       [..., in], float32 or float64
/// @param weight  [out, in], as PyTorch keeps it
/// @param bias    [out], or undefined for none
/// @return        [..., out]
/// @throws        shape_error, dtype_error if they do not fit together
inline Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}) {
    return linear(std::vector<Tensor>{x}, weight, bias);
}

}  // namespace gflow
