#pragma once
#include <gflow/autograd/tensor_autograd.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/kernels/adamw.hpp>

#include <cmath>
#include <vector>

namespace gflow {

namespace detail {

/// A part of one tensor of a list; all parts together cover the list, and do not depend on the number of threads.
struct ParameterTile {
    std::size_t which;
    Index begin, end;
};

inline std::vector<ParameterTile> parameter_tiles(const std::vector<Tensor>& parameters) {
    constexpr Index tile = 16384;  // its parameter, gradient and two moments fit a second-level cache
    std::vector<ParameterTile> tiles;
    for (std::size_t which = 0; which < parameters.size(); ++which)
        for (Index begin = 0; begin < parameters[which].numel(); begin += tile)
            tiles.push_back({which, begin, std::min(begin + tile, parameters[which].numel())});
    return tiles;
}

/// f(tile) for all tiles, on all threads.
template <class F>
void parallel_tiles(const std::vector<ParameterTile>& tiles, F&& f) {
    parallel_for(static_cast<Index>(tiles.size()), 1, [&](Index begin, Index) {
        f(static_cast<std::size_t>(begin), tiles[static_cast<std::size_t>(begin)]);
    });
}

}  // namespace detail

/// √Σ g² over the gradients of all parameters together (those without one count as zero). Summed in double, in an
/// order that does not depend on the number of threads. Infinite or NaN if a gradient is.
inline double grad_norm(const std::vector<Tensor>& parameters) {
    const std::vector<detail::ParameterTile> tiles = detail::parameter_tiles(parameters);
    std::vector<double> sums(tiles.size(), 0);
    detail::parallel_tiles(tiles, [&](std::size_t i, const detail::ParameterTile& tile) {
        const Tensor gradient = parameters[tile.which].grad();
        if (!gradient.defined()) return;
        visit_floating("grad_norm", gradient.dtype(), [&]<class T>(T) {
            sums[i] = kernels::sum_of_squares<T>({gradient.data<T>() + tile.begin, tile.end - tile.begin});
        });
    });
    double sum = 0;
    for (const double part : sums) sum += part;
    return std::sqrt(sum);
}

/// What gradients of this norm must be multiplied by so that their norm is at most max_norm: max_norm / (norm + 1e-6),
/// at most 1 (PyTorch's formula). 1 if max_norm is 0, which means "no limit", and if the norm is not finite: such
/// gradients cannot be mended, and must stay visible.
/// @throws usage_error if max_norm is negative or NaN
inline double clip_scale(double norm, double max_norm) {
    require<usage_error>(max_norm >= 0, "clip_scale", "the limit must be at least 0", {{"max_norm", max_norm}});
    if (max_norm == 0 || !std::isfinite(norm)) return 1;
    return std::min(1.0, max_norm / (norm + 1e-6));
}

}  // namespace gflow
