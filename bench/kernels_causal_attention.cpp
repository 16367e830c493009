// Causal attention of 8192 tokens, d = 256, 4 heads, with and without dropout: from 64 texts of 128 tokens to one.
#include <benchmark/benchmark.h>

#include <gflow/ops/causal_attention.hpp>

#include "kernels.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

constexpr Index all_tokens = 8192;

void add_length(Index length, double dropout) {
    // q·kᵀ and p·v of the pairs that a query sees; backward makes the first again and four more products
    const Index flops = 2 * 2 * all_tokens * (length + 1) / 2 * width;
    add("causal_attention/" + std::to_string(length) + (dropout > 0 ? "/dropout" : ""),
        {randn({all_tokens / length, length, 3 * width})}, {0, flops}, {0, 5 * flops / 2},
        [=](const std::vector<Tensor>& in) { return causal_attention(in[0], {.heads = 4, .dropout = dropout}); });
}

const bool registered = [] {
    for (const Index length : {128, 512, 2048, 8192})
        for (const double dropout : {0.0, 0.1}) add_length(length, dropout);
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
