#pragma once
#include <gflow/kernels/amx_block.hpp>
#include <gflow/kernels/micro_kernel.hpp>
#include <gflow/kernels/micro_tile.hpp>
#include <gflow/kernels/pack_pairs.hpp>
#include <gflow/kernels/pack_panels.hpp>

#include <algorithm>
#include <type_traits>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
namespace detail {

/// Rows of A that lie row by row in memory are read where they are, if there are general registers for as many
/// pointers: 3 % slower than from a packed panel, but there is no packing (a fifth of a product with 256 columns).
inline constexpr bool reads_rows_in_place = micro_rows <= 8;

/// The micro-tile of the rows of A from `row` on and the columns of one panel of B.
template <class T, class Operand>
MicroTile<T> multiply_tile(const BlockProduct<T, Operand>& block, Index row, const Operand* panel) {
    MicroTile<T> tile;
    MicroRows<Operand> rows;
    if (block.left_panels == nullptr) {
        // Rows below the last one repeat it: what they give is not stored.
        for (Index i = 0; i < micro_rows; ++i)
            rows.line[i] = block.left_rows[std::min(row + i, block.left_rows.rows() - 1)].data();
        tile.template multiply<false>(block.depth, rows, panel, block.right_step);
    } else {
        rows.line[0] = block.left_panels + row / micro_rows * (block.depth * micro_rows + panel_gap<Operand>);
        tile.template multiply<true>(block.depth, rows, panel, block.right_step);
    }
    return tile;
}

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

/// The product of a block, tile by tile. Flattened, as pack_operands: a unit that is compiled for one
/// instruction set must not leave functions behind that units compiled for another would use.
template <class T, class Operand>
[[gnu::flatten]] void multiply_block(const BlockProduct<T, Operand>& block) {
    constexpr Index width = MicroTile<T>::cols;
    const Matrix<T> c = block.c;
    const NextPanel next(block.depth, (c.rows() + micro_rows - 1) / micro_rows);
    const Operand* panel = block.right;
    for (Index j = 0; j < c.cols(); j += width, panel += block.right_panel) {
        for (Index i = 0; i < c.rows(); i += micro_rows) {
            const Matrix<T> tile =
                c.row_range(i, std::min(i + micro_rows, c.rows())).col_range(j, std::min(j + width, c.cols()));
            // C is asked for while the sum is made: worth 3 to 5 % where it comes from memory.
            for (Index q = 0; q < tile.rows(); ++q) __builtin_prefetch(tile[q].data(), 1);
            if (block.right_in_place) next.ask(panel + width, block.right_step, i / micro_rows);
            multiply_tile(block, i, panel).store(tile, block.add);
        }
    }
}

template <Index Width, class T, class Operand>
[[gnu::flatten]] void pack_operands(Matrix<const T> stored, bool crossed, Operand* out, Index panel) {
    if constexpr (std::is_same_v<T, Operand>)
        pack_panels<Width>(stored, crossed, out, panel);
    else
        pack_pairs<Width>(stored, crossed, out, panel);
}

template <class T, class Operand = T>
inline constexpr MicroKernel<T, Operand> vector_micro_kernel{micro_rows,
                                                             MicroTile<T>::cols,
                                                             reads_rows_in_place&& std::is_same_v<T, Operand>,
                                                             pack_operands<micro_rows, T, Operand>,
                                                             pack_operands<MicroTile<T>::cols, T, Operand>,
                                                             multiply_block<T, Operand>};

#if defined(GFLOW_HAS_AMX)
inline constexpr MicroKernel<float, Bfloat16Pair> amx_micro_kernel{
    micro_rows,        amx_tile_cols, false, pack_amx_left, pack_operands<amx_tile_cols, float, Bfloat16Pair>,
    multiply_amx_block};
#endif

}  // namespace detail

/// The micro-kernels of the vector instructions that this unit is compiled for.
inline constexpr MicroKernels vector_micro_kernels{vector_isa_name, detail::vector_micro_kernel<float>,
                                                   detail::vector_micro_kernel<double>,
                                                   detail::vector_micro_kernel<float, Bfloat16Pair>};

#if defined(GFLOW_HAS_AMX)
/// The same, but pairs of bfloat16 are multiplied by AMX. For a process that may_use_amx().
inline constexpr MicroKernels own_micro_kernels{isa_name, detail::vector_micro_kernel<float>,
                                                detail::vector_micro_kernel<double>, detail::amx_micro_kernel};
#else
inline constexpr const MicroKernels& own_micro_kernels = vector_micro_kernels;
#endif

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
