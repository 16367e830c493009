// GELU in the feed-forward layers, [4096, 1024].
#include <benchmark/benchmark.h>

#include <gflow/ops/gelu.hpp>

#include "kernels.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

const bool registered = [] {
    const Tensor x = randn({tokens, hidden});
    const Index n = x.numel();
    using In = const std::vector<Tensor>&;
    add("gelu_exact", {x}, {2 * n}, {3 * n}, [](In in) { return gelu(in[0]); });
    add("gelu_tanh", {x}, {2 * n}, {3 * n}, [](In in) { return gelu(in[0], Gelu::tanh); });
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
