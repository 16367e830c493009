#pragma once
// What the benchmarks of the ops share: an op forward and backward, on one and on two threads.

#include <benchmark/benchmark.h>

#include <chrono>
#include <functional>
#include <gflow/autograd/record.hpp>
#include <gflow/autograd/tensor_autograd.hpp>
#include <gflow/core/random.hpp>
#include <string>
#include <vector>

namespace gflow::bench {

// The sizes of the paper's smaller model: a batch of 32 texts of 128 tokens.
inline constexpr Index tokens = 4096, width = 256, hidden = 1024, vocabulary = 30522;

/// What one call costs at least: float32 numbers read or written, and floating-point operations (of matrix products).
struct Work {
    Index numbers = 0;
    Index flops = 0;
};

inline void report(benchmark::State& state, Work work) {
    using benchmark::Counter;
    const auto rate = [](Index amount) {
        return Counter(static_cast<double>(amount), Counter::kIsIterationInvariantRate, Counter::kIs1000);
    };
    if (work.numbers > 0) state.counters["bytes/s"] = rate(4 * work.numbers);
    if (work.flops > 0) state.counters["flop/s"] = rate(work.flops);
}

/// Registers name/forward and name/backward for f: const std::vector<Tensor>& → Tensor. Inputs of a floating dtype get
/// gradients; the time of backward is without the forward before it.
template <class F>
void add(const std::string& name, const std::vector<Tensor>& inputs, Work forward, Work backward_, F f) {
    const auto on_threads = [](benchmark::internal::Benchmark* b) {
        b->ArgName("threads")->Arg(1)->Arg(2)->UseManualTime()->Unit(benchmark::kMicrosecond);
    };
    const auto seconds = [](auto run) {
        const auto start = std::chrono::steady_clock::now();
        run();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    on_threads(benchmark::RegisterBenchmark((name + "/forward").c_str(), [=](benchmark::State& state) {
        set_num_threads(static_cast<int>(state.range(0)));
        const NoGrad plain;
        for (auto _ : state) state.SetIterationTime(seconds([&] { benchmark::DoNotOptimize(f(inputs)); }));
        report(state, forward);
    }));
    on_threads(benchmark::RegisterBenchmark((name + "/backward").c_str(), [=](benchmark::State& state) {
        set_num_threads(static_cast<int>(state.range(0)));
        std::vector<Tensor> leaves;
        for (const Tensor& x : inputs) {
            leaves.push_back(x.detach());
            if (is_floating(x.dtype())) leaves.back().set_requires_grad();
        }
        for (auto _ : state) {
            const Tensor y = f(leaves);
            const Tensor dy = full(y.shape(), 1, y.dtype());
            state.SetIterationTime(seconds([&] { backward(y, dy); }));
            for (Tensor& x : leaves) x.zero_grad();
        }
        report(state, backward_);
    }));
}

inline Tensor random_ids(const Shape& shape, Index limit) {
    const Tensor u = rand(shape, float64);
    Tensor ids = empty(shape, int64);
    for (Index i = 0; i < ids.numel(); ++i)
        ids.mutable_data<Index>()[i] = static_cast<Index>(u.data<double>()[i] * static_cast<double>(limit));
    return ids;
}

}  // namespace gflow::bench
