#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/kernels/eigen_gemm.hpp>
#include <gflow/kernels/packed_gemm.hpp>

#include <algorithm>
#include <utility>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

namespace detail {

/// Below this size packing costs more than it saves.
inline bool is_thin(Index rows, Index cols, Index depth) { return rows < 8 || cols < 8 || depth < 8; }

}  // namespace detail

/// C = A·B, or C += A·B, on one thread.  A: [m, k], B: [k, n], C: [m, n].
template <class T>
void gemm_tile(Factor<T> a, Factor<T> b, Matrix<T> c, Onto onto) {
    if (detail::is_thin(c.rows(), c.cols(), a.cols())) return eigen_gemm(a, b, c, onto);
    PackedFactor<T> packed(b.rows(), b.cols());
    packed.pack(b);
    multiply_packed(a, packed, 0, c, onto);
}

namespace detail {

/// Factors are packed a block at a time: 2²⁰ float32 are 4 MiB, which all threads read from the last-level cache.
inline constexpr Index packed_block = Index(1) << 20;

/// How a product is cut up. It depends on the shape alone, never on the number of threads: each piece is computed by
/// one thread in one way, so the bits of the result do not depend on it either.
struct GemmPlan {
    Index tile_rows = 1, tile_cols = 1;

    Index across(Index cols) const { return (cols + tile_cols - 1) / tile_cols; }
    Index down(Index rows) const { return (rows + tile_rows - 1) / tile_rows; }
};

template <class T>
GemmPlan plan_gemm(Index rows, Index cols, Index depth) {
    const Index width = PackedFactor<T>::panel_cols(), height = PackedLeft<T>::panel_cols();  // of a micro-tile
    constexpr Index pieces = 8;  // enough to share out among a few threads
    if (rows * cols * depth <= 64 * 64 * 64) return {rows, round_up(cols, width)};
    // Equal tiles of at most one block of A and 512 columns.
    const auto share = [](Index n, Index most, Index step) {
        const Index count = (n + most - 1) / most;
        return round_up((n + count - 1) / count, step);
    };
    GemmPlan plan{share(rows, left_block_rows<T>(), height), share(cols, 512, width)};
    while (plan.across(cols) * plan.down(rows) < pieces) {
        if (plan.tile_rows > 2 * height && plan.tile_rows >= plan.tile_cols / 4)
            plan.tile_rows = round_up(plan.tile_rows / 2, height);
        else if (plan.tile_cols > 2 * width)
            plan.tile_cols = round_up(plan.tile_cols / 2, width);
        else
            break;
    }
    return plan;
}

/// Calls f(rows begin, rows end, cols begin, cols end) for each tile of C, on all threads.
template <class T, class F>
void for_each_tile(const GemmPlan& plan, Matrix<T> c, F&& f) {
    const Index down = plan.down(c.rows());
    // Down first: threads that work at the same time read the same columns of B.
    parallel_for(down * plan.across(c.cols()), 1, [&](Index begin, Index end) {
        for (Index piece = begin; piece < end; ++piece) {
            const Index row = piece % down * plan.tile_rows, col = piece / down * plan.tile_cols;
            f(row, std::min(row + plan.tile_rows, c.rows()), col, std::min(col + plan.tile_cols, c.cols()));
        }
    });
}

template <class T, class Finish>
void thin_gemm(Factor<T> a, Factor<T> b, Matrix<T> c, Onto onto, Finish&& finish) {
    const GemmPlan plan =
        c.rows() * c.cols() * a.cols() <= 64 * 64 * 64 ? GemmPlan{c.rows(), c.cols()} : GemmPlan{512, 512};
    for_each_tile(plan, c, [&](Index row, Index row_end, Index col, Index col_end) {
        const Matrix<T> tile = c.row_range(row, row_end).col_range(col, col_end);
        eigen_gemm<T>(a.row_range(row, row_end), b.col_range(col, col_end), tile, onto);
        finish(tile, row, col);
    });
}

/// Whether a left factor has to be packed for a product with b.
template <class T>
bool has_to_be_packed(Factor<T> a, const PackedFactor<T>& b) {
    return a.transposed || b.pairs() || !micro_kernel<T>().reads_rows_in_place;
}

/// gemm for an A that has to be packed and whose tiles stand side by side: packed once for all of them, a block of the
/// depth at a time.
template <class T, class Finish>
void gemm_both_packed(const GemmPlan& plan, Factor<T> a, const PackedFactor<T>& b, Matrix<T> c, Onto onto,
                      Finish&& finish) {
    const Index rows = c.rows(), depth = a.cols();
    const Index block =
        std::min(depth, round_up(std::max<Index>(packed_block / rows, 1), PackedFactor<T>::depth_block));
    PackedLeft<T> packed(block, rows);
    for (Index k = 0; k < depth; k += block) {
        const Index k_end = std::min(k + block, depth);
        packed.pack_on_all_threads({a.col_range(k, k_end).stored, !a.transposed});
        for_each_tile(plan, c, [&](Index row, Index row_end, Index col, Index col_end) {
            const Matrix<T> tile = c.row_range(row, row_end).col_range(col, col_end);
            multiply_packed(packed, row, b, k, col, tile, k > 0 ? Onto::add : onto);
            if (k_end == depth) finish(tile, row, col);
        });
    }
}

}  // namespace detail

