#pragma once
#include <gflow/nn/initial_weights.hpp>
#include <gflow/nn/module.hpp>
#include <gflow/ops/embedding.hpp>

#include <cmath>

namespace gflow::nn {

struct EmbeddingOptions {
    Index count = 1;  ///< number of ids
    Index size = 1;   ///< numbers per id
    double init_std = 1;
    DType dtype = float32;
};

/// One learned vector for each id.  weight: [count, size].
class Embedding : public Module {
public:
    Tensor weight;

    explicit Embedding(const EmbeddingOptions& options) {
        require<usage_error>(options.count >= 1 && options.size >= 1, "Embedding", "count and size must be at least 1",
                             {{"count", options.count}, {"size", options.size}});
        require<usage_error>(std::isfinite(options.init_std) && options.init_std >= 0, "Embedding",
                             "init_std must be finite and at least 0", {{"init_std", options.init_std}});
        weight = initial_weights({options.count, options.size}, options.dtype, options.init_std);
        register_parameter("weight", weight);
    }

    /// ids: any shape, int32 or int64 → [..., size]
    Tensor operator()(const Tensor& ids) const { return embedding(weight, ids); }
};

}  // namespace gflow::nn
