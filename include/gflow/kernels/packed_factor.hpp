#pragma once
#include <gflow/core/matmul_precision.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/core/scratch.hpp>
#include <gflow/kernels/factor.hpp>
#include <gflow/kernels/micro_kernels.hpp>

#include <algorithm>
#include <type_traits>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

namespace detail {

constexpr Index round_up(Index n, Index step) { return (n + step - 1) / step * step; }

}  // namespace detail

/// Which factor of a product A·B.
enum class Side { left, right };

/// A factor of a product in the order in which the micro-kernel reads it: blocks of the depth, in a block panels of
/// panel_cols() columns, in a panel the depth running slowest. The right factor B has panels as wide as the micro-tile;
/// the left one is packed as its transpose, in panels of as many columns as the tile has rows. Packing costs as much as
/// some twenty rows of the product, so whoever multiplies many rows in pieces packs once for all of them.
/// A float32 factor holds pairs of bfloat16 if float32_matmul_precision() says so when it is made.
template <class T, Side side = Side::right>
class PackedFactor {
public:
    static constexpr Index depth_block = 256;  // a panel of float32 is 256 × 16 × 4 bytes = 16 KiB: half of L1

    static Index panel_cols() { return side == Side::left ? micro_kernel<T>().rows : micro_kernel<T>().cols; }

    /// Room for factors of at most depth × cols.
    PackedFactor(Index depth, Index cols)
        : pairs_(rounds_to_pairs()), memory_(panels(cols) * (operands(depth) * panel_cols() + blocks(depth) * gap)) {}

    /// Whether the rows of b can be read where they lie, as fast as from panels: they are whole panels wide, and an odd
    /// number of cache lines apart, so that those of one panel do not meet in a few sets of the first-level cache.
    static bool lies_in_panels(Factor<T> b) {
        constexpr Index line = 64 / static_cast<Index>(sizeof(T));
        const Index stride = b.stored.stride();
        return !b.transposed && !rounds_to_pairs() && b.cols() % panel_cols() == 0 && stride % line == 0 &&
               stride / line % 2 == 1;
    }
    /// Reads b where it lies instead of a copy. Needs no room.  b: one that lies_in_panels.
    void refer(Factor<T> b) {
        resize(b);
        rows_ = b.stored.data();
        step_ = b.stored.stride();
    }
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
    /// Whether it holds pairs of bfloat16.
    bool pairs() const { return pairs_; }
    /// What stands for so many terms of the depth: as many numbers, or half as many pairs.
    Index operands(Index depth) const { return pairs_ ? (depth + 1) / 2 : depth; }
    bool in_place() const { return rows_ != nullptr; }
    /// The panel of columns col … col + panel_cols() − 1 in the block of the depth that starts at k.
    /// Operand: T, or Bfloat16Pair if pairs().
    template <class Operand>
    const Operand* panel(Index k, Index col) const {
        if (in_place()) return reinterpret_cast<const Operand*>(rows_ + k * step_ + col);
        return reinterpret_cast<const Operand*>(place(k, col));
    }
    /// Elements from one row of a panel to the next.
    Index step() const { return step_; }
    /// Elements from one panel to the next, in the block of the depth that starts at k.
    Index panel_step(Index k) const {
        return in_place() ? panel_cols() : operands(std::min(depth_block, depth_ - k)) * panel_cols() + gap;
    }

private:
    static constexpr Index gap = panel_gap<T>;

    /// Whole panels; at most 256 KiB of float32.
    static Index piece_cols() { return 256 / panel_cols() * panel_cols(); }

    static bool rounds_to_pairs() { return std::is_same_v<T, float> && float32_matmul_precision() == bfloat16; }

    void resize(Factor<T> b) {
        depth_ = b.rows();
        cols_ = b.cols();
        rows_ = nullptr;
        step_ = panel_cols();
    }
    Index pieces_across() const { return (cols_ + piece_cols() - 1) / piece_cols(); }
    Index pieces() const { return pieces_across() * blocks(depth_); }
    void pack_piece(Factor<T> b, Index piece) {
        const Index k = piece / pieces_across() * depth_block, col = piece % pieces_across() * piece_cols();
        const Factor<T> part =
            b.row_range(k, std::min(k + depth_block, depth_)).col_range(col, std::min(col + piece_cols(), cols_));
        if constexpr (std::is_same_v<T, float>) {
            if (pairs_) {
                pack_panels<Bfloat16Pair>(part, reinterpret_cast<Bfloat16Pair*>(place(k, col)), panel_step(k));
                return;
            }
        }
        pack_panels<T>(part, place(k, col), panel_step(k));
    }
    template <class Operand>
    static void pack_panels(Factor<T> part, Operand* out, Index panel) {
        const MicroKernel<T, Operand>& kernel = micro_kernel<T, Operand>();
        (side == Side::left ? kernel.pack_left : kernel.pack_right)(part.stored, !part.transposed, out, panel);
    }
    static Index panels(Index cols) { return (cols + panel_cols() - 1) / panel_cols(); }
    static Index blocks(Index depth) { return (depth + depth_block - 1) / depth_block; }
    T* place(Index k, Index col) const {
        return memory_.data() + panels(cols_) * (operands(k) * panel_cols() + blocks(k) * gap) +
               col / panel_cols() * panel_step(k);
    }

    bool pairs_;
    Scratch<T> memory_;
    Index depth_ = 0, cols_ = 0;
    const T* rows_ = nullptr;  // of a factor that stays where it lies
    Index step_ = panel_cols();
};

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
