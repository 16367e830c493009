#pragma once
#include <gflow/core/errors.hpp>
#include <gflow/core/index.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

namespace gflow {

namespace detail {

inline constexpr int most_threads = 1024;

/// What GFLOW_NUM_THREADS says; 0 if it is not set, or empty.
/// @throws usage_error unless that is a whole number from 1 to most_threads
inline int threads_asked(const char* text) {
    const std::string_view asked = text == nullptr ? "" : text;
    if (asked.empty()) return 0;
    int threads = 0;
    const auto [end, problem] = std::from_chars(asked.data(), asked.data() + asked.size(), threads);
    require<usage_error>(
        problem == std::errc() && end == asked.data() + asked.size() && threads >= 1 && threads <= most_threads,
        "num_threads", "GFLOW_NUM_THREADS must be a whole number from 1 to 1024", {{"GFLOW_NUM_THREADS", asked}});
    return threads;
}

/// Work that is cut into tiles; threads take the next tile until none is left.
struct TiledWork {
    void (*run)(void* function, Index tile);
    void* function;
    Index tiles;
    std::atomic<Index> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr error{};

    void work() noexcept {
        for (Index tile = next.fetch_add(1); tile < tiles; tile = next.fetch_add(1)) {
            try {
                if (!failed.load(std::memory_order_relaxed)) run(function, tile);
            } catch (...) {
                if (!failed.exchange(true)) error = std::current_exception();
            }
        }
    }
};

/// A small pool of persistent threads. The calling thread works too, so n threads need n−1 workers.
/// The pool is leaked on purpose: work may still run while static objects are destroyed.
class ThreadPool {
public:
    static ThreadPool& instance() {
        static auto* pool = new ThreadPool;
        return *pool;
    }

    int size() const { return threads_.load(std::memory_order_relaxed); }

    void resize(int threads) {
        const std::lock_guard turn(turn_);
        stop_workers();
        threads_ = threads;
    }

    /// Runs the tiles on all threads; alone, if the pool is busy with another thread's work (so that several models
    /// training in one process never run more threads than asked for, plus their own).
    void execute(TiledWork& work) {
        const std::unique_lock turn(turn_, std::try_to_lock);
        if (!turn.owns_lock()) return work.work();
        start_workers();
        {
            const std::lock_guard lock(mutex_);
            work_ = &work;
            running_ = workers_.size();
            generation_.fetch_add(1, std::memory_order_release);
        }
        wake_.notify_all();
        work.work();
        std::unique_lock lock(mutex_);
        done_.wait(lock, [&] { return running_ == 0; });
        work_ = nullptr;
    }

private:
    ThreadPool() : threads_(default_threads()) {}

    static int default_threads() {
        if (const int asked = threads_asked(std::getenv("GFLOW_NUM_THREADS"))) return asked;
        return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, most_threads);
    }

    void start_workers() {
        while (static_cast<int>(workers_.size()) + 1 < size())
            workers_.emplace_back([this, seen = generation_.load()]() mutable { serve(seen); });
    }

    void stop_workers() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
            generation_.fetch_add(1, std::memory_order_release);
        }
        wake_.notify_all();
        for (std::thread& worker : workers_) worker.join();
        workers_.clear();
        stopping_ = false;
    }

    void serve(std::uint64_t seen) {
        for (;;) {
            // Ops follow each other within microseconds: a short spin saves the wake-up, a long one would waste a core.
            for (int spin = 0; spin < 2000 && generation_.load(std::memory_order_acquire) == seen; ++spin) pause();
            TiledWork* work = nullptr;
            {
                std::unique_lock lock(mutex_);
                wake_.wait(lock, [&] { return generation_.load() != seen; });
                seen = generation_.load();
                if (stopping_) return;
                work = work_;
            }
            work->work();
            const std::lock_guard lock(mutex_);
            if (--running_ == 0) done_.notify_one();
        }
    }

    static void pause() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }

    std::atomic<int> threads_;
    std::mutex turn_;  // one piece of work at a time
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::atomic<std::uint64_t> generation_{0};
    std::vector<std::thread> workers_;
    TiledWork* work_ = nullptr;
    std::size_t running_ = 0;
    bool stopping_ = false;
};

/// Set while a thread works on a tile: work inside work runs on the same thread.
inline thread_local bool inside_tile = false;

}  // namespace detail

/// The number of threads that kernels use. Default: GFLOW_NUM_THREADS, else the cores this process may run on.
/// @throws usage_error if GFLOW_NUM_THREADS is no whole number from 1 to 1024
inline int num_threads() { return detail::ThreadPool::instance().size(); }

/// @throws usage_error unless 1 ≤ threads ≤ 1024
inline void set_num_threads(int threads) {
    require<usage_error>(threads >= 1, "set_num_threads", "at least one thread is needed", {{"threads", threads}});
    require<usage_error>(threads <= detail::most_threads, "set_num_threads", "at most 1024 threads can be used",
                         {{"threads", threads}});
    detail::ThreadPool::instance().resize(threads);
}

/// Calls f(begin, end) for consecutive ranges of `tile` positions that cover 0 … n−1, on all threads.
/// The ranges do not depend on the number of threads, so neither do results. Exceptions reach the caller.
template <class F>
void parallel_for(Index n, Index tile, F&& f) {
    if (n <= 0) return;
    const Index tiles = (n + tile - 1) / tile;
    const auto run = [&](Index i) { f(i * tile, std::min(n, (i + 1) * tile)); };
    if (tiles == 1 || detail::inside_tile || num_threads() == 1) {
        for (Index i = 0; i < tiles; ++i) run(i);
        return;
    }
    auto guarded = [&](Index i) {
        detail::inside_tile = true;
        struct Leave {
            ~Leave() { detail::inside_tile = false; }
        } leave;
        run(i);
    };
    detail::TiledWork work{[](void* function, Index i) { (*static_cast<decltype(guarded)*>(function))(i); }, &guarded,
                           tiles};
    detail::ThreadPool::instance().execute(work);
    if (work.error) std::rethrow_exception(work.error);
}

/// Calls f(row) for each row; `cost` is roughly the number of elements that one row touches.
template <class F>
void parallel_rows(Index rows, Index cost, F&& f) {
    constexpr Index tile_cost = 16384;  // about 10 µs of light work: well above the price of handing out a tile
    const Index tile = std::max<Index>(1, tile_cost / std::max<Index>(1, cost));
    parallel_for(rows, tile, [&](Index begin, Index end) {
        for (Index row = begin; row < end; ++row) f(row);
    });
}

}  // namespace gflow
