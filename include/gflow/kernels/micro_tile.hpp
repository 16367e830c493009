#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/span.hpp>
#include <gflow/kernels/bfloat16_pair.hpp>

#include <type_traits>

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

/// micro_rows lines of A as the micro-kernel reads them: where they lie in memory, a(i, k) = line[i][k], or from a
/// panel that begins at line[0], a(i, k) = line[0][k · micro_rows + i], which takes one pointer instead of many.
template <class Operand>
struct MicroRows {
    const Operand* line[micro_rows];

    template <bool packed>
    Operand at(Index i, Index k) const {
        return packed ? line[0][k * micro_rows + i] : line[i][k];
    }
};

/// The piece of C that stays in registers while the depth runs: micro_rows × 2 vectors.
template <class T>
struct MicroTile {
    typedef T Lanes __attribute__((vector_size(vector_bytes)));
    typedef T LanesAnywhere __attribute__((vector_size(vector_bytes), aligned(alignof(T)), may_alias));
    static constexpr Index lanes = vector_bytes / static_cast<Index>(sizeof(T));
    static constexpr Index cols = 2 * lanes;

    Lanes sum[micro_rows][2];

    /// sum = Σ_k a(·, k) ⊗ b(k, ·).  b: [depth, cols], `step` elements from row to row. Operands are T, or pairs of
    /// bfloat16, whose two products count as one. Calls ask(0), ask(1) … on the way, every eight terms.
    template <bool packed, class Operand, class Ask>
    void multiply(Index depth, const MicroRows<Operand>& a, const Operand* b, Index step, Ask ask) {
#pragma GCC unroll 16
        for (Index i = 0; i < micro_rows; ++i) sum[i][0] = sum[i][1] = Lanes{};
        Index k = 0;
        for (; k + 8 <= depth; k += 8, b += 8 * step) {
            ask(k / 8);
#pragma GCC unroll 2
            for (Index term = 0; term < 8; ++term) add_term<packed>(a, k + term, b + term * step);
        }
        for (; k < depth; ++k, b += step) add_term<packed>(a, k, b);
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
    /// sum += a(·, k) ⊗ b.
    template <bool packed, class Operand>
    [[gnu::always_inline]] void add_term(const MicroRows<Operand>& a, Index k, const Operand* b) {
        const auto* right = reinterpret_cast<const typename MicroTile<Operand>::LanesAnywhere*>(b);
        const typename MicroTile<Operand>::Lanes b0 = right[0], b1 = right[1];
#pragma GCC unroll 16
        for (Index i = 0; i < micro_rows; ++i) {
            if constexpr (std::is_same_v<Operand, T>) {
                sum[i][0] += a.template at<packed>(i, k) * b0;
                sum[i][1] += a.template at<packed>(i, k) * b1;
            } else {
                sum[i][0] = add_dot(sum[i][0], a.template at<packed>(i, k), b0);
                sum[i][1] = add_dot(sum[i][1], a.template at<packed>(i, k), b1);
            }
        }
    }
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

}  // namespace detail
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