/// C = A·B, or C += A·B, for a B that is packed already, on all threads; then finish(tile of C, its first row, its
/// first column) while the tile is in cache.  A: [m, k], B: [k, n], C: [m, n].
template <class T, class Finish>
void gemm(Factor<T> a, const PackedFactor<T>& b, Matrix<T> c, Onto onto, Finish&& finish) {
    const detail::GemmPlan plan = detail::plan_gemm<T>(c.rows(), c.cols(), a.cols());
    if (detail::has_to_be_packed(a, b) && plan.across(c.cols()) > 1)
        return detail::gemm_both_packed(plan, a, b, c, onto, finish);
    detail::for_each_tile(plan, c, [&](Index row, Index row_end, Index col, Index col_end) {
        const Matrix<T> tile = c.row_range(row, row_end).col_range(col, col_end);
        multiply_packed(a.row_range(row, row_end), b, col, tile, onto);
        finish(tile, row, col);
    });
}

/// C = A·B, or C += A·B, on all threads, then finish(tile of C, its first row, its first column) while the tile is in
/// cache.  A: [m, k], B: [k, n], C: [m, n].  The one door to matrix products.
template <class T, class Finish>
void gemm(Factor<T> a, Factor<T> b, Matrix<T> c, Onto onto, Finish&& finish) {
    const Index rows = c.rows(), cols = c.cols(), depth = a.cols();
    if (rows == 0 || cols == 0) return;
    if (detail::is_thin(rows, cols, depth)) return detail::thin_gemm(a, b, c, onto, finish);
    if (PackedFactor<T>::lies_in_panels(b)) {
        PackedFactor<T> in_place(0, 0);
        in_place.refer(b);
        return gemm(a, in_place, c, onto, finish);
    }
    constexpr Index block = detail::packed_block, deep = 1024;
    const Index block_cols = std::min(cols, block / std::min(depth, deep));
    const Index block_depth = std::min(depth, detail::round_up(block / block_cols, PackedFactor<T>::depth_block));
    PackedFactor<T> packed(block_depth, block_cols);
    for (Index col = 0; col < cols; col += block_cols) {
        const Index col_end = std::min(col + block_cols, cols);
        for (Index k = 0; k < depth; k += block_depth) {
            const Index k_end = std::min(k + block_depth, depth);
            packed.pack_on_all_threads(b.row_range(k, k_end).col_range(col, col_end));
            gemm(a.col_range(k, k_end), packed, c.col_range(col, col_end), k > 0 ? Onto::add : onto,
                 [&](Matrix<T> tile, Index row, Index first) {
                     if (k_end == depth) finish(tile, row, col + first);
                 });
        }
    }
}
template <class T>
void gemm(Factor<T> a, Factor<T> b, Matrix<T> c, Onto onto = Onto::overwrite) {
    gemm(a, b, c, onto, [](Matrix<T>, Index, Index) {});
}
template <class T>
void gemm(Factor<T> a, const PackedFactor<T>& b, Matrix<T> c, Onto onto = Onto::overwrite) {
    gemm(a, b, c, onto, [](Matrix<T>, Index, Index) {});
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
