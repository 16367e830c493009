#pragma once
#include <gflow/kernels/packed_factor.hpp>

#include <algorithm>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
namespace detail {

/// Rows of A that lie row by row in memory are read where they are, if there are general registers for as many
/// pointers: 3 % slower than from a packed panel, but there is no packing (a fifth of a product with 256 columns).
inline constexpr bool reads_rows_in_place = micro_rows <= 8;

inline constexpr Index left_block_rows = 24 * micro_rows;  // 144 × 256 float32 are 144 KiB (AVX2): part of L2

/// A block of A's rows over one block of the depth, in memory or packed.
template <class Operand>
class LeftBlock {
public:
    /// Room that a block may need when it is packed.
    static Index size(Index rows, Index depth) { return (rows + micro_rows - 1) / micro_rows * panel_size(depth); }

    /// packed: room for the block where it has to be packed.
    LeftBlock(Matrix<const Operand> stored, bool transposed, Operand* packed)
        : stored_(stored), depth_(transposed ? stored.rows() : stored.cols()) {
        if (reads_rows_in_place && !transposed) return;
        pack_panels<micro_rows>(stored, transposed, packed, panel_size(depth_));
        packed_ = packed;
    }
    /// packed: panels that were packed before.
    LeftBlock(const Operand* packed, Index depth) : stored_(nullptr, 0, 0), depth_(depth), packed_(packed) {}

    Index depth() const { return depth_; }
    /// The micro-tile of the rows from `row` on and the columns of a panel of B.
    template <class T>
    MicroTile<T> multiply(Index row, const Operand* panel, Index step) const {
        MicroTile<T> tile;
        MicroRows<Operand> rows;
        if (packed_ == nullptr) {
            // Rows below the last one repeat it: what they give is not stored.
            for (Index i = 0; i < micro_rows; ++i) rows.line[i] = stored_[std::min(row + i, stored_.rows() - 1)].data();
            tile.template multiply<false>(depth_, rows, panel, step);
        } else {
            rows.line[0] = packed_ + row / micro_rows * panel_size(depth_);
            tile.template multiply<true>(depth_, rows, panel, step);
        }
        return tile;
    }

private:
    static Index panel_size(Index depth) { return depth * micro_rows + panel_gap<Operand>; }

    Matrix<const Operand> stored_;
    Index depth_;
    const Operand* packed_ = nullptr;
};

/// Asks for the next panel of a B that stays where it lies, a share with each micro-tile of the present panel: its rows
/// are too far apart for the processor to look ahead. Worth 2 to 5 % of the product of gradient and weight in the head.
class NextPanel {
public:
    NextPanel(Index depth, Index tiles) : share_((depth + tiles - 1) / tiles) {}
    template <class T>
    void ask(const T* panel, Index step, Index tile) const {
        const T* row = panel + tile * share_ * step;
        for (Index n = 0; n < share_; ++n, row += step) __builtin_prefetch(row, 0, 2);
    }

private:
    Index share_;
};

/// C = or += a block of A times the columns of B from `col` on, in the block of the depth that starts at k.
template <class T, class Operand>
void multiply_block(const LeftBlock<Operand>& a, const PackedFactor<T>& b, Index k, Index col, Matrix<T> c, bool add) {
    constexpr Index width = PackedFactor<T>::panel_cols;
    const NextPanel next(a.depth(), (c.rows() + micro_rows - 1) / micro_rows);
    for (Index j = 0; j < c.cols(); j += width) {
        const Operand* panel = b.template panel<Operand>(k, col + j);
        for (Index i = 0; i < c.rows(); i += micro_rows) {
            const Matrix<T> tile =
                c.row_range(i, std::min(i + micro_rows, c.rows())).col_range(j, std::min(j + width, c.cols()));
            // C is asked for while the sum is made: worth 3 to 5 % where it comes from memory.
            for (Index q = 0; q < tile.rows(); ++q) __builtin_prefetch(tile[q].data(), 1);
            if (b.in_place()) next.ask(panel + width, b.step(), i / micro_rows);
            a.template multiply<T>(i, panel, b.step()).store(tile, add);
        }
    }
}

}  // namespace detail

