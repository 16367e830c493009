#include <gflow/core/buffer_pool.hpp>
#include <gflow/core/create.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "support/catch.hpp"

// An allocator of a sanitizer ends the program where the system's own returns null.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GFLOW_TEST_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define GFLOW_TEST_SANITIZED
#endif
#endif

using namespace gflow;
using namespace gflow::test;

namespace {

BufferPool& pool() { return BufferPool::instance(); }

}  // namespace

TEST_CASE("a size class holds what was asked for, with at most an eighth to spare") {
    for (std::size_t bytes = 1; bytes < 3'000'000; bytes += 1 + bytes / 37) {
        const std::size_t size = BufferPool::class_size(bytes);
        CAPTURE(bytes, size);
        REQUIRE(size >= bytes);
        REQUIRE(size % BufferPool::alignment == 0);
        REQUIRE(BufferPool::class_size(size) == size);
        if (bytes > 512) REQUIRE(static_cast<double>(size) <= static_cast<double>(bytes) * 1.126);
    }
    CHECK(BufferPool::class_size(0) == BufferPool::alignment);
}

TEST_CASE("buffers are aligned, and used again") {
    for (std::size_t bytes : {0UL, 1UL, 63UL, 64UL, 65UL, 1000UL, 100'000UL}) {
        std::byte* first = pool().allocate(bytes);
        CHECK(reinterpret_cast<std::uintptr_t>(first) % BufferPool::alignment == 0);
        if (bytes > 0) std::memset(first, 1, bytes);
        pool().release(first, bytes);
        std::byte* second = pool().allocate(bytes);
        CHECK(second == first);
        pool().release(second, bytes);
    }
}

TEST_CASE("the pool counts what is live, its peak, and what it asked of the system") {
    const Tensor warm = empty({1000});
    pool().reset_peak();
    const PoolStatistics before = pool().statistics();
    CHECK(before.peak_bytes == before.live_bytes);
    const std::size_t size = BufferPool::class_size(4000);
    {
        const Tensor a = empty({1000}), b = empty({1000});
        CHECK(pool().statistics().live_bytes - before.live_bytes >= 2 * size);
    }
    const PoolStatistics after = pool().statistics();
    CHECK(after.live_bytes == before.live_bytes);
    CHECK(after.peak_bytes - before.live_bytes >= 2 * size);
    CHECK(after.cached_bytes >= 2 * size);
    for (int step = 0; step < 100; ++step) const Tensor a = empty({1000}), b = empty({1000});
    CHECK(pool().statistics().system_allocations == after.system_allocations);
    pool().trim();
    CHECK(pool().statistics().cached_bytes == 0);
    CHECK(pool().statistics().live_bytes == before.live_bytes);
    const Tensor again = empty({1000});
    CHECK(pool().statistics().system_allocations > after.system_allocations);
}

TEST_CASE("memory that the system has not is a clear error") {
#if defined(GFLOW_TEST_SANITIZED)
    WARN("skipped: sanitizers end the program here by themselves");
#else
    CHECK_THROWS_AS(empty({Index{1} << 57U}), out_of_memory_error);
    CHECK_THROWS_WITH(
        pool().allocate(std::size_t{1} << 60U),
        contains("gflow::allocate: the system has no memory left") && contains("bytes=1152921504606846976"));
#endif
    CHECK(zeros({3}).numel() == 3);
}

TEST_CASE("a request that fails is not counted") {
    const PoolStatistics before = pool().statistics();
#if !defined(GFLOW_TEST_SANITIZED)
    CHECK_THROWS_AS(pool().allocate(std::size_t{1} << 60U), out_of_memory_error);
#endif
    for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2})
        CHECK_THROWS_WITH(pool().allocate(bytes), contains("in use=" + std::to_string(before.live_bytes)));
    const PoolStatistics after = pool().statistics();
    CHECK(after.live_bytes == before.live_bytes);
    CHECK(after.peak_bytes == before.peak_bytes);
    CHECK(after.system_allocations == before.system_allocations);
}

TEST_CASE("threads may allocate and release at once") {
    const std::size_t before = pool().statistics().live_bytes;
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int id = 0; id < 4; ++id)
        threads.emplace_back([&wrong, id] {
            for (int repeat = 0; repeat < 500; ++repeat) {
                const Tensor x = full({100 + repeat % 7}, id);
                wrong += x.data<float>()[99] != static_cast<float>(id);
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(pool().statistics().live_bytes == before);
}

#if defined(ASAN_POISON_MEMORY_REGION)
namespace {

/// Whether f runs to its end in a process of its own.
template <class F>
bool survives(F f) {
    const pid_t child = fork();
    if (child == 0) {
        if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(3);
        f();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void touch(const volatile std::byte* at) { (void)*at; }

}  // namespace

TEST_CASE("AddressSanitizer finds planted errors in pooled memory") {
    for (std::size_t bytes : {1UL, 64UL, 100UL, 448UL, 512UL, 1000UL, 4096UL, 100'000UL}) {
        CAPTURE(bytes);
        std::byte* buffer = pool().allocate(bytes);
        CHECK(survives([&] { touch(buffer), touch(buffer + bytes - 1); }));
        CHECK_FALSE(survives([&] { touch(buffer + bytes); }));
        CHECK_FALSE(survives([&] { touch(buffer + bytes + 63); }));
        pool().release(buffer, bytes);
        CHECK_FALSE(survives([&] { touch(buffer); }));
        CHECK_FALSE(survives([&] { touch(buffer + bytes - 1); }));
    }
    const float* dangling = zeros({10}).data<float>();
    CHECK_FALSE(survives([&] { touch(reinterpret_cast<const std::byte*>(dangling)); }));
}
#endif
