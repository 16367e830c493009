#include <gflow/core/parallel.hpp>

#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <utility>

#include "support/catch.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

struct Threads {
    explicit Threads(int threads) : before(num_threads()) { set_num_threads(threads); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;
    ~Threads() { set_num_threads(before); }
    int before;
};

std::set<std::pair<Index, Index>> ranges_of(Index n, Index tile) {
    std::mutex mutex;
    std::set<std::pair<Index, Index>> ranges;
    parallel_for(n, tile, [&](Index begin, Index end) {
        const std::lock_guard lock(mutex);
        ranges.emplace(begin, end);
    });
    return ranges;
}

}  // namespace

TEST_CASE("parallel_for covers every position once, in the same ranges for any number of threads") {
    for (int threads : {1, 2, 3, 8}) {
        const Threads scope(threads);
        CHECK(num_threads() == threads);
        CHECK(ranges_of(10, 4) == std::set<std::pair<Index, Index>>{{0, 4}, {4, 8}, {8, 10}});
        CHECK(ranges_of(4, 4) == std::set<std::pair<Index, Index>>{{0, 4}});
        CHECK(ranges_of(3, 100) == std::set<std::pair<Index, Index>>{{0, 3}});
        CHECK(ranges_of(0, 4).empty());
        CHECK(ranges_of(-1, 4).empty());
        std::vector<int> visits(100'000);
        parallel_for(100'000, 7, [&](Index begin, Index end) {
            for (Index i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
        });
        CHECK(visits == std::vector<int>(100'000, 1));
    }
}

TEST_CASE("several threads do take part") {
    const Threads scope(2);
    std::mutex mutex;
    std::set<std::thread::id> seen;
    parallel_for(2, 1, [&](Index, Index) {
        {
            const std::lock_guard lock(mutex);
            seen.insert(std::this_thread::get_id());
        }
        for (int i = 0; i < 2000; ++i) {  // wait for the other, two seconds at most
            {
                const std::lock_guard lock(mutex);
                if (seen.size() == 2) return;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    });
    CHECK(seen.size() == 2);
}

TEST_CASE("an exception in a tile reaches the caller, and the pool goes on") {
    for (int threads : {1, 3}) {
        const Threads scope(threads);
        for (int repeat = 0; repeat < 20; ++repeat) {
            CHECK_THROWS_WITH(parallel_for(100, 1,
                                           [](Index begin, Index) {
                                               if (begin == 57) fail<usage_error>("tile", "no 57");
                                           }),
                              contains("no 57"));
            CHECK(ranges_of(10, 4).size() == 3);
        }
    }
}

TEST_CASE("work inside work runs on the same thread") {
    const Threads scope(3);
    std::atomic<Index> sum{0};
    std::atomic<int> elsewhere{0};
    parallel_for(20, 1, [&](Index, Index) {
        const auto here = std::this_thread::get_id();
        parallel_for(50, 3, [&](Index begin, Index end) {
            elsewhere += std::this_thread::get_id() != here;
            sum += end - begin;
        });
    });
    CHECK(sum == 1000);
    CHECK(elsewhere == 0);
}

TEST_CASE("several threads may ask for work at once") {
    const Threads scope(2);
    std::atomic<Index> sum{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller)
        callers.emplace_back([&] {
            for (int repeat = 0; repeat < 200; ++repeat)
                parallel_for(64, 4, [&](Index begin, Index end) { sum += end - begin; });
        });
    for (std::thread& caller : callers) caller.join();
    CHECK(sum == 4 * 200 * 64);
}

TEST_CASE("several callers at once run no more threads than they are themselves, and the workers of the pool") {
    const Threads scope(3);
    std::mutex mutex;
    std::set<std::thread::id> seen;
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller)
        callers.emplace_back([&] {
            for (int repeat = 0; repeat < 50; ++repeat)
                parallel_for(16, 1, [&](Index, Index) {
                    const std::lock_guard lock(mutex);
                    seen.insert(std::this_thread::get_id());
                });
        });
    for (std::thread& caller : callers) caller.join();
    CHECK(seen.size() >= 4);
    CHECK(seen.size() <= 4 + 2);
}

TEST_CASE("parallel_rows visits each row once, whatever it costs") {
    for (Index cost : {0, 1, 100, 1'000'000}) {
        std::vector<int> visits(5'000);
        parallel_rows(5'000, cost, [&](Index row) { ++visits[static_cast<std::size_t>(row)]; });
        CHECK(visits == std::vector<int>(5'000, 1));
    }
    parallel_rows(0, 1, [](Index) { FAIL("there is no row"); });
}

TEST_CASE("at least one thread is needed") {
    CHECK_THROWS_WITH(set_num_threads(0),
                      contains("gflow::set_num_threads: at least one thread is needed; got threads=0"));
    CHECK_THROWS_AS(set_num_threads(-2), usage_error);
    CHECK_THROWS_WITH(set_num_threads(1'000'000),
                      contains("gflow::set_num_threads: at most 1024 threads can be used; got threads=1000000"));
    CHECK(num_threads() >= 1);
}

TEST_CASE("GFLOW_NUM_THREADS is a whole number from 1 to 1024, or not set") {
    CHECK(gflow::detail::threads_asked(nullptr) == 0);
    CHECK(gflow::detail::threads_asked("") == 0);
    CHECK(gflow::detail::threads_asked("1") == 1);
    CHECK(gflow::detail::threads_asked("1024") == 1024);
    CHECK_THROWS_WITH(gflow::detail::threads_asked("abc"),
                      contains("gflow::num_threads: GFLOW_NUM_THREADS must be a whole number from 1 to 1024; "
                               "got GFLOW_NUM_THREADS=abc"));
    for (const char* text : {"0", "-3", "1025", "99999999", "99999999999999999999", "4 cores", "2.5", " 2"})
        CHECK_THROWS_AS(gflow::detail::threads_asked(text), usage_error);
}