/// C = A·B, or C += A·B, for columns col … of the packed B, on one thread (Goto and van de Geijn, ACM TOMS 34(3),
/// 2008): a panel of B stays in the first-level cache, a block of A in the second. A: [m, k], B: [k, n], C: [m, any
/// part of n]; col is a multiple of PackedFactor::panel_cols.
template <class T>
void multiply_packed(Factor<T> a, const PackedFactor<T>& b, Index col, Matrix<T> c, Onto onto) {
    constexpr Index depth_block = PackedFactor<T>::depth_block, most_rows = detail::left_block_rows;
    const Index depth = a.cols();
    const Scratch<T> room(detail::LeftBlock<T>::size(std::min(c.rows(), most_rows), std::min(depth, depth_block)));
    for (Index k = 0; k < depth; k += depth_block)
        for (Index row = 0; row < c.rows(); row += most_rows) {
            const Index row_end = std::min(row + most_rows, c.rows());
            const Factor<T> block = a.row_range(row, row_end).col_range(k, std::min(k + depth_block, depth));
            const Matrix<T> rows = c.row_range(row, row_end);
            const bool add = onto == Onto::add || k > 0;
            if constexpr (std::is_same_v<T, float>) {
                if (b.pairs()) {
                    const detail::PairBlock rounded(block.stored, block.transposed);
                    const detail::LeftBlock<Bfloat16Pair> left(rounded.matrix(), block.transposed,
                                                               reinterpret_cast<Bfloat16Pair*>(room.data()));
                    detail::multiply_block<T>(left, b, k, col, rows, add);
                    continue;
                }
            }
            const detail::LeftBlock<T> left(block.stored, block.transposed, room.data());
            detail::multiply_block<T>(left, b, k, col, rows, add);
        }
}

/// The left factor of a product, packed: the panels of its transpose.
template <class T>
using PackedLeft = PackedFactor<T, detail::micro_rows>;

/// C = or += rows row … of the packed A times the columns col … of B, in the blocks of the depth of B from k on, on one
/// thread.  C: [at most left_block_rows, any part of n]; row is a multiple of micro_rows.
template <class T>
void multiply_packed(const PackedLeft<T>& a, Index row, const PackedFactor<T>& b, Index k, Index col, Matrix<T> c,
                     Onto onto) {
    const auto add_block = [&]<class Operand>(Index begin, Index depth, const Operand* panel) {
        detail::multiply_block<T>(detail::LeftBlock<Operand>(panel, depth), b, k + begin, col, c,
                                  onto == Onto::add || begin > 0);
    };
    for (Index begin = 0; begin < a.depth(); begin += a.depth_block) {
        const Index depth = std::min(a.depth_block, a.depth() - begin);
        if (a.pairs())
            add_block(begin, (depth + 1) / 2, a.template panel<Bfloat16Pair>(begin, row));
        else
            add_block(begin, depth, a.template panel<T>(begin, row));
    }
}

#if defined(GFLOW_EXTERN_TEMPLATES)
extern template class PackedFactor<float>;
extern template class PackedFactor<double>;
extern template void multiply_packed<float>(Factor<float>, const PackedFactor<float>&, Index, Matrix<float>, Onto);
extern template void multiply_packed<double>(Factor<double>, const PackedFactor<double>&, Index, Matrix<double>, Onto);
extern template class PackedFactor<float, detail::micro_rows>;
extern template class PackedFactor<double, detail::micro_rows>;
extern template void multiply_packed<float>(const PackedLeft<float>&, Index, const PackedFactor<float>&, Index, Index,
                                            Matrix<float>, Onto);
extern template void multiply_packed<double>(const PackedLeft<double>&, Index, const PackedFactor<double>&, Index,
                                             Index, Matrix<double>, Onto);
#endif

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
