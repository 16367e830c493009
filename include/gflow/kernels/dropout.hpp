#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/core/random.hpp>
#include <gflow/core/span.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

inline constexpr Index random_group = 64;

/// The words of the blocks first … first+15, that is of 64 elements, in their order: what RandomCall::block gives one
/// by one. Sixteen blocks side by side keep the vector units busy.
inline void random_words(const RandomCall& random, std::uint64_t first,
                         std::array<std::uint32_t, random_group>& words) {
    constexpr int lanes = random_group / 4;
    std::uint32_t c0[lanes], c1[lanes], c2[lanes], c3[lanes];
    for (int lane = 0; lane < lanes; ++lane) {
        const std::uint64_t block = first + static_cast<std::uint64_t>(lane);
        c0[lane] = static_cast<std::uint32_t>(block);
        c1[lane] = static_cast<std::uint32_t>(block >> 32U);
        c2[lane] = static_cast<std::uint32_t>(random.call);
        c3[lane] = static_cast<std::uint32_t>(random.call >> 32U);
    }
    auto [key0, key1] = random.key;
    for (int round = 0; round < 10; ++round) {
        for (int lane = 0; lane < lanes; ++lane) {
            const std::uint64_t product0 = std::uint64_t{0xD2511F53} * c0[lane];
            const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * c2[lane];
            c0[lane] = static_cast<std::uint32_t>(product1 >> 32U) ^ c1[lane] ^ key0;
            c2[lane] = static_cast<std::uint32_t>(product0 >> 32U) ^ c3[lane] ^ key1;
            c1[lane] = static_cast<std::uint32_t>(product1);
            c3[lane] = static_cast<std::uint32_t>(product0);
        }
        key0 += 0x9E3779B9;
        key1 += 0xBB67AE85;
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        words[4 * lane] = c0[lane];
        words[4 * lane + 1] = c1[lane];
        words[4 * lane + 2] = c2[lane];
        words[4 * lane + 3] = c3[lane];
    }
}

/// y[i] = x[i] / (1 − p) where uniform(word i) ≥ p, else x[i] · 0 (so that NaN stays visible).  x, y: [n].
/// y is added to if `accumulate`. The same call on dy is the backward.
template <class T>
void dropout(Vector<const T> x, const RandomCall& random, double p, Vector<T> y, bool accumulate = false) {
    const auto threshold = static_cast<std::uint32_t>(std::ceil(p * 0x1p24));  // uniform has 24 bits
    const T scale = static_cast<T>(1 / (1 - p));
    parallel_for(x.size(), 64 * random_group, [&](Index begin, Index end) {
        std::array<std::uint32_t, random_group> words;
        T factor[random_group];
        for (Index first = begin; first < end; first += random_group) {
            random_words(random, static_cast<std::uint64_t>(first) / 4, words);
            for (std::size_t i = 0; i < random_group; ++i) factor[i] = (words[i] >> 8U) >= threshold ? scale : T(0);
            const T* from = x.data() + first;
            T* to = y.data() + first;
            const Index count = std::min(random_group, end - first);
            if (accumulate)
                for (Index i = 0; i < count; ++i) to[i] += from[i] * factor[i];
            else
                for (Index i = 0; i < count; ++i) to[i] = from[i] * factor[i];
        }
    });
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
