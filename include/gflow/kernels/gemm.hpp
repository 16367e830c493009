#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/kernels/eigen_gemm.hpp>
#include <gflow/kernels/packed_gemm.hpp>

#include <algorithm>
#include <utility>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// C = A·B, or C += A·B, on one thread.  A: [m, k], B: [k, n], C: [m, n].
template <class T>
void gemm_tile(Factor<T> a, Factor<T> b, Matrix<T> c, Onto onto) {
    // Below this size packing costs more than it saves.
    if (c.rows() < 8 || c.cols() < 8 || a.cols() < 8)
        eigen_gemm(a, b, c, onto);
    else
        packed_gemm(a, b, c, onto);
}

namespace detail {

/// How a product is cut up. It depends on the shape alone, never on the number of threads: each piece is computed by
/// one thread in one way, so the bits of the result do not depend on it either.
struct GemmPlan {
    Index tile_rows = 512, tile_cols = 512;  // large enough that packing the factors anew for each tile costs little
    Index slices = 1;                        // of the depth, for a small C under a deep product
};

inline GemmPlan plan_gemm(Index rows, Index cols, Index depth) {
    constexpr Index pieces = 8;  // enough to share out among a few threads
    GemmPlan plan;
    if (rows * cols * depth <= 64 * 64 * 64) return plan;
    const auto tiles = [&] {
        return ((rows + plan.tile_rows - 1) / plan.tile_rows) * ((cols + plan.tile_cols - 1) / plan.tile_cols);
    };
    const Index smallest = depth >= 1024 ? 256 : 64;
    while (tiles() < pieces && std::max(std::min(plan.tile_rows, rows), std::min(plan.tile_cols, cols)) > smallest)
        (std::min(plan.tile_rows, rows) > std::min(plan.tile_cols, cols) ? plan.tile_rows : plan.tile_cols) /= 2;
    if (tiles() < pieces) plan.slices = std::clamp<Index>(depth / 512, 1, pieces / tiles());
    return plan;
}

/// Calls f(rows begin, rows end, cols begin, cols end) for each tile of C, and each of `layers` copies of it.
template <class T, class F>
void for_each_tile(const GemmPlan& plan, Matrix<T> c, Index layers, F&& f) {
    const Index across = (c.cols() + plan.tile_cols - 1) / plan.tile_cols;
    const Index down = (c.rows() + plan.tile_rows - 1) / plan.tile_rows;
    parallel_for(across * down * layers, 1, [&](Index begin, Index end) {
        for (Index piece = begin; piece < end; ++piece) {
            const Index tile = piece / layers, layer = piece % layers;
            const Index row = tile / across * plan.tile_rows, col = tile % across * plan.tile_cols;
            f(layer, row, std::min(row + plan.tile_rows, c.rows()), col, std::min(col + plan.tile_cols, c.cols()));
        }
    });
}

/// C = Σ over slices of the depth, added in order. For products like dW = dyᵀ·x, whose C is too small to be shared out.
template <class T>
void gemm_by_slices(const GemmPlan& plan, Factor<T> a, Factor<T> b, Matrix<T> c, Onto onto) {
    const Index depth = a.cols(), thickness = (depth + plan.slices - 1) / plan.slices;
    const Scratch<T> memory(plan.slices * c.rows() * c.cols());
    const auto slice_of_c = [&](Index slice) {
        return Matrix<T>(memory.data() + slice * c.rows() * c.cols(), c.rows(), c.cols());
    };
    for_each_tile(plan, c, plan.slices, [&](Index slice, Index row, Index row_end, Index col, Index col_end) {
        const Index k = std::min(slice * thickness, depth), k_end = std::min(k + thickness, depth);
        gemm_tile<T>(a.row_range(row, row_end).col_range(k, k_end), b.row_range(k, k_end).col_range(col, col_end),
                     slice_of_c(slice).row_range(row, row_end).col_range(col, col_end), Onto::overwrite);
    });
    parallel_rows(c.rows(), plan.slices * c.cols(), [&](Index row) {
        auto out = array(c[row]);
        if (onto == Onto::overwrite) out.setZero();
        for (Index slice = 0; slice < plan.slices; ++slice) out += array(slice_of_c(slice)[row]);
    });
}

}  // namespace detail

/// C = A·B, or C += A·B, on all threads, then finish(tile of C, its first row, its first column) while the tile is in
/// cache.  A: [m, k], B: [k, n], C: [m, n].  The one door to matrix products.
template <class T, class Finish>
void gemm(Factor<T> a, Factor<T> b, Matrix<T> c, Onto onto, Finish&& finish) {
    if (c.rows() == 0 || c.cols() == 0) return;
    const detail::GemmPlan plan = detail::plan_gemm(c.rows(), c.cols(), a.cols());
    if (plan.slices > 1) {
        detail::gemm_by_slices(plan, a, b, c, onto);
        return finish(c, 0, 0);
    }
    detail::for_each_tile(plan, c, 1, [&](Index, Index row, Index row_end, Index col, Index col_end) {
        const Matrix<T> tile = c.row_range(row, row_end).col_range(col, col_end);
        gemm_tile<T>(a.row_range(row, row_end), b.col_range(col, col_end), tile, onto);
        finish(tile, row, col);
    });
}
template <class T>
void gemm(Factor<T> a, Factor<T> b, Matrix<T> c, Onto onto = Onto::overwrite) {
    gemm(a, b, c, onto, [](Matrix<T>, Index, Index) {});
}

/// out[j] += Σ_i x[i][j].  Each column is added from top to bottom, whatever the number of threads.
template <class T>
void add_column_sums(Matrix<const T> x, Vector<T> out) {
    parallel_for(x.cols(), 64, [&](Index begin, Index end) {
        auto sum = array(out.data() + begin, end - begin);
        for (Index row = 0; row < x.rows(); ++row) sum += array(x[row].data() + begin, end - begin);
    });
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
