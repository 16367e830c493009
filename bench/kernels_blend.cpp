// The gate between a batch of states and their geometric features, [4096, 256].
#include <benchmark/benchmark.h>

#include <gflow/ops/blend.hpp>

#include "kernels.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

const bool registered = [] {
    const Index n = tokens * width;
    add("blend", {randn({tokens, width}), randn({tokens, width}), randn({tokens, width})}, {4 * n}, {7 * n},
        [](const std::vector<Tensor>& in) { return blend(in[0], in[1], in[2]); });
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
