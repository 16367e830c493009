#pragma once
#include <gflow/core/span.hpp>

#include <cstdint>

namespace gflow::kernels {

/// Two bfloat16 that follow each other along the depth of a product, the first in the lower half: what the processor's
/// dot product takes, and what a bfloat16 product packs where a float32 product packs a number.
using Bfloat16Pair = std::uint32_t;

/// Panels lie a cache line further apart than they are long: at a power of two all would fall into the same few sets of
/// the first-level cache, and packing would take twice as long.
template <class T>
inline constexpr Index panel_gap = 64 / static_cast<Index>(sizeof(T));

/// C = or += A·B for a block of A's rows, panels of B that stand side by side, and one block of the depth.
/// Operand: T, or Bfloat16Pair.
template <class T, class Operand>
struct BlockProduct {
    Index depth;                      // counted in operands
    Matrix<const Operand> left_rows;  // A row by row where it lies, or
    const Operand* left_panels;       // A in packed panels; nullptr where it lies in rows
    const Operand* right;             // the first panel of B
    Index right_step, right_panel;    // elements from one row of a panel to the next, from one panel to the next
    bool right_in_place;              // its rows are far apart, on other pages
    Matrix<T> c;
    bool add;
};

/// What an instruction set contributes to matrix products of one type: a tile of C that its registers hold, the order
/// in which that tile reads its factors, and the loops over them.
template <class T, class Operand = T>
struct MicroKernel {
    /// Copies lines of a factor into panels: see pack_panels and pack_pairs.
    using Pack = void(Matrix<const T> stored, bool crossed, Operand* out, Index panel);

    Index rows, cols;              // of the tile
    bool reads_rows_in_place;      // whether A is read where it lies if it lies row by row; never if Operand is not T
    Pack *pack_left, *pack_right;  // panels of `rows` rows of A, of `cols` columns of B
    void (*multiply)(const BlockProduct<T, Operand>&);
};

/// The micro-kernels of one instruction set. This table is the boundary between units that are compiled for different
/// ones: pointers and sizes cross it, no type whose layout depends on a flag.
struct MicroKernels {
    const char* instruction_set;
    MicroKernel<float> float32;
    MicroKernel<double> float64;
    MicroKernel<float, Bfloat16Pair> bfloat16;
};

}  // namespace gflow::kernels
