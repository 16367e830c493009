// The mixing of 4096 tokens, rank 32, d = 256: 32 texts of 128 tokens and 4 of 1024, one offset and six.
#include <benchmark/benchmark.h>

#include <gflow/ops/plucker_mix.hpp>

#include "kernels.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

const bool registered = [] {
    const Index rank = 32, planes = rank * (rank - 1) / 2, flops = 2 * tokens * planes * width;
    for (const Index length : {128, 1024}) {
        for (const std::vector<Index>& offsets : {std::vector<Index>{1}, {1, 2, 4, 8, 12, 16}}) {
            const PluckerMixOptions options{.offsets = offsets};
            const std::string name = std::to_string(length) + "/offsets:" + std::to_string(offsets.size());
            add("plucker_mix/" + name,
                {randn({tokens / length, length, rank}), randn({width, planes}, float32, 0.02), randn({width})},
                {0, flops}, {0, 2 * flops},
                [options](const std::vector<Tensor>& in) { return plucker_mix(in[0], in[1], in[2], options); });
        }
    }
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
