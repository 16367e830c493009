#pragma once
#include <gflow/kernels/bfloat16_pair.hpp>
#include <gflow/kernels/pack_panels.hpp>

#include <algorithm>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
namespace detail {

/// Pairs that are rounded before they are packed: 16 KiB, which stay in the first-level cache.
inline constexpr Index rounded_pairs = 4096;

/// pack_pairs for lines that lie in memory as columns.
template <Index Width>
void pack_pairs_of_columns(Matrix<const float> stored, Bfloat16Pair* out, Index panel) {
    constexpr Index pairs = 8, lines = rounded_pairs / pairs / Width * Width;
    Bfloat16Pair memory[pairs * lines];
    for (Index line = 0; line < stored.cols(); line += lines, out += lines / Width * panel)
        for (Index k = 0; k < stored.rows(); k += 2 * pairs) {
            const Matrix<const float> part = stored.row_range(k, std::min(k + 2 * pairs, stored.rows()))
                                                 .col_range(line, std::min(line + lines, stored.cols()));
            const Matrix<Bfloat16Pair> rounded(memory, (part.rows() + 1) / 2, part.cols());
            round_row_pairs(part, rounded);
            pack_panels<Width, Bfloat16Pair>(rounded, true, out + k / 2 * Width, panel);
        }
}

/// pack_pairs for lines that are rows in memory.
template <Index Width>
void pack_pairs_of_rows(Matrix<const float> stored, Bfloat16Pair* out, Index panel) {
    constexpr Index pairs = rounded_pairs / Width;
    Bfloat16Pair memory[Width * pairs];
    for (Index line = 0; line < stored.rows(); line += Width, out += panel)
        for (Index k = 0; k < stored.cols(); k += 2 * pairs) {
            const Matrix<const float> part = stored.row_range(line, std::min(line + Width, stored.rows()))
                                                 .col_range(k, std::min(k + 2 * pairs, stored.cols()));
            const Matrix<Bfloat16Pair> rounded(memory, part.rows(), (part.cols() + 1) / 2);
            for (Index i = 0; i < part.rows(); ++i) round_pairs(part[i].data(), part.cols(), rounded[i].data());
            pack_panels<Width, Bfloat16Pair>(rounded, false, out + k / 2 * Width, panel);
        }
}

/// pack_panels for a block of float32 that is rounded to pairs of bfloat16, two neighbours along the depth to one; an
/// odd depth is filled up with 0.
template <Index Width>
void pack_pairs(Matrix<const float> stored, bool crossed, Bfloat16Pair* out, Index panel) {
    crossed ? pack_pairs_of_columns<Width>(stored, out, panel) : pack_pairs_of_rows<Width>(stored, out, panel);
}

}  // namespace detail
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
