#pragma once
#include <gflow/kernels/packed_factor.hpp>

#include <algorithm>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
namespace detail {

/// Rows of A that lie row by row in memory are read where they are, if there are general registers for as many
/// pointers: 3 % slower than from a packed panel, but there is no packing (a fifth of a product with 256 columns).
inline constexpr bool reads_rows_in_place = micro_rows <= 8;

/// A block of A's rows over one block of the depth, in memory or packed.
template <class T>
class LeftBlock {
public:
    static constexpr Index most_rows = 24 * micro_rows;  // 144 × 256 float32 are 144 KiB (AVX2): part of L2

    /// Room that a block of A may need when it is packed.
    static Index size(Index rows, Index depth) { return (rows + micro_rows - 1) / micro_rows * panel_size(depth); }

    /// packed: room for the block where it has to be packed.
    LeftBlock(Factor<T> a, T* packed) : a_(a), packed_(packed) {
        if (!in_place()) pack_panels<micro_rows>(a.stored, a.transposed, packed, panel_size(a.cols()));
    }
    /// The micro-tile of the rows from `row` on and the columns of a packed panel.
    MicroTile<T> multiply(Index row, const T* panel) const {
        MicroTile<T> tile;
        MicroRows<T> rows;
        const Index depth = a_.cols();
        if (in_place()) {
            // Rows below the last one repeat it: what they give is not stored.
            for (Index i = 0; i < micro_rows; ++i) rows.line[i] = a_.stored[std::min(row + i, a_.rows() - 1)].data();
            tile.template multiply<1>(depth, rows, panel);
        } else {
            for (Index i = 0; i < micro_rows; ++i) rows.line[i] = packed_ + row / micro_rows * panel_size(depth) + i;
            tile.template multiply<micro_rows>(depth, rows, panel);
        }
        return tile;
    }

private:
    static Index panel_size(Index depth) { return depth * micro_rows + panel_gap<T>; }
    bool in_place() const { return reads_rows_in_place && !a_.transposed; }

    Factor<T> a_;
    const T* packed_;
};

}  // namespace detail

/// C = A·B, or C += A·B, for columns col … of the packed B, on one thread (Goto and van de Geijn, ACM TOMS 34(3),
/// 2008): a panel of B stays in the first-level cache, a block of A in the second. A: [m, k], B: [k, n], C: [m, any
/// part of n]; col is a multiple of PackedFactor::panel_cols.
template <class T>
void multiply_packed(Factor<T> a, const PackedFactor<T>& b, Index col, Matrix<T> c, Onto onto) {
    using Block = detail::LeftBlock<T>;
    constexpr Index depth_block = PackedFactor<T>::depth_block, width = PackedFactor<T>::panel_cols;
    const Index rows = c.rows(), cols = c.cols(), depth = a.cols();
    const Scratch<T> packed(Block::size(std::min(rows, Block::most_rows), std::min(depth, depth_block)));
    for (Index k = 0; k < depth; k += depth_block) {
        const bool add = onto == Onto::add || k > 0;
        const Factor<T> slice = a.col_range(k, std::min(k + depth_block, depth));
        for (Index row = 0; row < rows; row += Block::most_rows) {
            const Index row_end = std::min(row + Block::most_rows, rows);
            const Block block(slice.row_range(row, row_end), packed.data());
            for (Index j = 0; j < cols; j += width)
                for (Index i = row; i < row_end; i += detail::micro_rows) {
                    const Matrix<T> tile = c.row_range(i, std::min(i + detail::micro_rows, row_end))
                                               .col_range(j, std::min(j + width, cols));
                    // C is asked for while the sum is made: worth 3 to 5 % where it comes from memory.
                    for (Index q = 0; q < tile.rows(); ++q) __builtin_prefetch(tile[q].data(), 1);
                    block.multiply(i - row, b.panel(k, col + j)).store(tile, add);
                }
        }
    }
}

#if defined(GFLOW_EXTERN_TEMPLATES)
extern template class PackedFactor<float>;
extern template class PackedFactor<double>;
extern template void multiply_packed<float>(Factor<float>, const PackedFactor<float>&, Index, Matrix<float>, Onto);
extern template void multiply_packed<double>(Factor<double>, const PackedFactor<double>&, Index, Matrix<double>, Onto);
#endif

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
