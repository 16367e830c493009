#pragma once
#include <gflow/core/create.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace gflow {

using PhiloxKey = std::array<std::uint32_t, 2>;
using PhiloxBlock = std::array<std::uint32_t, 4>;

/// Philox4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC'11): four random words that depend on
/// key and counter alone, so that any element of a random tensor can be made again on any thread or device.
constexpr PhiloxBlock philox(PhiloxKey key, PhiloxBlock counter) {
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter[0];
        const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter[2];
        counter = {
            static_cast<std::uint32_t>(product1 >> 32U) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
            static_cast<std::uint32_t>(product0 >> 32U) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    return counter;
}

/// A word as a number in [0, 1) with the 24 bits that a float32 holds.
constexpr float uniform(std::uint32_t word) { return static_cast<float>(word >> 8U) * 0x1p-24F; }

/// The random numbers of one call: block i holds the words of the elements 4i … 4i+3.
struct RandomCall {
    PhiloxKey key{};
    std::uint64_t call = 0;

    constexpr PhiloxBlock block(std::uint64_t i) const {
        return philox(key, {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32U),
                            static_cast<std::uint32_t>(call), static_cast<std::uint32_t>(call >> 32U)});
    }
};

/// Hands out call numbers. Its whole state is three integers, so a run can be resumed exactly.
class Generator {
public:
    struct State {
        std::uint64_t seed = 0;
        std::uint64_t stream = 0;
        std::uint64_t calls = 0;
        friend bool operator==(const State&, const State&) = default;
    };

    explicit Generator(std::uint64_t seed = 0, std::uint64_t stream = 0) : state_{seed, stream, 0} {}

    const State& state() const { return state_; }
    void set_state(const State& state) { state_ = state; }

    /// The numbers of the next random op; taken when the op is recorded, kept in its node, replayed by recompute.
    RandomCall next_call() { return {key(), state_.calls++}; }

private:
    /// Seed and stream, mixed so that neighbours in either give unrelated keys.
    PhiloxKey key() const {
        const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
        const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); };
        const PhiloxBlock mixed = philox({low(state_.stream), high(state_.stream)},
                                         {low(state_.seed), high(state_.seed), 0x67666C6F, 0x77000000});
        return {mixed[0], mixed[1]};
    }

    State state_;
};

/// The generator that dropout and initial weights use in this thread's computations. Each thread has its own, and all
/// start from seed 0, so two threads that do the same get the same numbers: call manual_seed in each thread, or pass a
/// Generator(seed, stream) of its own, where they must differ. (gflow's own workers never draw.)
inline Generator& default_generator() {
    thread_local Generator generator;
    return generator;
}
/// Starts the default generator of this thread again from `seed`.
inline void manual_seed(std::uint64_t seed) { default_generator() = Generator(seed); }

/// Numbers from the normal distribution with mean 0 and standard deviation std.
inline Tensor randn(Shape shape, DType dtype = float32, double std = 1, Generator& generator = default_generator()) {
    Tensor x = empty(shape, dtype);
    const RandomCall random = generator.next_call();
    visit_floating("randn", dtype, [&]<class T>(T) {
        T* out = x.mutable_data<T>();
        for (Index i = 0; i < x.numel(); ++i) {
            // Box and Muller: two uniform words make one normal number; (word + ½) / 2³² is never 0.
            const PhiloxBlock words = random.block(static_cast<std::uint64_t>(i));
            const double radius = std::sqrt(-2 * std::log((words[0] + 0.5) * 0x1p-32));
            out[i] = static_cast<T>(std * radius * std::cos(2 * std::numbers::pi * words[1] * 0x1p-32));
        }
    });
    return x;
}

/// Numbers from the uniform distribution on [0, 1).
inline Tensor rand(Shape shape, DType dtype = float32, Generator& generator = default_generator()) {
    Tensor x = empty(shape, dtype);
    const RandomCall random = generator.next_call();
    visit_floating("rand", dtype, [&]<class T>(T) {
        T* out = x.mutable_data<T>();
        for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(x.numel()); ++i)
            out[i] = uniform(random.block(i / 4)[i % 4]);
    });
    return x;
}

}  // namespace gflow
