#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/scratch.hpp>
#include <gflow/kernels/factor.hpp>
#include <gflow/kernels/transpose_lanes.hpp>

#include <algorithm>

namespace gflow::kernels {
inline namespace GFLOW_ISA {
namespace detail {

#if defined(__AVX512F__)
inline constexpr Index vector_bytes = 64, micro_rows = 14;  // 28 of 32 registers hold C
#elif defined(__AVX__)
inline constexpr Index vector_bytes = 32, micro_rows = 6;  // 12 of 16
#else
inline constexpr Index vector_bytes = 16, micro_rows = 6;
#endif

/// The piece of C that stays in registers while the depth runs: micro_rows × 2 vectors.
template <class T>
struct MicroTile {
    typedef T Lanes __attribute__((vector_size(vector_bytes)));
    typedef T LanesAnywhere __attribute__((vector_size(vector_bytes), aligned(alignof(T)), may_alias));
    static constexpr Index lanes = vector_bytes / static_cast<Index>(sizeof(T));
    static constexpr Index cols = 2 * lanes;

    Lanes sum[micro_rows][2];

    /// sum = Σ_k a_k ⊗ b_k.  a: [depth, micro_rows], b: [depth, cols], both packed; b aligned to the vector.
    void multiply(Index depth, const T* a, const T* b) {
#pragma GCC unroll 16
        for (Index i = 0; i < micro_rows; ++i) sum[i][0] = sum[i][1] = Lanes{};
        for (Index k = 0; k < depth; ++k, a += micro_rows, b += cols) {
            const auto* right = reinterpret_cast<const Lanes*>(b);
            const Lanes b0 = right[0], b1 = right[1];
#pragma GCC unroll 16
            for (Index i = 0; i < micro_rows; ++i) {
                sum[i][0] += a[i] * b0;
                sum[i][1] += a[i] * b1;
            }
        }
    }
    /// Writes or adds the part of the tile that lies inside c.
    void store(Matrix<T> c, bool add) const {
        if (c.rows() == micro_rows && c.cols() == cols) return store_whole(c, add);
        for (Index i = 0; i < c.rows(); ++i) {
            const T* row = reinterpret_cast<const T*>(&sum[i][0]);
            for (Index j = 0; j < c.cols(); ++j) c[i][j] = add ? c[i][j] + row[j] : row[j];
        }
    }

private:
    void store_whole(Matrix<T> c, bool add) const {
#pragma GCC unroll 16
        for (Index i = 0; i < micro_rows; ++i) {
            auto* out = reinterpret_cast<LanesAnywhere*>(c[i].data());
            if (add) {
                out[0] += sum[i][0];
                out[1] += sum[i][1];
            } else {
                out[0] = sum[i][0];
                out[1] = sum[i][1];
            }
        }
    }
};

/// Packs lines that lie in memory as columns: line(i, k) = stored[k][i]; all panels at once, so that each row of memory
/// is read from end to end.
template <Index Width, class T>
void pack_columns(Matrix<const T> stored, T* out) {
    const Index depth = stored.rows(), lines = stored.cols(), whole = lines / Width * Width;
    constexpr Index ahead = 8, line_of_cache = 64 / static_cast<Index>(sizeof(T));
    for (Index k = 0; k < depth; ++k) {
        const T* from = stored[k].data();
        // The rows of a wide matrix lie on pages of their own, across which the processor does not look ahead: asking
        // early is worth 7 % of a product like dW = dyᵀ·x.
        if (k + ahead < depth)
            for (Index i = 0; i < lines; i += line_of_cache) __builtin_prefetch(stored[k + ahead].data() + i);
        T* to = out + k * Width;
        for (Index first = 0; first < whole; first += Width) std::copy_n(from + first, Width, to + first * depth);
        std::copy_n(from + whole, lines - whole, to + whole * depth);
    }
}

/// Packs one panel of at most Width lines that are rows in memory: squares of vectors are transposed in registers.
template <Index Width, class T>
void pack_rows(Matrix<const T> lines, T* out) {
    using Tile = MicroTile<T>;
    constexpr Index lanes = Tile::lanes;
    const Index count = lines.rows(), depth = lines.cols(), whole = depth / lanes * lanes;
#pragma GCC unroll 4
    for (Index first = 0; first < Width; first += lanes) {
        for (Index k = 0; k < whole; k += lanes) {
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
                std::copy_n(reinterpret_cast<const T*>(&square[i]), std::min(lanes, Width - first),
                            out + (k + i) * Width + first);
        }
    }
    for (Index i = 0; i < count; ++i)
        for (Index k = whole; k < depth; ++k) out[k * Width + i] = lines[i][k];
}

/// Copies a block of a factor into panels of Width rows (of A) or columns (of B), the depth running slowest inside a
/// panel, so that the micro-kernel reads both in one stream. What is missing in the last panel is zero.
/// A line is a row of A or a column of B: line(i, k) = stored[i][k], or stored[k][i] where `crossed`.
template <Index Width, class T>
void pack_panels(Matrix<const T> stored, bool crossed, T* out) {
    const Index lines = crossed ? stored.cols() : stored.rows(), depth = crossed ? stored.rows() : stored.cols();
    if (const Index whole = lines / Width * Width; whole < lines) std::fill_n(out + whole * depth, Width * depth, T(0));
    if (crossed) return pack_columns<Width>(stored, out);
    for (Index first = 0; first < lines; first += Width)
        pack_rows<Width>(stored.row_range(first, std::min(first + Width, lines)), out + first * depth);
}

constexpr Index round_up(Index n, Index step) { return (n + step - 1) / step * step; }

}  // namespace detail

/// C = A·B, or C += A·B, on one thread, from packed blocks (Goto and van de Geijn, ACM TOMS 34(3), 2008): a panel of B
/// stays in the first-level cache, a block of A in the second.
template <class T>
void packed_gemm(Factor<T> a, Factor<T> b, Matrix<T> c, Onto onto) {
    using Tile = detail::MicroTile<T>;
    constexpr Index depth_block = 256;                    // a panel of B: 256 × 16 float32 are 16 KiB
    constexpr Index row_block = 24 * detail::micro_rows;  // a block of A: 144 × 256 float32 are 144 KiB (AVX2)
    const Index rows = c.rows(), cols = c.cols(), depth = a.cols();
    const Index widest = std::min(depth, depth_block);
    const Scratch<T> packed_a(detail::round_up(std::min(rows, row_block), detail::micro_rows) * widest);
    const Scratch<T> packed_b(detail::round_up(cols, Tile::cols) * widest);
    for (Index k = 0; k < depth; k += depth_block) {
        const Index k_end = std::min(k + depth_block, depth);
        const bool add = onto == Onto::add || k > 0;
        const Factor<T> b_block = b.row_range(k, k_end);
        detail::pack_panels<Tile::cols>(b_block.stored, !b.transposed, packed_b.data());
        for (Index row = 0; row < rows; row += row_block) {
            const Index row_end = std::min(row + row_block, rows);
            const Factor<T> a_block = a.row_range(row, row_end).col_range(k, k_end);
            detail::pack_panels<detail::micro_rows>(a_block.stored, a.transposed, packed_a.data());
            for (Index j = 0; j < cols; j += Tile::cols) {
                const T* b_panel = packed_b.data() + j * (k_end - k);
                for (Index i = row; i < row_end; i += detail::micro_rows) {
                    Tile tile;
                    tile.multiply(k_end - k, packed_a.data() + (i - row) * (k_end - k), b_panel);
                    tile.store(c.row_range(i, std::min(i + detail::micro_rows, row_end))
                                   .col_range(j, std::min(j + Tile::cols, cols)),
                               add);
                }
            }
        }
    }
}

#if defined(GFLOW_EXTERN_TEMPLATES)
extern template void packed_gemm<float>(Factor<float>, Factor<float>, Matrix<float>, Onto);
extern template void packed_gemm<double>(Factor<double>, Factor<double>, Matrix<double>, Onto);
#endif

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
