#pragma once
#include <gflow/kernels/blend.hpp>
#include <gflow/ops/common.hpp>

namespace gflow {

/// A gate between two states: y = α ⊙ h + (1 − α) ⊙ g with α = σ(gate_logits) (arXiv 2512.19428, the gated update).
/// @param gate_logits, h, g  of one shape, float32 or float64
/// @throws                   shape_error, dtype_error if they differ
inline Tensor blend(const Tensor& gate_logits, const Tensor& h, const Tensor& g) {
    for (const Tensor& x : {gate_logits, h, g}) detail::require_floating("blend", x);
    require(gate_logits.shape() == h.shape() && h.shape() == g.shape(), "blend", "shapes must be equal",
            {{"gate_logits", gate_logits}, {"h", h}, {"g", g}});
    require<dtype_error>(gate_logits.dtype() == h.dtype() && h.dtype() == g.dtype(), "blend", "dtypes must be equal",
                         {{"gate_logits", gate_logits}, {"h", h}, {"g", g}});
    Tensor y = empty_like(h);
    visit_floating("blend", h.dtype(),
                   [&]<class T>(T) { kernels::blend<T>(read<T>(gate_logits), read<T>(h), read<T>(g), write<T>(y)); });
    return record("blend", {gate_logits, h, g}, y, {gate_logits, h, g},
                  [](const Saved& saved, const Tensor& dy, Gradients& d) {
                      // da = dy ⊙ (h − g) ⊙ α (1 − α),  dh = dy ⊙ α,  dg = dy ⊙ (1 − α)
                      visit_floating("blend", dy.dtype(), [&]<class T>(T) {
                          const auto target = [&](std::size_t i) -> kernels::BlendGradient<T> {
                              if (!d.needed(i)) return {};
                              auto [gradient, accumulate] = d.target(i);
                              return {gradient.template mutable_data<T>(), accumulate};
                          };
                          const auto da = target(0), dh = target(1), dg = target(2);
                          kernels::blend_backward<T>(read<T>(saved[0]), read<T>(saved[1]), read<T>(saved[2]),
                                                     read<T>(dy), da, dh, dg);
                      });
                  });
}

}  // namespace gflow
