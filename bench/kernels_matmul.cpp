// The matrix products of a layer: linear layers of a batch, the head for a chunk of it, and products in a batch.
#include <benchmark/benchmark.h>

#include <gflow/ops/linear.hpp>
#include <gflow/ops/matmul.hpp>

#include "kernels.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

void add_linear(const std::string& name, Index rows, Index in, Index out) {
    const Index flops = 2 * rows * in * out;
    add(name, {randn({rows, in}), randn({out, in})}, {0, flops}, {0, 2 * flops},
        [](const std::vector<Tensor>& x) { return linear(x[0], x[1]); });
}

const bool registered = [] {
    add_linear("linear/4096x256x256", tokens, width, width);
    add_linear("linear/4096x256x1024", tokens, width, hidden);
    add_linear("linear/4096x1024x256", tokens, hidden, width);
    add_linear("linear/256x256x30522", 256, width, vocabulary);
    const Index flops = 2 * 128 * 128 * 128 * 64;
    add("matmul/128x(128x64x128)", {randn({128, 128, 64}), randn({128, 64, 128})}, {0, flops}, {0, 2 * flops},
        [](const std::vector<Tensor>& x) { return matmul(x[0], x[1]); });
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
