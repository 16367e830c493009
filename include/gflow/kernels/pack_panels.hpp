#pragma once
#include <gflow/kernels/micro_tile.hpp>
#include <gflow/kernels/transpose_lanes.hpp>

#include <algorithm>
#include <cstring>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
namespace detail {

/// Packs lines that lie in memory as columns: line(i, k) = stored[k][i]; all panels at once, so that each row of memory
/// is read from end to end.
template <Index Width, class T>
void pack_columns(Matrix<const T> stored, T* out, Index panel) {
    const Index depth = stored.rows(), lines = stored.cols(), whole = lines / Width * Width;
    constexpr Index ahead = 8, line_of_cache = 64 / static_cast<Index>(sizeof(T));
    for (Index k = 0; k < depth; ++k) {
        const T* from = stored[k].data();
        // The rows of a wide matrix lie on pages of their own, across which the processor does not look ahead: asking
        // early is worth 7 % of a product like dW = dyᵀ·x.
        if (k + ahead < depth)
            for (Index i = 0; i < lines; i += line_of_cache) __builtin_prefetch(stored[k + ahead].data() + i);
        T* to = out + k * Width;
        // memcpy of a known size is a few vector moves; std::copy_n would call memmove for each panel.
        for (Index first = 0; first < whole; first += Width)
            std::memcpy(to + first / Width * panel, from + first, Width * sizeof(T));
        std::copy_n(from + whole, lines - whole, to + whole / Width * panel);
    }
}

/// Packs one panel of at most Width lines that are rows in memory: squares of vectors are transposed in registers.
template <Index Width, class T>
void pack_rows(Matrix<const T> lines, T* out) {
    using Tile = MicroTile<T>;
    constexpr Index lanes = Tile::lanes;
    const Index count = lines.rows(), depth = lines.cols(), whole = depth / lanes * lanes;
    const auto pack_square = [&](Index first, Index k) {
        typename Tile::Lanes square[lanes];
#pragma GCC unroll 16
        for (Index i = 0; i < lanes; ++i) {
            square[i] = typename Tile::Lanes{};
            if (first + i < count)
                square[i] = *reinterpret_cast<const typename Tile::LanesAnywhere*>(lines[first + i].data() + k);
        }
        transpose_lanes<lanes>(square);
#pragma GCC unroll 16
        for (Index i = 0; i < lanes; ++i)
            *reinterpret_cast<typename Tile::LanesAnywhere*>(out + (k + i) * Width + first) = square[i];
    };
    // Where Width is no multiple of the lanes the last vectors are stored whole: what they write of the next row is
    // written over, and that of the last row lies in the gap.
    constexpr Index last = (Width - 1) / lanes * lanes;
    static_assert(last + lanes - Width <= panel_gap<T>);
    for (Index k = 0; k < whole; k += lanes)
        for (Index first = last; first >= 0; first -= lanes) pack_square(first, k);
    for (Index i = 0; i < count; ++i)
        for (Index k = whole; k < depth; ++k) out[k * Width + i] = lines[i][k];
}

/// Copies a block of a factor into panels of Width rows (of A) or columns (of B), the depth running slowest inside a
/// panel, so that the micro-kernel reads both in one stream. What is missing in the last panel is zero.
/// A line is a row of A or a column of B: line(i, k) = stored[i][k], or stored[k][i] where `crossed`.
/// panel: elements from the start of one panel to that of the next; at least panel_gap more than a panel has.
template <Index Width, class T>
void pack_panels(Matrix<const T> stored, bool crossed, T* out, Index panel) {
    const Index lines = crossed ? stored.cols() : stored.rows(), depth = crossed ? stored.rows() : stored.cols();
    if (const Index whole = lines / Width * Width; whole < lines)
        std::fill_n(out + whole / Width * panel, Width * depth, T(0));
    if (crossed) return pack_columns<Width>(stored, out, panel);
    for (Index first = 0; first < lines; first += Width)
        pack_rows<Width>(stored.row_range(first, std::min(first + Width, lines)), out + first / Width * panel);
}

}  // namespace detail
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
