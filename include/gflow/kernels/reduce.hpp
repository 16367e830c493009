#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/core/scratch.hpp>

#include <algorithm>
#include <cmath>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

namespace detail {

/// Σ x in double, in an order that depends on n alone: 16 running sums, which the compiler keeps in vectors.
template <class T>
double sum_of(const T* x, Index n) {
    constexpr Index lanes = 16;
    double lane[lanes] = {};
    Index i = 0;
    for (; i + lanes <= n; i += lanes)
        for (Index k = 0; k < lanes; ++k) lane[k] += static_cast<double>(x[i + k]);
    for (Index k = 0; i + k < n; ++k) lane[k] += static_cast<double>(x[i + k]);
    for (Index half = lanes / 2; half > 0; half /= 2)
        for (Index k = 0; k < half; ++k) lane[k] += lane[k + half];
    return lane[0];
}

/// to[j] = Σ_i x[i, j] in double over the first `cols` of each row.
template <class T>
void sum_columns_of(const T* x, Index rows, Index cols, Index stride, double* to) {
    std::fill_n(to, cols, 0.0);
    Index i = 0;
    for (; i + 4 <= rows; i += 4) {
        const T *r0 = x + i * stride, *r1 = r0 + stride, *r2 = r1 + stride, *r3 = r2 + stride;
        for (Index j = 0; j < cols; ++j)
            to[j] += (static_cast<double>(r0[j]) + static_cast<double>(r1[j])) +
                     (static_cast<double>(r2[j]) + static_cast<double>(r3[j]));
    }
    for (; i < rows; ++i)
        for (Index j = 0; j < cols; ++j) to[j] += static_cast<double>(x[i * stride + j]);
}

}  // namespace detail

/// y[o, j] = Σ_i x[o, i, j] / divisor.  x: [outer, n, inner], y: [outer, inner].
/// Sums are taken in double, block by block of a size that does not depend on the number of threads.
template <class T>
void sum(const T* x, Index outer, Index n, Index inner, T* y, Index divisor = 1) {
    const auto finish = [divisor](double total) { return static_cast<T>(total / static_cast<double>(divisor)); };
    constexpr Index block = 32768;  // elements summed by one thread at a time
    const Index width = std::min<Index>(std::max<Index>(inner, 1), 1024);
    const Index block_rows = std::max<Index>(32, block / width);
    const Index blocks = std::max<Index>(1, (n + block_rows - 1) / block_rows);
    const Index widths = (inner + width - 1) / width;
    const Scratch<double> partial(blocks > 1 ? outer * blocks * inner : 0);

    const Index cost = std::max<Index>(1, std::min(n, block_rows) * width);
    parallel_for(outer * blocks * widths, std::max<Index>(1, block / cost), [&](Index first, Index last) {
        double local[1024];
        for (Index item = first; item < last; ++item) {
            const Index j = item % widths * width;
            const Index b = item / widths % blocks;
            const Index o = item / widths / blocks;
            const Index cols = std::min(width, inner - j);
            const Index rows = std::min(block_rows, n - b * block_rows);
            const T* from = x + (o * n + b * block_rows) * inner + j;
            double* to = blocks > 1 ? partial.data() + (o * blocks + b) * inner + j : local;
            if (inner == 1)
                to[0] = detail::sum_of(from, rows);
            else
                detail::sum_columns_of(from, rows, cols, inner, to);
            if (blocks == 1) std::transform(local, local + cols, y + o * inner + j, finish);
        }
    });
    if (blocks == 1) return;
    parallel_rows(outer, blocks * inner, [&](Index o) {
        double* total = partial.data() + o * blocks * inner;
        for (Index b = 1; b < blocks; ++b)
            for (Index j = 0; j < inner; ++j) total[j] += total[b * inner + j];
        std::transform(total, total + inner, y + o * inner, finish);
    });
}

/// dx[o, i, j] = dy[o, j] / divisor, or is added to.  dx: [outer, n, inner], dy: [outer, inner].
template <class T>
void sum_backward(const T* dy, Index outer, Index n, Index inner, T* dx, bool accumulate, Index divisor = 1) {
    const T scale = T(1) / static_cast<T>(divisor);
    const bool rows = inner == 1;  // then dx is filled row by row with one number each
    const Index length = rows ? n : inner;
    parallel_rows(rows ? outer : outer * n, length, [&](Index row) {
        const T* from = dy + (rows ? row : row / n * inner);
        T* to = dx + row * length;
        const Index step = rows ? 0 : 1;
        if (accumulate)
            for (Index j = 0; j < length; ++j) to[j] += from[j * step] * scale;
        else
            for (Index j = 0; j < length; ++j) to[j] = from[j * step] * scale;
    });
}

/// y[o, j] = max_i x[o, i, j], and at[o, j] = the first i where that is; the first NaN wins.
/// x: [outer, n, inner], n ≥ 1; y, at: [outer, inner].
template <class T>
void max(const T* x, Index outer, Index n, Index inner, T* y, Index* at) {
    const Index width = std::min<Index>(std::max<Index>(inner, 1), 1024);
    const Index widths = (inner + width - 1) / width;
    parallel_rows(outer * widths, n * width, [&](Index item) {
        const Index o = item / widths, j0 = item % widths * width;
        const Index j1 = std::min(inner, j0 + width);
        const T* from = x + o * n * inner;
        T* best = y + o * inner;
        Index* where = at + o * inner;
        std::copy(from + j0, from + j1, best + j0);
        std::fill(where + j0, where + j1, 0);
        for (Index i = 1; i < n; ++i)
            for (Index j = j0; j < j1; ++j) {
                const T value = from[i * inner + j];
                if (value > best[j] || (std::isnan(value) && !std::isnan(best[j]))) {
                    best[j] = value;
                    where[j] = i;
                }
            }
    });
}

/// dx[o, at[o, j], j] += dy[o, j].  dx: [outer, n, inner]; dy, at: [outer, inner].
template <class T>
void max_backward(const T* dy, const Index* at, Index outer, Index n, Index inner, T* dx) {
    parallel_rows(outer, inner, [&](Index o) {
        for (Index j = 0; j < inner; ++j) dx[(o * n + at[o * inner + j]) * inner + j] += dy[o * inner + j];
    });
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
