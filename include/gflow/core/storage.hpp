#pragma once
#include <gflow/core/buffer_pool.hpp>
#include <gflow/core/device.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

namespace gflow {

/// The memory behind one or several tensors, and a count of how often it was changed.
class Storage {
public:
    /// Fresh memory from the pool, not initialised.
    explicit Storage(std::size_t bytes) : data_(BufferPool::instance().allocate(bytes)), bytes_(bytes) {}
    /// Memory that belongs to somebody else; `keep_alive` is held as long as this storage lives.
    Storage(std::byte* data, std::size_t bytes, std::shared_ptr<void> keep_alive)
        : data_(data), bytes_(bytes), foreign_(true), keep_alive_(std::move(keep_alive)) {}
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;
    ~Storage() {
        if (!foreign_) BufferPool::instance().release(data_, bytes_);
    }

    std::byte* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

    /// Rises whenever somebody takes the memory to write to it; backward compares it with what it saw in forward.
    std::uint64_t version() const { return version_.load(std::memory_order_relaxed); }
    void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

private:
    std::byte* data_;
    std::size_t bytes_;
    bool foreign_ = false;
    std::shared_ptr<void> keep_alive_;
    std::atomic<std::uint64_t> version_{0};
};

}  // namespace gflow
