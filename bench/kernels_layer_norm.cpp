// Layer normalisation of a batch of states, [4096, 256].
#include <benchmark/benchmark.h>

#include <gflow/ops/add_layer_norm.hpp>
#include <gflow/ops/arithmetic.hpp>

#include "kernels.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

const bool registered = [] {
    const Index n = tokens * width;
    add("layer_norm", {randn({tokens, width}), randn({width}), randn({width})}, {2 * n}, {3 * n},
        [](const std::vector<Tensor>& in) { return layer_norm(in[0], in[1], in[2]); });
    add("add_layer_norm", {randn({tokens, width}), randn({tokens, width}), randn({width}), randn({width})}, {4 * n},
        {4 * n}, [](const std::vector<Tensor>& in) { return add_layer_norm(in[0], in[1], in[2], in[3]); });
    add("layer_norm_of_sum", {randn({tokens, width}), randn({tokens, width}), randn({width}), randn({width})}, {5 * n},
        {5 * n}, [](const std::vector<Tensor>& in) { return layer_norm(in[0] + in[1], in[2], in[3]); });
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
