#pragma once
#include <gflow/config/intrinsics.hpp>
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/core/random.hpp>
#include <gflow/kernels/eigen_maps.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

inline constexpr Index random_group = 64;

/// Four 64-bit numbers, which both compilers turn into vector instructions.
typedef std::uint64_t Lanes __attribute__((vector_size(32)));

/// product = (the lower 32 bits of each lane) · factor. By reference: without AVX such a value has no agreed way to be
/// passed.
inline void multiply_lanes(const Lanes& lanes, std::uint32_t factor, Lanes& product) {
#if defined(__AVX2__)
    // One instruction; g++ 12 makes ten of the plain product, because it does not see that the upper halves are 0.
    product = reinterpret_cast<Lanes>(_mm256_mul_epu32(reinterpret_cast<__m256i>(lanes), _mm256_set1_epi64x(factor)));
#else
    product = lanes * factor;
#endif
}

/// The upper 24 bits of the words of the blocks first … first+15, that is of 64 elements, in their order: what
/// RandomCall::block gives one by one (Philox4x32-10), sixteen blocks side by side.
inline void random_words(const RandomCall& random, std::uint64_t first, std::array<std::int32_t, random_group>& words) {
    constexpr int groups = random_group / 16;
    constexpr std::uint64_t low = 0xFFFFFFFF;
    Lanes c0[groups], c1[groups], c2[groups], c3[groups];
    for (int i = 0; i < groups; ++i) {
        const Lanes block = first + static_cast<std::uint64_t>(4 * i) + Lanes{0, 1, 2, 3};
        c0[i] = block & low;
        c1[i] = block >> 32U;
        c2[i] = Lanes{} + (random.call & low);
        c3[i] = Lanes{} + (random.call >> 32U);
    }
    auto [key0, key1] = random.key;
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < groups; ++i) {
            Lanes product0, product1;
            multiply_lanes(c0[i], 0xD2511F53, product0);
            multiply_lanes(c2[i], 0xCD9E8D57, product1);
            c0[i] = (product1 >> 32U) ^ c1[i] ^ std::uint64_t{key0};
            c2[i] = (product0 >> 32U) ^ c3[i] ^ std::uint64_t{key1};
            c1[i] = product1 & low;
            c3[i] = product0 & low;
        }
        key0 += 0x9E3779B9;
        key1 += 0xBB67AE85;
    }
    constexpr std::uint64_t upper = 0x00FFFFFF00FFFFFF;  // of both words of a pair
    for (int i = 0; i < groups; ++i) {
        const Lanes front = ((c0[i] | c1[i] << 32U) >> 8U) & upper, back = ((c2[i] | c3[i] << 32U) >> 8U) & upper;
        const Lanes blocks[2] = {__builtin_shufflevector(front, back, 0, 4, 1, 5),
                                 __builtin_shufflevector(front, back, 2, 6, 3, 7)};
        std::memcpy(words.data() + 16 * i, blocks, sizeof blocks);
    }
}

/// y[i] = x[i] / (1 − p) where uniform(word i) ≥ p, else x[i] · 0 (so that NaN stays visible).  x, y: [n].
/// y is added to if `accumulate`. The same call on dy is the backward.
template <class T>
void dropout(Vector<const T> x, const RandomCall& random, double p, Vector<T> y, bool accumulate = false) {
    const auto threshold = static_cast<std::int32_t>(std::ceil(p * 0x1p24));  // uniform has 24 bits
    const T scale = static_cast<T>(1 / (1 - p));
    parallel_for(x.size(), 256 * random_group, [&](Index begin, Index end) {
        alignas(64) std::array<std::int32_t, random_group> words;
        for (Index first = begin; first < end; first += random_group) {
            random_words(random, static_cast<std::uint64_t>(first) / 4, words);
            const Index count = std::min(random_group, end - first);
            // 1 where word ≥ threshold, else 0, without a branch that p would leave to chance
            const auto kept = (array(words.data(), count) - (threshold - 1)).max(0).min(1);
            const auto dropped = array(x.data() + first, count) * (kept.template cast<T>() * scale);
            auto out = array(y.data() + first, count);
            if (accumulate)
                out += dropped;
            else
                out = dropped;
        }
    });
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
