// Attention within sequences that lie end to end, in both directions: 8192 tokens, d = 768, 12 heads, from 512
// sentences of 16 tokens to 16 texts of 512, and of many lengths.
#include <benchmark/benchmark.h>

#include <gflow/ops/attention.hpp>

#include "kernels.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

constexpr Index all_tokens = 8192, d = 768;

void add_lengths(const std::string& name, const std::vector<Index>& lengths) {
    // q·kᵀ and p·v of all pairs within a sequence; backward makes the first again and four more products
    Index flops = 0;
    for (const Index length : lengths) flops += 2 * 2 * length * length * d;
    add("attention/" + name, {randn({all_tokens, 3 * d})}, {0, flops}, {0, 5 * flops / 2},
        [=](const std::vector<Tensor>& in) { return attention(in[0], lengths, {.heads = 12}); });
}

/// 1 … 63 and 1 again, in an order that mixes short and long, until there are all_tokens.
std::vector<Index> mixed_lengths() {
    std::vector<Index> lengths;
    for (Index left = all_tokens, i = 0; left > 0; left -= lengths.back(), ++i)
        lengths.push_back(std::min(left, 1 + 17 * i % 63));
    return lengths;
}

const bool registered = [] {
    for (const Index length : {16, 32, 128, 512})
        add_lengths(std::to_string(length), std::vector<Index>(static_cast<std::size_t>(all_tokens / length), length));
    add_lengths("mixed", mixed_lengths());
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
