#pragma once
#include <gflow/core/index.hpp>

#include <type_traits>

namespace gflow {

/// A run of elements that lie side by side in somebody else's memory.
template <class T>
class Vector {
public:
    Vector(T* data, Index size) : data_(data), size_(size) {}
    operator Vector<const T>() const requires(!std::is_const_v<T>) { return {data_, size_}; }
    T* data() const { return data_; }
    Index size() const { return size_; }
    T& operator[](Index i) const { return data_[i]; }
    T* begin() const { return data_; }
    T* end() const { return data_ + size_; }

private:
    T* data_;
    Index size_;
};

/// Rows of equal length in somebody else's memory; `stride` elements lie between the starts of two rows.
template <class T>
class Matrix {
public:
    Matrix(T* data, Index rows, Index cols) : Matrix(data, rows, cols, cols) {}
    Matrix(T* data, Index rows, Index cols, Index stride) : data_(data), rows_(rows), cols_(cols), stride_(stride) {}
    operator Matrix<const T>() const requires(!std::is_const_v<T>) { return {data_, rows_, cols_, stride_}; }
    T* data() const { return data_; }
    Index rows() const { return rows_; }
    Index cols() const { return cols_; }
    Index stride() const { return stride_; }
    Vector<T> operator[](Index row) const { return {data_ + row * stride_, cols_}; }
    /// Rows begin … end−1.
    Matrix row_range(Index begin, Index end) const { return {data_ + begin * stride_, end - begin, cols_, stride_}; }
    /// Columns begin … end−1.
    Matrix col_range(Index begin, Index end) const { return {data_ + begin, rows_, end - begin, stride_}; }

private:
    T* data_;
    Index rows_, cols_, stride_;
};

}  // namespace gflow
