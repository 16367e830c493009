// What a feed-forward layer widens by, [4096, 256] → [4096, 1024]: one op beside the two that it is made of.
#include <benchmark/benchmark.h>

#include <gflow/ops/gelu.hpp>
#include <gflow/ops/linear_gelu.hpp>

#include "kernels.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

const bool registered = [] {
    const std::vector<Tensor> in{randn({tokens, width}), randn({hidden, width}, float32, 0.02), randn({hidden})};
    const Index flops = 2 * tokens * width * hidden;
    using In = const std::vector<Tensor>&;
    add("linear_gelu", in, {0, flops}, {0, 2 * flops}, [](In x) { return linear_gelu(x[0], x[1], x[2]); });
    add("gelu(linear)", in, {0, flops}, {0, 2 * flops}, [](In x) { return gelu(linear(x[0], x[1], x[2])); });
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
