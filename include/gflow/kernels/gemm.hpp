#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/kernels/eigen_maps.hpp>

#include <algorithm>
#include <utility>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// A factor of a matrix product: a matrix in memory, read as it is or transposed.
template <class T>
struct Factor {
    Matrix<const T> stored;
    bool transposed = false;

    Factor(Matrix<const T> matrix, bool transpose = false) : stored(matrix), transposed(transpose) {}
    Factor(Matrix<T> matrix, bool transpose = false) : stored(matrix), transposed(transpose) {}
    Index rows() const { return transposed ? stored.cols() : stored.rows(); }
    Index cols() const { return transposed ? stored.rows() : stored.cols(); }
    Factor row_range(Index begin, Index end) const {
        return {transposed ? stored.col_range(begin, end) : stored.row_range(begin, end), transposed};
    }
    Factor col_range(Index begin, Index end) const {
        return {transposed ? stored.row_range(begin, end) : stored.col_range(begin, end), transposed};
    }
};

template <class T>
Factor<T> transposed(Matrix<const T> matrix) {
    return {matrix, true};
}
template <class T>
Factor<T> transposed(Matrix<T> matrix) {
    return {Matrix<const T>(matrix), true};
}

/// What happens to the elements of C that are there already.
enum class Onto { overwrite, add };

/// C = A·B, or C += A·B, on one thread.  A: [m, k], B: [k, n], C: [m, n].
template <class T>
void gemm_tile(Factor<T> a, Factor<T> b, Matrix<T> c, Onto onto) {
    auto out = matrix(c);
    const auto multiply = [&](const auto& left, const auto& right) {
        if (onto == Onto::add)
            out.noalias() += left * right;
        else
            out.noalias() = left * right;
    };
    const auto left = matrix(a.stored);
    const auto right = matrix(b.stored);
    if (!a.transposed && !b.transposed) multiply(left, right);
    if (!a.transposed && b.transposed) multiply(left, right.transpose());
    if (a.transposed && !b.transposed) multiply(left.transpose(), right);
    if (a.transposed && b.transposed) multiply(left.transpose(), right.transpose());
}

namespace detail {

/// Size of the tiles that C is cut into. It depends on the shape alone, never on the number of threads: each tile is
/// computed by one thread in one way, so the bits of the result do not depend on it either.
inline std::pair<Index, Index> gemm_tiles(Index rows, Index cols, Index depth) {
    Index tile_rows = 256, tile_cols = 1024;  // large enough that packing the factors anew for each tile costs little
    const auto count = [&] { return ((rows + tile_rows - 1) / tile_rows) * ((cols + tile_cols - 1) / tile_cols); };
    const bool worth_cutting = rows * cols * depth > 64 * 64 * 64;
    while (worth_cutting && count() < 8 && (tile_rows > 32 || tile_cols > 32))
        (std::min(tile_rows, rows) > std::min(tile_cols, cols) ? tile_rows : tile_cols) /= 2;
    return {tile_rows, tile_cols};
}

}  // namespace detail

/// C = A·B, or C += A·B, on all threads, then finish(tile of C, its first row, its first column) while the tile is in
/// cache.  A: [m, k], B: [k, n], C: [m, n].  The one door to matrix products.
template <class T, class Finish>
void gemm(Factor<T> a, Factor<T> b, Matrix<T> c, Onto onto, Finish&& finish) {
    if (c.rows() == 0 || c.cols() == 0) return;
    const auto [tile_rows, tile_cols] = detail::gemm_tiles(c.rows(), c.cols(), a.cols());
    const Index height = tile_rows, width = tile_cols;
    const Index across = (c.cols() + width - 1) / width;
    const Index down = (c.rows() + height - 1) / height;
    parallel_for(across * down, 1, [&](Index begin, Index end) {
        for (Index tile = begin; tile < end; ++tile) {
            const Index row = tile / across * height, col = tile % across * width;
            const Index row_end = std::min(row + height, c.rows()), col_end = std::min(col + width, c.cols());
            const Matrix<T> part = c.row_range(row, row_end).col_range(col, col_end);
            gemm_tile<T>(a.row_range(row, row_end), b.col_range(col, col_end), part, onto);
            finish(part, row, col);
        }
    });
}
template <class T>
void gemm(Factor<T> a, Factor<T> b, Matrix<T> c, Onto onto = Onto::overwrite) {
    gemm(a, b, c, onto, [](Matrix<T>, Index, Index) {});
}

/// out[j] += Σ_i x[i][j].  Each column is added from top to bottom, whatever the number of threads.
template <class T>
void add_column_sums(Matrix<const T> x, Vector<T> out) {
    parallel_for(x.cols(), 64, [&](Index begin, Index end) {
        auto sum = array(out.data() + begin, end - begin);
        for (Index row = 0; row < x.rows(); ++row) sum += array(x[row].data() + begin, end - begin);
    });
}

#if defined(GFLOW_EXTERN_TEMPLATES)
extern template void gemm_tile<float>(Factor<float>, Factor<float>, Matrix<float>, Onto);
extern template void gemm_tile<double>(Factor<double>, Factor<double>, Matrix<double>, Onto);
#endif

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
