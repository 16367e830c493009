#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/span.hpp>

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

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
