// Cross-entropy over the vocabulary: of given logits, [256, 30522], and fused with the head that makes them.
#include <benchmark/benchmark.h>

#include <gflow/ops/linear_cross_entropy.hpp>

#include "kernels.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

const bool registered = [] {
    const Index rows = 256, n = rows * vocabulary;
    const Tensor targets = random_ids({rows}, vocabulary);
    using In = const std::vector<Tensor>&;
    add("cross_entropy", {randn({rows, vocabulary})}, {n}, {2 * n},
        [targets](In in) { return cross_entropy(in[0], targets); });
    add("linear_cross_entropy", {randn({rows, width}), randn({vocabulary, width}, float32, 0.02)}, {0, 2 * n * width},
        {}, [targets](In in) { return linear_cross_entropy(in[0], in[1], targets); });
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
