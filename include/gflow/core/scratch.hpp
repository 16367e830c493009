#pragma once
#include <gflow/core/buffer_pool.hpp>
#include <gflow/core/span.hpp>

namespace gflow {

/// Memory of the pool for the inside of one kernel, not initialised; returned at the end of the scope.
template <class T>
class Scratch {
public:
    explicit Scratch(Index size)
        : size_(size),
          data_(reinterpret_cast<T*>(BufferPool::instance().allocate(static_cast<std::size_t>(size) * sizeof(T)))) {}
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        BufferPool::instance().release(reinterpret_cast<std::byte*>(data_),
                                       static_cast<std::size_t>(size_) * sizeof(T));
    }
    T* data() const { return data_; }
    operator Vector<T>() const { return {data_, size_}; }
    /// The first rows × cols elements as a matrix.
    Matrix<T> rows(Index rows, Index cols) const { return {data_, rows, cols}; }

private:
    Index size_;
    T* data_;
};

}  // namespace gflow
