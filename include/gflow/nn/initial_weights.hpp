#pragma once
#include <gflow/core/random.hpp>

namespace gflow::nn {

/// While one lives, the weights of this thread's new layers are neither drawn nor set: for a model that is about to be
/// loaded. To draw those of BERT takes longer than to read them.
class NoInitialWeights {
public:
    NoInitialWeights() { ++living_; }
    NoInitialWeights(const NoInitialWeights&) = delete;
    NoInitialWeights& operator=(const NoInitialWeights&) = delete;
    ~NoInitialWeights() { --living_; }

    static bool any() { return living_ > 0; }

private:
    inline static thread_local int living_ = 0;
};

/// The weight of a new layer: N(0, std²), or anything while NoInitialWeights lives.
inline Tensor initial_weights(const Shape& shape, DType dtype, double std) {
    return NoInitialWeights::any() ? empty(shape, dtype) : randn(shape, dtype, std);
}

}  // namespace gflow::nn
