// A feed-forward net, [4096, 256] → [4096, 1024] → [4096, 256]: one op beside the three that it is made of.
#include <benchmark/benchmark.h>

#include <gflow/ops/feed_forward.hpp>

#include "kernels.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

const bool registered = [] {
    const std::vector<Tensor> in{randn({tokens, width}), randn({hidden, width}, float32, 0.02), randn({hidden}),
                                 randn({width, hidden}, float32, 0.02), randn({width})};
    const Index flops = 4 * tokens * width * hidden;
    using In = const std::vector<Tensor>&;
    add("feed_forward", in, {0, flops}, {0, 2 * flops},
        [](In x) { return feed_forward(x[0], x[1], x[2], x[3], x[4]); });
    add("linear(gelu(linear))", in, {0, flops}, {0, 2 * flops},
        [](In x) { return linear(gelu(linear(x[0], x[1], x[2])), x[3], x[4]); });
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
