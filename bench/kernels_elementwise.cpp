// Elementwise ops on the states of a batch, [4096, 256], and of its feed-forward layers, [4096, 1024].
#include <benchmark/benchmark.h>

#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/unary.hpp>

#include "kernels.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

const bool registered = [] {
    const Tensor x = randn({tokens, width}), y = randn({tokens, width}), row = randn({width});
    const Index n = x.numel();
    using In = const std::vector<Tensor>&;
    add("add", {x, y}, {3 * n}, {3 * n}, [](In in) { return in[0] + in[1]; });
    add("add_row", {x, row}, {2 * n}, {3 * n}, [](In in) { return in[0] + in[1]; });
    add("mul", {x, y}, {3 * n}, {5 * n}, [](In in) { return in[0] * in[1]; });
    add("exp", {x}, {2 * n}, {3 * n}, [](In in) { return gflow::exp(in[0]); });
    add("tanh", {x}, {2 * n}, {3 * n}, [](In in) { return gflow::tanh(in[0]); });
    add("sigmoid", {x}, {2 * n}, {3 * n}, [](In in) { return sigmoid(in[0]); });
    add("relu", {x}, {2 * n}, {3 * n}, [](In in) { return relu(in[0]); });
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
