#pragma once
#include <gflow/optim/grad_norm.hpp>

namespace gflow {

/// Scales the gradients of all parameters so that their common norm is at most max_norm.
/// AdamW::step(clip_scale(grad_norm(p), max_norm)) does the same without a sweep of its own.
/// @return the norm before; infinite or NaN if a gradient is, and then nothing is scaled: look at it before a step
/// @throws usage_error if max_norm is negative or NaN
inline double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm) {
    const double norm = grad_norm(parameters);
    const double scale = clip_scale(norm, max_norm);
    if (scale == 1) return norm;
    std::vector<Tensor> gradients;
    for (const Tensor& x : parameters) gradients.push_back(x.grad());
    const std::vector<detail::ParameterTile> tiles = detail::parameter_tiles(parameters);
    detail::parallel_tiles(tiles, [&](std::size_t, const detail::ParameterTile& tile) {
        Tensor& gradient = gradients[tile.which];
        if (!gradient.defined()) return;
        visit_floating("clip_grad_norm", gradient.dtype(), [&]<class T>(T) {
            kernels::scale<T>({gradient.mutable_data<T>() + tile.begin, tile.end - tile.begin}, static_cast<T>(scale));
        });
    });
    return norm;
}

}  // namespace gflow
