#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/span.hpp>

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

/// micro_rows lines of A as the micro-kernel reads them: a(i, k) = line[i][k · step]. Step is 1 where A lies in memory
/// row by row, and micro_rows where it was packed.
template <class T>
struct MicroRows {
    const T* line[micro_rows];
};

/// The piece of C that stays in registers while the depth runs: micro_rows × 2 vectors.
template <class T>
struct MicroTile {
    typedef T Lanes __attribute__((vector_size(vector_bytes)));
    typedef T LanesAnywhere __attribute__((vector_size(vector_bytes), aligned(alignof(T)), may_alias));
    static constexpr Index lanes = vector_bytes / static_cast<Index>(sizeof(T));
    static constexpr Index cols = 2 * lanes;

    Lanes sum[micro_rows][2];

    /// sum = Σ_k a(·, k) ⊗ b(k, ·).  b: [depth, cols], packed and aligned to the vector.
    template <Index step>
    void multiply(Index depth, const MicroRows<T>& a, const T* b) {
#pragma GCC unroll 16
        for (Index i = 0; i < micro_rows; ++i) sum[i][0] = sum[i][1] = Lanes{};
#pragma GCC unroll 4
        for (Index k = 0; k < depth; ++k, b += cols) {
            const auto* right = reinterpret_cast<const Lanes*>(b);
            const Lanes b0 = right[0], b1 = right[1];
#pragma GCC unroll 16
            for (Index i = 0; i < micro_rows; ++i) {
                sum[i][0] += a.line[i][k * step] * b0;
                sum[i][1] += a.line[i][k * step] * b1;
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

}  // namespace detail
}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
