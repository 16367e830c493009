#pragma once
#include <gflow/nn/module.hpp>
#include <gflow/ops/dropout.hpp>

namespace gflow::nn {

/// Sets elements to 0 with probability p in training and scales the others by 1/(1−p); does nothing in evaluation.
class Dropout : public Module {
public:
    explicit Dropout(double p = 0.5) : p_(p) {
        require<usage_error>(p >= 0 && p < 1, "Dropout", "the probability must be in [0, 1)", {{"p", p}});
    }

    Tensor operator()(const Tensor& x) const { return training() && p_ > 0 ? dropout(x, p_) : x; }

private:
    double p_;
};

}  // namespace gflow::nn
