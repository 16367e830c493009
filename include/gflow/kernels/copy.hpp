#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/core/span.hpp>

#include <algorithm>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// to = from, row by row; the rows may lie apart.  Both [rows, cols].
template <class T>
void copy(Matrix<const T> from, Matrix<T> to) {
    parallel_rows(from.rows(), from.cols(),
                  [&](Index row) { std::copy_n(from[row].data(), from.cols(), to[row].data()); });
}

/// to += from, row by row.  Both [rows, cols].
template <class T>
void add(Matrix<const T> from, Matrix<T> to) {
    parallel_rows(from.rows(), from.cols(), [&](Index row) {
        const T* source = from[row].data();
        T* target = to[row].data();
        for (Index j = 0; j < from.cols(); ++j) target[j] += source[j];
    });
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
