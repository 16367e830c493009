#pragma once
#include <gflow/core/errors.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif

namespace gflow {

/// What the buffer pool has done so far. Peaks can be reset, to measure one op.
struct PoolStatistics {
    std::size_t live_bytes = 0;            ///< handed out now
    std::size_t peak_bytes = 0;            ///< most ever handed out at once, since reset_peak()
    std::size_t cached_bytes = 0;          ///< kept for the next request
    std::uint64_t system_allocations = 0;  ///< requests that the cache could not serve
};

/// Keeps freed buffers for the next request of their size class, so that a steady training step asks the system for
/// nothing. One leaked singleton: tensors with static lifetime may outlive everything else.
/// Under AddressSanitizer freed buffers, the slack of a size class and a red zone behind each buffer are poisoned.
class BufferPool {
public:
    static constexpr std::size_t alignment = 64;  // a cache line, and the widest vector

    static BufferPool& instance() {
        static auto* pool = new BufferPool;
        return *pool;
    }

    /// @throws out_of_memory_error naming the size if the system has no memory left; then nothing is counted
    std::byte* allocate(std::size_t bytes) {
        if (bytes > largest) refuse(bytes);
        const std::size_t size = class_size(bytes + red_zone);
        std::byte* buffer = take_cached(size);
        if (buffer == nullptr) buffer = system_allocate(size, bytes);
        unpoison(buffer, size);
        poison(buffer + bytes, size - bytes);
        return buffer;
    }

    /// `bytes` must be what allocate was asked for.
    void release(std::byte* buffer, std::size_t bytes) noexcept {
        const std::size_t size = class_size(bytes + red_zone);
        poison(buffer, size);
        const std::lock_guard lock(mutex_);
        statistics_.live_bytes -= size;
        statistics_.cached_bytes += size;
        free_[class_slot(size)].push_back(buffer);
    }

    /// Gives the cached buffers back to the system.
    void trim() noexcept {
        const std::lock_guard lock(mutex_);
        for (auto& free : free_) {
            for (std::byte* buffer : free) std::free(buffer);
            free.clear();
        }
        statistics_.cached_bytes = 0;
    }

    PoolStatistics statistics() const {
        const std::lock_guard lock(mutex_);
        return statistics_;
    }
    void reset_peak() {
        const std::lock_guard lock(mutex_);
        statistics_.peak_bytes = statistics_.live_bytes;
    }

    /// Eight classes to each power of two: at most 12.5 % of a buffer is slack.
    static std::size_t class_size(std::size_t bytes) {
        if (bytes <= 8 * alignment) return (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
        const std::size_t step = std::bit_floor(bytes - 1) / 8;
        return (bytes + step - 1) / step * step;
    }

private:
    static std::size_t class_slot(std::size_t size) {
        if (size <= 8 * alignment) return size / alignment;
        const auto power = static_cast<std::size_t>(std::bit_width(size - 1));
        const std::size_t step = (std::size_t{1} << (power - 1)) / 8;
        return power * 8 + (size / step - 8);
    }

    /// A buffer of this size class that was freed earlier; null if there is none.
    std::byte* take_cached(std::size_t size) {
        const std::lock_guard lock(mutex_);
        auto& free = free_[class_slot(size)];
        if (free.empty()) return nullptr;
        std::byte* buffer = free.back();
        free.pop_back();
        statistics_.cached_bytes -= size;
        count_live(size);
        return buffer;
    }

    std::byte* system_allocate(std::size_t size, std::size_t asked) {
        void* memory = std::aligned_alloc(alignment, size);
        if (memory == nullptr) {
            trim();
            memory = std::aligned_alloc(alignment, size);
        }
        if (memory == nullptr) refuse(asked);
        const std::lock_guard lock(mutex_);
        ++statistics_.system_allocations;
        count_live(size);
        return static_cast<std::byte*>(memory);
    }

    /// The caller holds the lock.
    void count_live(std::size_t size) {
        statistics_.live_bytes += size;
        statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.live_bytes);
    }

    [[noreturn]] void refuse(std::size_t asked) const {
        fail<out_of_memory_error>(
            "allocate", "the system has no memory left for this tensor; lower the batch, the length or the model",
            {{"bytes", asked}, {"in use", statistics().live_bytes}});
    }

    static constexpr std::size_t largest = std::size_t{1} << 62U;  // more would overflow while a class is rounded up
#if defined(ASAN_POISON_MEMORY_REGION)
    static constexpr std::size_t red_zone = 64;
    static void poison(std::byte* begin, std::size_t bytes) { ASAN_POISON_MEMORY_REGION(begin, bytes); }
    static void unpoison(std::byte* begin, std::size_t bytes) { ASAN_UNPOISON_MEMORY_REGION(begin, bytes); }
#else
    static constexpr std::size_t red_zone = 0;
    static void poison(std::byte*, std::size_t) {}
    static void unpoison(std::byte*, std::size_t) {}
#endif

    mutable std::mutex mutex_;
    std::array<std::vector<std::byte*>, 66 * 8> free_;
    PoolStatistics statistics_;
};

}  // namespace gflow
