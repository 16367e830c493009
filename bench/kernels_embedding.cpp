// A batch of tokens looked up in the table, [30522, 256]. Backward begins with a table of zeros, the larger part of it.
#include <benchmark/benchmark.h>

#include <gflow/ops/embedding.hpp>

#include "kernels.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

const bool registered = [] {
    const Tensor ids = random_ids({tokens}, vocabulary);
    const Index n = tokens * width;
    add("embedding", {randn({vocabulary, width})}, {2 * n}, {3 * n + vocabulary * width},
        [ids](const std::vector<Tensor>& in) { return embedding(in[0], ids); });
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
