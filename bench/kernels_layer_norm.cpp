// Layer normalisation of a batch of states, [4096, 256].
#include <benchmark/benchmark.h>

#include <gflow/ops/layer_norm.hpp>

#include "kernels.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

const bool registered = [] {
    const Index n = tokens * width;
    add("layer_norm", {randn({tokens, width}), randn({width}), randn({width})}, {2 * n}, {3 * n},
        [](const std::vector<Tensor>& in) { return layer_norm(in[0], in[1], in[2]); });
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
