#pragma once
/// Products of pairs of bfloat16 by Intel's matrix extension (AMX, in processors since Sapphire Rapids): tile registers
/// of 16 rows × 64 bytes, and an instruction that multiplies two of them. There it is an order of magnitude faster than
/// the vector dot product, which is slower than float32.
#include <gflow/config/intrinsics.hpp>
#include <gflow/kernels/micro_kernel.hpp>
#include <gflow/kernels/micro_tile.hpp>
#include <gflow/kernels/transpose_lanes.hpp>

#include <algorithm>
#include <cstring>

#if defined(__AMX_BF16__)

namespace gflow::kernels {
inline namespace GFLOW_ISA {
namespace detail {

/// Pairs along the depth that one instruction multiplies, and columns of a tile of C or B.
inline constexpr Index amx_step = 16, amx_cols = 16;

/// The shapes of the tile registers as the processor reads them (Intel 64 and IA-32 Architectures Software Developer's
/// Manual, LDTILECFG): 0 … 3 are C, 4 and 5 are A, 6 and 7 are B, for products that are `step` pairs deep.
class AmxShapes {
public:
    explicit AmxShapes(Index step) {
        const auto height = static_cast<std::uint8_t>(micro_rows), depth = static_cast<std::uint8_t>(step);
        for (int c = 0; c < 4; ++c) set(c, height, 64);
        for (int a = 4; a < 6; ++a) set(a, height, static_cast<std::uint16_t>(4 * step));
        for (int b = 6; b < 8; ++b) set(b, depth, 64);
    }
    /// Empties all tile registers too.
    void load() const { _tile_loadconfig(&memory_); }

private:
    void set(int tile, std::uint8_t rows, std::uint16_t bytes) {
        memory_.bytes_in_row[tile] = bytes;
        memory_.rows[tile] = rows;
    }
    struct alignas(64) {
        std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
        std::uint16_t bytes_in_row[16] = {};
        std::uint8_t rows[16] = {};
    } memory_;
};

/// The compiler does not know that tile instructions read memory.
inline void finish_writes() { __asm__ volatile("" ::: "memory"); }

/// One step of the depth after the other for one or two panels of A, whose tiles of C lie below each other.
struct AmxTiles {
    Index steps, step;      // how many, of how many pairs
    const Bfloat16Pair* a;  // [steps][micro_rows][step], the panels `a_panel` apart
    Index a_panel;
    const Bfloat16Pair* b;  // rows of pairs, `b_row` apart
    Index b_row;

    /// C = or += A·B.  c: [panels · micro_rows, 2 · amx_cols], rows `c_row` apart.
    template <int panels>
    void multiply(float* c, Index c_row, bool add) const {
        const auto c_bytes = static_cast<std::size_t>(c_row) * sizeof(float);
        const auto b_bytes = static_cast<std::size_t>(b_row) * sizeof(Bfloat16Pair);
        const auto a_bytes = static_cast<std::size_t>(step) * sizeof(Bfloat16Pair);
        float* below = c + micro_rows * c_row;
        if (add) {
            _tile_loadd(0, c, c_bytes);
            _tile_loadd(1, c + amx_cols, c_bytes);
            if constexpr (panels == 2) {
                _tile_loadd(2, below, c_bytes);
                _tile_loadd(3, below + amx_cols, c_bytes);
            }
        } else {
            _tile_zero(0);
            _tile_zero(1);
            _tile_zero(2);
            _tile_zero(3);
        }
        for (Index n = 0; n < steps; ++n) {
            const Bfloat16Pair *upper = a + n * step * micro_rows, *right = b + n * step * b_row;
            _tile_loadd(6, right, b_bytes);
            _tile_loadd(7, right + amx_cols, b_bytes);
            _tile_loadd(4, upper, a_bytes);
            _tile_dpbf16ps(0, 4, 6);
            _tile_dpbf16ps(1, 4, 7);
            if constexpr (panels == 2) {
                _tile_loadd(5, upper + a_panel, a_bytes);
                _tile_dpbf16ps(2, 5, 6);
                _tile_dpbf16ps(3, 5, 7);
            }
        }
        _tile_stored(0, c, c_bytes);
        _tile_stored(1, c + amx_cols, c_bytes);
        if constexpr (panels == 2) {
            _tile_stored(2, below, c_bytes);
            _tile_stored(3, below + amx_cols, c_bytes);
        }
    }

    /// The same for a C that the tiles may overhang: it is computed beside.
    void multiply_part(Matrix<float> c, bool add) const {
        float whole[2 * micro_rows][2 * amx_cols] = {};
        for (Index i = 0; add && i < c.rows(); ++i) std::copy_n(c[i].data(), c.cols(), whole[i]);
        finish_writes();
        if (c.rows() > micro_rows)
            multiply<2>(whole[0], 2 * amx_cols, add);
        else
            multiply<1>(whole[0], 2 * amx_cols, add);
        for (Index i = 0; i < c.rows(); ++i) std::copy_n(whole[i], c.cols(), c[i].data());
    }
};

/// The steps of the depth that begin at pair `begin`, all of them `step` pairs deep.
inline void multiply_amx_steps(const BlockProduct<float, Bfloat16Pair>& block, Index begin, Index steps, Index step,
                               bool add) {
    constexpr Index height = 2 * micro_rows, width = 2 * amx_cols;
    const Index a_panel = block.depth * micro_rows + panel_gap<Bfloat16Pair>;
    const Matrix<float> c = block.c;
    AmxShapes(step).load();
    for (Index j = 0; j < c.cols(); j += width)
        for (Index i = 0; i < c.rows(); i += height) {
            const AmxTiles tiles{steps,
                                 step,
                                 block.left_panels + i / micro_rows * a_panel + begin * micro_rows,
                                 a_panel,
                                 block.right + j / width * block.right_panel + begin * block.right_step,
                                 block.right_step};
            const Matrix<float> tile =
                c.row_range(i, std::min(i + height, c.rows())).col_range(j, std::min(j + width, c.cols()));
            if (tile.rows() == height && tile.cols() == width)
                tiles.multiply<2>(tile.data(), c.stride(), add);
            else
                tiles.multiply_part(tile, add);
        }
}

/// multiply_block for pairs of bfloat16.
[[gnu::flatten]] inline void multiply_amx_block(const BlockProduct<float, Bfloat16Pair>& block) {
    const Index whole = block.depth / amx_step * amx_step, rest = block.depth - whole;
    finish_writes();
    if (whole > 0) multiply_amx_steps(block, 0, whole / amx_step, amx_step, block.add);
    if (rest > 0) multiply_amx_steps(block, whole, 1, rest, block.add || whole > 0);
    if (block.depth == 0 && !block.add)
        for (Index i = 0; i < block.c.rows(); ++i) std::fill_n(block.c[i].data(), block.c.cols(), 0.0F);
    _tile_release();
}

/// Packs at most micro_rows lines that are columns in memory, for one step of the depth.
inline void pack_amx_columns(Matrix<const Bfloat16Pair> columns, Bfloat16Pair* out) {
    using Lanes = MicroTile<Bfloat16Pair>::Lanes;
    Lanes square[amx_step] = {};
    const Index step = columns.rows(), lines = columns.cols();
    for (Index k = 0; k < step; ++k) std::memcpy(&square[k], columns[k].data(), static_cast<std::size_t>(lines) * 4);
    transpose_lanes<amx_step>(square);
    for (Index i = 0; i < lines; ++i) std::memcpy(out + i * step, &square[i], static_cast<std::size_t>(step) * 4);
}

/// pack_left for pairs of bfloat16: a panel is, for each step of the depth, the tile of A as it goes into its register.
[[gnu::flatten]] inline void pack_amx_left(Matrix<const Bfloat16Pair> stored, bool crossed, Bfloat16Pair* out,
                                           Index panel) {
    const Index lines = crossed ? stored.cols() : stored.rows(), depth = crossed ? stored.rows() : stored.cols();
    for (Index first = 0; first < lines; first += micro_rows, out += panel) {
        const Index last = std::min(first + micro_rows, lines);
        if (last - first < micro_rows) std::fill_n(out, depth * micro_rows, Bfloat16Pair(0));
        for (Index k = 0; k < depth; k += amx_step) {
            const Index end = std::min(k + amx_step, depth);
            Bfloat16Pair* tile = out + k * micro_rows;
            if (crossed)
                pack_amx_columns(stored.row_range(k, end).col_range(first, last), tile);
            else
                for (Index i = first; i < last; ++i)
                    std::memcpy(tile + (i - first) * (end - k), stored[i].data() + k,
                                static_cast<std::size_t>(end - k) * sizeof(Bfloat16Pair));
        }
    }
}

}  // namespace detail
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

#endif
