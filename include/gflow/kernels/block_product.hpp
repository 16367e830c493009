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

/// What a block asks the memory for while a micro-tile is summed up, a little every few terms: asked for at once it
/// would fill the processor's buffers for misses, and the product would wait. (Always inlined: g++ leaves out calls of
/// functions that do nothing but ask.)
template <class T, class Operand>
class AskAhead {
public:
    explicit AskAhead(const BlockProduct<T, Operand>& block)
        : step_(block.right_step), share_(share_of_next_panel(block)) {}

    /// Row n of the tile, which is written in the end: worth 10 % of the logits, whose tiles come from memory. And the
    /// rows of the next panel of a B that stays where it lies, shared out among the tiles of the present one: they are
    /// too far apart for the processor to look ahead. Worth 2 to 5 % of the product of gradient and weight in the head.
    [[gnu::always_inline]] void ask(Matrix<T> c, const Operand* panel, Index tile, Index n) const {
        if (n < c.rows()) ask_for<1>(c[n].data());
        if (n < share_) ask_for<0>(panel + MicroTile<T>::cols + (tile * share_ + n) * step_);
    }

private:
    static Index share_of_next_panel(const BlockProduct<T, Operand>& block) {
        const Index tiles = (block.c.rows() + micro_rows - 1) / micro_rows;
        return block.right_in_place ? (block.depth + tiles - 1) / tiles : 0;
    }
    template <int to_write, class Number>
    [[gnu::always_inline]] static void ask_for(const Number* row) {
        constexpr Index line = 64 / static_cast<Index>(sizeof(Number));
        for (Index j = 0; j < MicroTile<Number>::cols; j += line) __builtin_prefetch(row + j, to_write, 3 - !to_write);
    }
    Index step_, share_;
};

/// The micro-tile of the rows of A from `row` on and the columns of one panel of B.
template <class T, class Operand, class Ask>
MicroTile<T> multiply_tile(const BlockProduct<T, Operand>& block, Index row, const Operand* panel, Ask ask) {
    MicroTile<T> tile;
    MicroRows<Operand> rows;
    if (block.left_panels == nullptr) {
        // Rows below the last one repeat it: what they give is not stored.
        for (Index i = 0; i < micro_rows; ++i)
            rows.line[i] = block.left_rows[std::min(row + i, block.left_rows.rows() - 1)].data();
        tile.template multiply<false>(block.depth, rows, panel, block.right_step, ask);
    } else {
        rows.line[0] = block.left_panels + row / micro_rows * (block.depth * micro_rows + panel_gap<Operand>);
        tile.template multiply<true>(block.depth, rows, panel, block.right_step, ask);
    }
    return tile;
}

/// The product of a block, tile by tile. Flattened, as pack_operands: a unit that is compiled for one instruction set
/// must not leave functions behind that units compiled for another would use.
template <class T, class Operand>
[[gnu::flatten]] void multiply_block(const BlockProduct<T, Operand>& block) {
    constexpr Index width = MicroTile<T>::cols;
    const Matrix<T> c = block.c;
    const AskAhead<T, Operand> ahead(block);
    const Operand* panel = block.right;
    for (Index j = 0; j < c.cols(); j += width, panel += block.right_panel) {
        for (Index i = 0; i < c.rows(); i += micro_rows) {
            const Matrix<T> tile =
                c.row_range(i, std::min(i + micro_rows, c.rows())).col_range(j, std::min(j + width, c.cols()));
            const auto ask = [&](Index n) __attribute__((always_inline)) { ahead.ask(tile, panel, i / micro_rows, n); };
            multiply_tile(block, i, panel, ask).store(tile, block.add);
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
