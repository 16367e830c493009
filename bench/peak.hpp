#pragma once
// What this machine can do at best, measured: arithmetic in registers, and moving data of a given size.

#include <algorithm>
#include <gflow/config/eigen.hpp>
#include <gflow/core/parallel.hpp>
#include <limits>
#include <map>
#include <vector>

#include "timing.hpp"

namespace gflow::bench {

namespace detail {

/// The shortest time of f() in repeats that last a quarter of a second together: long enough for the threads to have
/// found a core each.
template <class F>
double shortest(const F& f) {
    double best = std::numeric_limits<double>::infinity();
    for (double total = 0; total < 0.25;) {
        const double seconds = seconds_of(f);
        best = std::min(best, seconds);
        total += seconds;
    }
    return best;
}

}  // namespace detail

/// float32 operations per second of all threads together, a multiply-add counting as two: twelve independent chains of
/// multiply-adds in registers, which hide the latency of each other.
inline double peak_flops() {
    using Packet = Eigen::internal::packet_traits<float>::type;
    constexpr Index lanes = Eigen::internal::packet_traits<float>::size, chains = 12, turns = 1 << 18;
    const Index pieces = 16 * num_threads();  // small ones, so that the threads end together
    std::vector<float> results(static_cast<std::size_t>(pieces));
    const double seconds = detail::shortest([&] {
        parallel_for(pieces, 1, [&](Index piece, Index) {
            const Packet factor = Eigen::internal::pset1<Packet>(0.999F), shift = Eigen::internal::pset1<Packet>(1);
            Packet x[chains];
            // Chains that differ: equal ones a compiler may compute once.
            for (Index i = 0; i < chains; ++i) x[i] = Eigen::internal::pset1<Packet>(static_cast<float>(i));
            for (Index turn = 0; turn < turns; ++turn)
                for (Packet& chain : x) chain = Eigen::internal::pmadd(chain, factor, shift);
            Packet sum = shift;
            for (const Packet& chain : x) sum = Eigen::internal::padd(sum, chain);
            results[static_cast<std::size_t>(piece)] = Eigen::internal::predux(sum);  // or nothing were computed
        });
    });
    return static_cast<double>(2 * lanes * chains * turns * pieces) / seconds;
}

/// Bytes per second of all threads that go over the same data again and again: read, or changed in place and counted
/// twice, whichever is faster. (A copy is slower: what it overwrites is fetched first.) It depends on which cache holds
/// the data.
class MemoryRate {
public:
    /// @param bytes  rounded down to a power of two, and kept within 1 MiB and 512 MiB
    double operator()(double bytes) {
        Index size = smallest;
        while (2 * size <= largest && 2 * static_cast<double>(size) <= bytes) size *= 2;
        const auto known = known_.find(size);
        return known != known_.end() ? known->second : known_.emplace(size, measured(size)).first->second;
    }
    /// Beyond all caches.
    double of_memory() { return (*this)(largest); }

private:
    static constexpr Index smallest = Index{1} << 20, largest = Index{1} << 29, tile = 16384;

    static double measured(Index bytes) {
        const Index numbers = bytes / static_cast<Index>(sizeof(float));
        std::vector<float> data(static_cast<std::size_t>(numbers), 1), sums(static_cast<std::size_t>(numbers / tile));
        const auto read = [&](Index begin, Index end) {
            const Eigen::Map<const Eigen::ArrayXf> piece(data.data() + begin, end - begin);
            sums[static_cast<std::size_t>(begin / tile)] = piece.sum();  // kept, or nothing were read
        };
        const auto change = [&](Index begin, Index end) {
            Eigen::Map<Eigen::ArrayXf>(data.data() + begin, end - begin) += 1;
        };
        const Index turns = std::max<Index>(1, (Index{1} << 28) / bytes);
        const auto seconds = [&](const auto& f) {
            return detail::shortest([&] {
                for (Index turn = 0; turn < turns; ++turn) parallel_for(numbers, tile, f);
            });
        };
        return static_cast<double>(bytes * turns) * std::max(1 / seconds(read), 2 / seconds(change));
    }

    std::map<Index, double> known_;
};

}  // namespace gflow::bench
