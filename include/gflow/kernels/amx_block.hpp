#pragma once
/// Products of pairs of bfloat16 by Intel's matrix extension (AMX, in processors since Sapphire Rapids): tile registers
/// of 16 rows × 64 bytes, and an instruction that multiplies two of them. There it is an order of magnitude faster than
/// the vector dot product, which is slower than float32.
#include <gflow/config/intrinsics.hpp>
#include <gflow/config/isa.hpp>
#include <gflow/kernels/micro_kernel.hpp>
#include <gflow/kernels/micro_tile.hpp>
#include <gflow/kernels/pack_pairs.hpp>
#include <gflow/kernels/transpose_lanes.hpp>

#include <algorithm>
#include <cstring>

#if defined(GFLOW_HAS_AMX)

namespace gflow::kernels {
inline namespace GFLOW_ISA {
namespace detail {

/// Pairs along the depth that one instruction multiplies, and columns of a tile of C or B.
inline constexpr Index amx_step = 16, amx_cols = 16, amx_tile_cols = 2 * amx_cols;

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

    /// C = or += A·B.  c: [panels · micro_rows, amx_tile_cols], rows `c_row` apart.
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
        float whole[2 * micro_rows][amx_tile_cols] = {};
        for (Index i = 0; add && i < c.rows(); ++i) std::copy_n(c[i].data(), c.cols(), whole[i]);
        finish_writes();
        if (c.rows() > micro_rows)
            multiply<2>(whole[0], amx_tile_cols, add);
        else
            multiply<1>(whole[0], amx_tile_cols, add);
        for (Index i = 0; i < c.rows(); ++i) std::copy_n(whole[i], c.cols(), c[i].data());
    }
};

/// The steps of the depth that begin at pair `begin`, all of them `step` pairs deep.
inline void multiply_amx_steps(const BlockProduct<float, Bfloat16Pair>& block, Index begin, Index steps, Index step,
                               bool add) {
    constexpr Index height = 2 * micro_rows, width = amx_tile_cols;
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

/// Packs lines that are columns in memory.
inline void pack_amx_columns(Matrix<const float> stored, Bfloat16Pair* out, Index panel) {
    constexpr Index lines = rounded_pairs / amx_step / micro_rows * micro_rows;
    using Lanes = MicroTile<Bfloat16Pair>::Lanes;
    Bfloat16Pair memory[amx_step * (lines + amx_cols)] = {};  // the last square reads beyond its lines
    for (Index line = 0; line < stored.cols(); line += lines)
        for (Index k = 0; k < stored.rows(); k += 2 * amx_step) {
            const Matrix<const float> part = stored.row_range(k, std::min(k + 2 * amx_step, stored.rows()))
                                                 .col_range(line, std::min(line + lines, stored.cols()));
            const Index step = (part.rows() + 1) / 2;
            const Matrix<Bfloat16Pair> rounded(memory, step, part.cols(), lines + amx_cols);
            round_row_pairs(part, rounded);
            Bfloat16Pair* tile = out + line / micro_rows * panel + k / 2 * micro_rows;
            for (Index first = 0; first < part.cols(); first += micro_rows, tile += panel) {
                Lanes square[amx_step] = {};
                for (Index p = 0; p < step; ++p) std::memcpy(&square[p], rounded[p].data() + first, sizeof(Lanes));
                transpose_lanes<amx_step>(square);
                for (Index i = 0; i < std::min(micro_rows, part.cols() - first); ++i)
                    std::memcpy(tile + i * step, &square[i], static_cast<std::size_t>(step) * sizeof(Bfloat16Pair));
            }
        }
}

/// Packs lines that are rows in memory.
inline void pack_amx_rows(Matrix<const float> stored, Bfloat16Pair* out, Index panel) {
    constexpr Index ahead = 2;  // lines that are asked for early: worth 5 % of a training step
    for (Index line = 0; line < stored.rows(); ++line) {
        Bfloat16Pair* first_tile = out + line / micro_rows * panel;
        for (Index k = 0; k < stored.cols(); k += 2 * amx_step) {
            const float* from = stored[line].data() + k;
            const Index size = std::min(2 * amx_step, stored.cols() - k), step = (size + 1) / 2;
            if (line + ahead < stored.rows()) ask_for(from + ahead * stored.stride(), size);
            Bfloat16Pair* to = first_tile + k / 2 * micro_rows + line % micro_rows * step;
            if (size == 2 * amx_step)
                round_pairs(from, 2 * amx_step, to);
            else
                round_pairs(from, size, to);
        }
    }
}

/// pack_pairs for the left factor: a panel is, for each step of the depth, the tile of A as it goes into its register.
[[gnu::flatten]] inline void pack_amx_left(Matrix<const float> stored, bool crossed, Bfloat16Pair* out, Index panel) {
    const Index lines = crossed ? stored.cols() : stored.rows(), depth = crossed ? stored.rows() : stored.cols();
    if (const Index whole = lines / micro_rows * micro_rows; whole < lines)
        std::fill_n(out + whole / micro_rows * panel, (depth + 1) / 2 * micro_rows, Bfloat16Pair(0));
    crossed ? pack_amx_columns(stored, out, panel) : pack_amx_rows(stored, out, panel);
}

}  // namespace detail
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

#endif
