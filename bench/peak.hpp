#pragma once
// What this machine can do at best, measured: arithmetic in registers, and copying at a given size of the data.

#include <algorithm>
#include <gflow/config/eigen.hpp>
#include <gflow/core/parallel.hpp>
#include <map>
#include <vector>

#include "timing.hpp"

namespace gflow::bench {

/// float32 operations per second of all threads together, a multiply-add counting as two: twelve independent chains of
/// multiply-adds in registers, which hide the latency of each other.
inline double peak_flops() {
    using Packet = Eigen::internal::packet_traits<float>::type;
    constexpr Index lanes = Eigen::internal::packet_traits<float>::size, chains = 12, turns = 1 << 18;
    const Index pieces =
        16 * num_threads();  // so that a thread which starts late does not leave the last one to another
    std::vector<float> results(static_cast<std::size_t>(pieces));
    double best = 0;
    for (int repeat = 0; repeat < 8; ++repeat) {
        const double seconds = seconds_of([&] {
            parallel_for(pieces, 1, [&](Index piece, Index) {
                const Packet factor = Eigen::internal::pset1<Packet>(0.999F), shift = Eigen::internal::pset1<Packet>(1);
                Packet x[chains];
                std::fill(x, x + chains, shift);
                for (Index turn = 0; turn < turns; ++turn)
                    for (Packet& chain : x) chain = Eigen::internal::pmadd(chain, factor, shift);
                Packet sum = shift;
                for (const Packet& chain : x) sum = Eigen::internal::padd(sum, chain);
                results[static_cast<std::size_t>(piece)] = Eigen::internal::predux(sum);  // or nothing were computed
            });
        });
        best = std::max(best, static_cast<double>(2 * lanes * chains * turns * pieces) / seconds);
    }
    return best;
}

/// Bytes per second, read and written, of all threads that copy over and over between two buffers. It depends on which
/// cache holds them.
class CopyRate {
public:
    /// @param bytes  of both buffers together; rounded down to a power of two, and kept within 1 MiB and 512 MiB
    double operator()(double bytes) {
        Index size = smallest;
        while (2 * size <= largest && 2 * static_cast<double>(size) <= bytes) size *= 2;
        const auto known = known_.find(size);
        return known != known_.end() ? known->second : known_.emplace(size, measured(size)).first->second;
    }
    /// From memory, beyond all caches.
    double memory() { return (*this)(largest); }

private:
    static constexpr Index smallest = Index{1} << 20, largest = Index{1} << 29;

    static double measured(Index bytes) {
        const Index numbers = bytes / static_cast<Index>(2 * sizeof(float));
        const std::vector<float> from(static_cast<std::size_t>(numbers), 1);
        std::vector<float> to(static_cast<std::size_t>(numbers));
        const Index turns = std::max<Index>(1, (Index{1} << 28) / bytes);
        double best = 0;
        for (int repeat = 0; repeat < 6; ++repeat) {
            const double seconds = seconds_of([&] {
                for (Index turn = 0; turn < turns; ++turn)
                    parallel_for(numbers, 16384, [&](Index begin, Index end) {
                        std::copy(from.data() + begin, from.data() + end, to.data() + begin);
                    });
            });
            best = std::max(best, static_cast<double>(bytes * turns) / seconds);
        }
        return best;
    }

    std::map<Index, double> known_;
};

}  // namespace gflow::bench
