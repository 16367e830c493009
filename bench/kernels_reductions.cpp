// Reductions of a batch of states, [4096, 256].
#include <benchmark/benchmark.h>

#include <gflow/ops/reduce.hpp>

#include "kernels.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

const bool registered = [] {
    const Tensor x = randn({tokens, width});
    const Index n = x.numel();
    using In = const std::vector<Tensor>&;
    add("sum_all", {x}, {n}, {n}, [](In in) { return sum(in[0]); });
    add("sum_rows", {x}, {n}, {n}, [](In in) { return sum(in[0], {0}); });
    add("sum_columns", {x}, {n}, {n}, [](In in) { return sum(in[0], {1}); });
    add("max_columns", {x}, {n}, {n}, [](In in) { return max(in[0], {1}); });
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
