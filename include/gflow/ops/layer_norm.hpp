#pragma once
#include <gflow/kernels/layer_norm.hpp>
#include <gflow/ops/common.hpp>

namespace gflow {

namespace detail {

inline void check_layer_norm(const char* op, const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
    require_floating(op, x);
    require(x.rank() >= 1, op, "at least one axis is needed", {{"x", x}});
    const Shape features{x.size(-1)};
    require((!weight.defined() || weight.shape() == features) && (!bias.defined() || bias.shape() == features), op,
            "weight and bias must have the size of x's last axis", {{"x", x}, {"weight", weight}, {"bias", bias}});
    require<dtype_error>(
        (!weight.defined() || weight.dtype() == x.dtype()) && (!bias.defined() || bias.dtype() == x.dtype()), op,
        "dtypes must be equal", {{"x", x}, {"weight", weight}, {"bias", bias}});
    require<usage_error>(eps >= 0, op, "eps must not be negative", {{"eps", eps}});
}

/// What a layer norm computes with: weight and bias where they are given, and room for the moments of each row.
struct LayerNormTensors {
    Tensor scale, shift, moments;

    LayerNormTensors(const Tensor& x, const Tensor& weight, const Tensor& bias)
        : scale(weight.defined() ? weight : ones({x.size(-1)}, x.dtype())),
          shift(bias.defined() ? bias : zeros({x.size(-1)}, x.dtype())),
          moments(empty({x.size(-1) > 0 ? x.numel() / x.size(-1) : 0, 3}, x.dtype())) {}
};

/// Of an op whose inputs are the summands of x, weight and bias.  saved: x, weight, moments.
inline void layer_norm_backward(const Saved& saved, const Tensor& dy, Gradients& d, std::size_t summands) {
    // q = dy ⊙ weight:  dx = rstd (q − mean(q) − x̂ mean(q ⊙ x̂)),  dweight = Σ dy ⊙ x̂,  dbias = Σ dy
    Tensor none;
    Tensor& dweight = d.needed(summands) ? d[summands] : none;
    Tensor& dbias = d.needed(summands + 1) ? d[summands + 1] : none;
    visit_floating("layer_norm", dy.dtype(), [&]<class T>(T) {
        std::array<kernels::SummandGradient<T>, 2> dx;
        for (std::size_t i = 0; i < summands; ++i) {
            if (!d.needed(i)) continue;
            const auto target = d.target(i);
            dx[i] = {write_rows<T>(target.first), target.second};
        }
        kernels::layer_norm_backward<T>(read_rows<T>(saved[0]), read<T>(saved[1]), read_rows<T>(saved[2]),
                                        read_rows<T>(dy), dx, write<T>(dweight), write<T>(dbias));
    });
}

}  // namespace detail

/// Layer normalisation over the last axis (Ba et al., arXiv 1607.06450): y = (x − mean)/√(variance + eps) ⊙ weight +
/// bias, with the variance divided by n, as PyTorch has it. Right also where the mean is large beside the spread.
/// @param x       [..., n], float32 or float64
/// @param weight  [n], or undefined for 1
/// @param bias    [n], or undefined for 0
/// @return        [..., n]
/// @throws        shape_error, dtype_error if they do not fit together;  usage_error unless eps ≥ 0
inline Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5) {
    detail::check_layer_norm("layer_norm", x, weight, bias, eps);
    const detail::LayerNormTensors with(x, weight, bias);
    Tensor y = empty_like(x), moments = with.moments;
    visit_floating("layer_norm", x.dtype(), [&]<class T>(T) {
        kernels::layer_norm<T>(read_rows<T>(x), read<T>(with.scale), read<T>(with.shift), eps, write_rows<T>(y),
                               write_rows<T>(moments));
    });
    return record(
        "layer_norm", {x, weight, bias}, y, {x, with.scale, moments},
        [](const Saved& saved, const Tensor& dy, Gradients& d) { detail::layer_norm_backward(saved, dy, d, 1); });
}

}  // namespace gflow
