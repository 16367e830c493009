#pragma once
#include <gflow/core/parallel.hpp>
#include <gflow/core/scratch.hpp>
#include <gflow/kernels/factor.hpp>
#include <gflow/kernels/pack_panels.hpp>

#include <algorithm>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

namespace detail {
constexpr Index round_up(Index n, Index step) { return (n + step - 1) / step * step; }
}  // namespace detail

/// The right factor B of a product in the order in which the micro-kernel reads it: blocks of the depth, in a block
/// panels of two vectors' columns, in a panel the depth running slowest. Packing costs as much as some twenty rows of
/// the product, so whoever multiplies many rows in pieces packs once for all of them.
template <class T>
class PackedFactor {
public:
    static constexpr Index depth_block = 256;  // a panel of float32 is 256 × 16 × 4 bytes = 16 KiB: half of L1
    static constexpr Index panel_cols = detail::MicroTile<T>::cols;

    /// Room for factors of at most depth × cols.
    PackedFactor(Index depth, Index cols) : memory_(panels(cols) * (depth * panel_cols + blocks(depth) * gap)) {}

    /// Packs b on the calling thread.
    void pack(Factor<T> b) {
        resize(b);
        for (Index piece = 0; piece < pieces(); ++piece) pack_piece(b, piece);
    }
    /// Packs b on all threads.
    void pack_on_all_threads(Factor<T> b) {
        resize(b);
        parallel_for(pieces(), 1, [&](Index begin, Index end) {
            for (Index piece = begin; piece < end; ++piece) pack_piece(b, piece);
        });
    }
    Index depth() const { return depth_; }
    Index cols() const { return cols_; }
    /// The panel of columns col … col + panel_cols − 1 in the block of the depth that starts at k.
    const T* panel(Index k, Index col) const { return place(k, col); }

private:
    static constexpr Index piece_cols = 256;            // a piece of float32 is at most 256 KiB
    static constexpr Index gap = detail::panel_gap<T>;  // between two panels

    void resize(Factor<T> b) {
        depth_ = b.rows();
        cols_ = b.cols();
    }
    Index pieces_across() const { return (cols_ + piece_cols - 1) / piece_cols; }
    Index pieces() const { return pieces_across() * blocks(depth_); }
    void pack_piece(Factor<T> b, Index piece) {
        const Index k = piece / pieces_across() * depth_block, col = piece % pieces_across() * piece_cols;
        const Factor<T> part =
            b.row_range(k, std::min(k + depth_block, depth_)).col_range(col, std::min(col + piece_cols, cols_));
        detail::pack_panels<panel_cols>(part.stored, !part.transposed, place(k, col), part.rows() * panel_cols + gap);
    }
    static Index panels(Index cols) { return (cols + panel_cols - 1) / panel_cols; }
    static Index blocks(Index depth) { return (depth + depth_block - 1) / depth_block; }
    T* place(Index k, Index col) const {
        const Index panel = std::min(depth_block, depth_ - k) * panel_cols + gap;
        return memory_.data() + panels(cols_) * (k * panel_cols + blocks(k) * gap) + col / panel_cols * panel;
    }

    Scratch<T> memory_;
    Index depth_ = 0, cols_ = 0;
};

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
