#pragma once
#include <gflow/autograd/backward.hpp>

namespace gflow {

inline Tensor& Tensor::set_requires_grad(bool on) {
    require<autograd_error>(defined(), "set_requires_grad", "the tensor must be defined", {{"tensor", *this}});
    require<autograd_error>(is_leaf(), "set_requires_grad", "only a leaf can be switched; detach() it first",
                            {{"tensor", *this}});
    require<dtype_error>(!on || dtype_ == float32 || dtype_ == float64, "set_requires_grad",
                         "gradients exist for float32 and float64", {{"tensor", *this}});
    if (on && !node_) node_ = std::make_shared<Node>("leaf", *this);
    if (!on) node_ = nullptr;
    return *this;
}

inline bool Tensor::is_leaf() const { return !node_ || node_->is_leaf(); }

inline Tensor Tensor::grad() const { return node_ ? node_->gradient() : Tensor(); }

inline void Tensor::zero_grad() {
    if (node_) node_->gradient() = Tensor();
}

inline void Tensor::backward() const { gflow::backward(*this); }

}  // namespace gflow
