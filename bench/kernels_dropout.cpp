// Dropout of a batch of states, [4096, 256]: the numbers are drawn in forward and again in backward.
#include <benchmark/benchmark.h>

#include <gflow/ops/dropout.hpp>

#include "kernels.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

const bool registered = [] {
    const Index n = tokens * width;
    add("dropout", {randn({tokens, width})}, {2 * n}, {2 * n},
        [](const std::vector<Tensor>& in) { return dropout(in[0], 0.1); });
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
