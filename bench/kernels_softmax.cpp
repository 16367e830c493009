// Softmax of short rows (weights of attention, 32 · 4 heads of 128 × 128) and of long ones (the vocabulary).
#include <benchmark/benchmark.h>

#include <gflow/ops/softmax.hpp>

#include "kernels.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

const bool registered = [] {
    const Tensor weights = randn({32, 4, 128, 128}), logits = randn({256, vocabulary});
    using In = const std::vector<Tensor>&;
    for (const Tensor& x : {weights, logits}) {
        const std::string size = "/" + std::to_string(x.size(-1));
        add("softmax" + size, {x}, {2 * x.numel()}, {3 * x.numel()}, [](In in) { return softmax(in[0]); });
        add("log_softmax" + size, {x}, {2 * x.numel()}, {3 * x.numel()}, [](In in) { return log_softmax(in[0]); });
    }
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
