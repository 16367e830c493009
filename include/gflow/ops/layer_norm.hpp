#pragma once
#include <gflow/kernels/layer_norm.hpp>
#include <gflow/ops/common.hpp>

namespace gflow {

/// Layer normalisation over the last axis (Ba et al., arXiv 1607.06450): y = (x − mean)/√(variance + eps) ⊙ weight +
/// bias, with the variance divided by n, as PyTorch has it. Right also where the mean is large beside the spread.
/// @param x       [..., n], float32 or float64
/// @param weight  [n], or undefined for 1
/// @param bias    [n], or undefined for 0
/// @return        [..., n]
/// @throws        shape_error, dtype_error if they do not fit together;  usage_error unless eps ≥ 0
inline Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5) {
    detail::require_floating("layer_norm", x);
    require(x.rank() >= 1, "layer_norm", "at least one axis is needed", {{"x", x}});
    const Shape features{x.size(-1)};
    require((!weight.defined() || weight.shape() == features) && (!bias.defined() || bias.shape() == features),
            "layer_norm", "weight and bias must have the size of x's last axis",
            {{"x", x}, {"weight", weight}, {"bias", bias}});
    require<dtype_error>(
        (!weight.defined() || weight.dtype() == x.dtype()) && (!bias.defined() || bias.dtype() == x.dtype()),
        "layer_norm", "dtypes must be equal", {{"x", x}, {"weight", weight}, {"bias", bias}});
    require<usage_error>(eps >= 0, "layer_norm", "eps must not be negative", {{"eps", eps}});
    const Tensor scale = weight.defined() ? weight : ones(features, x.dtype());
    const Tensor shift = bias.defined() ? bias : zeros(features, x.dtype());
    Tensor y = empty_like(x);
    Tensor moments = empty({features[0] > 0 ? x.numel() / features[0] : 0, 3}, x.dtype());
    visit_floating("layer_norm", x.dtype(), [&]<class T>(T) {
        kernels::layer_norm<T>(read_rows<T>(x), read<T>(scale), read<T>(shift), eps, write_rows<T>(y),
                               write_rows<T>(moments));
    });
    return record("layer_norm", {x, weight, bias}, y, {x, scale, moments},
                  [](const Saved& saved, const Tensor& dy, Gradients& d) {
                      // q = dy ⊙ weight:  dx = rstd (q − mean(q) − x̂ mean(q ⊙ x̂)),  dweight = Σ dy ⊙ x̂,  dbias = Σ dy
                      Tensor none;
                      const auto target = d.needed(0) ? d.target(0) : std::pair<Tensor&, bool>(none, false);
                      Tensor& dweight = d.needed(1) ? d[1] : none;
                      Tensor& dbias = d.needed(2) ? d[2] : none;
                      visit_floating("layer_norm", dy.dtype(), [&]<class T>(T) {
                          kernels::layer_norm_backward<T>(
                              read_rows<T>(saved[0]), read<T>(saved[1]), read_rows<T>(saved[2]), read_rows<T>(dy),
                              write_rows<T>(target.first), target.second, write<T>(dweight), write<T>(dbias));
                      });
                  });
}

}  // namespace gflow
