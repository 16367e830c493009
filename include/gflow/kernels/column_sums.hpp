#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/core/scratch.hpp>
#include <gflow/kernels/eigen_maps.hpp>

#include <algorithm>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// sums += what all rows give; f(begin, end, part) adds the share of the rows begin … end−1 to part.  sums, part: [n].
/// The rows are cut into at most 64 blocks, whatever the number of threads, and the parts are added in order: so the
/// bits do not depend on it, rows are read from end to end, and f may do other work on a row while it is in cache.
template <class T, class F>
void sum_over_rows(Index rows, Vector<T> sums, F f) {
    constexpr Index most_blocks = 64, block_cost = 16384;
    if (rows == 0) return;
    const Index n = sums.size();
    const Index block = std::max((rows + most_blocks - 1) / most_blocks, block_cost / std::max<Index>(n, 1) + 1);
    const Index blocks = (rows + block - 1) / block;
    const Scratch<T> scratch(blocks * n);
    const Matrix<T> parts = scratch.rows(blocks, n);
    parallel_for(rows, block, [&](Index begin, Index end) {
        const Vector<T> part = parts[begin / block];
        array(part).setZero();
        f(begin, end, part);
    });
    for (Index i = 0; i < blocks; ++i) array(sums) += array(parts[i]);
}

/// sums[j] += Σ_i x[i][j].  x: [rows, n], sums: [n].
template <class T>
void column_sums(Matrix<const T> x, Vector<T> sums) {
    sum_over_rows<T>(x.rows(), sums, [&](Index begin, Index end, Vector<T> part) {
        for (Index row = begin; row < end; ++row) array(part) += array(x[row]);
    });
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
