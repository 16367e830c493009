// Causal attention of 4096 tokens, d = 256, 4 heads: 32 texts of 128 tokens, and 4 of 1024.
#include <benchmark/benchmark.h>

#include <gflow/ops/causal_attention.hpp>

#include "kernels.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

const bool registered = [] {
    for (const Index length : {128, 1024}) {
        // q·kᵀ and p·v of the pairs that a query sees; backward makes the first again and four more products
        const Index flops = 2 * 2 * tokens * (length + 1) / 2 * width;
        add("causal_attention/" + std::to_string(length), {randn({tokens / length, length, 3 * width})}, {0, flops},
            {0, 5 * flops / 2}, [](const std::vector<Tensor>& in) { return causal_attention(in[0], {.heads = 4}); });
    }
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
