#pragma once
#include <gflow/autograd/node.hpp>
#include <gflow/core/parallel.hpp>

namespace gflow {

namespace detail {

/// a += b in memory. Both floating, of equal shape.
inline void add_into(Tensor& a, const Tensor& b) {
    visit_floating("accumulate gradient", a.dtype(), [&]<class T>(T) {
        const T* from = b.data<T>();
        T* to = a.mutable_data<T>();
        parallel_for(a.numel(), 32768, [&](Index begin, Index end) {
            for (Index i = begin; i < end; ++i) to[i] += from[i];
        });
    });
}

}  // namespace detail

/// The gradients of one op's inputs, to be filled by its backward.
class Gradients {
public:
    explicit Gradients(const Node& node) : node_(node) {}

    /// Whether input i asks for a gradient. Backward may skip the others.
    /// @throws autograd_error if the op has no input i
    bool needed(std::size_t i) const {
        require<autograd_error>(i < node_.inputs().size(), node_.op(), "backward must name an input that the op has",
                                {{"input", i}, {"inputs", node_.inputs().size()}});
        return node_.inputs()[i] != nullptr;
    }

    /// Adds `gradient` to what input i has gathered so far. A fresh tensor is adopted without a copy.
    /// @throws autograd_error if it has not the shape and dtype of the input, or there is no such input
    void add(std::size_t i, Tensor gradient) {
        if (!needed(i)) return;
        Node& input = *node_.inputs()[i];
        require<autograd_error>(
            gradient.defined() && gradient.shape() == input.shape() && gradient.dtype() == input.dtype(), node_.op(),
            "backward must give a gradient of the input's shape and dtype",
            {{"input", i}, {"shape", input.shape()}, {"gradient", gradient}});
        Tensor& sum = input.gradient();
        if (!sum.defined()) {
            // Two leaves must not share one gradient: its owner may scale it in place.
            sum = input.is_leaf() && gradient.storage().use_count() > 1 ? detail::copied(gradient) : gradient.detach();
        } else {
            own(sum);
            detail::add_into(sum, gradient);
        }
    }

    /// The gradient of input i to add to in place: zeros if nothing has come yet.
    /// @throws autograd_error if input i needs none, or there is no such input
    Tensor& operator[](std::size_t i) {
        Node& input = needing(i);
        Tensor& sum = input.gradient();
        if (!sum.defined())
            sum = zeros(input.shape(), input.dtype());
        else
            own(sum);
        return sum;
    }

    /// The gradient of input i, and whether it already holds something to add to: (tensor, accumulate).
    /// If not, its elements are not initialised and must all be written.
    /// @throws autograd_error if input i needs none, or there is no such input
    std::pair<Tensor&, bool> target(std::size_t i) {
        Node& input = needing(i);
        Tensor& sum = input.gradient();
        const bool accumulate = sum.defined();
        if (accumulate)
            own(sum);
        else
            sum = empty(input.shape(), input.dtype());
        return {sum, accumulate};
    }

private:
    Node& needing(std::size_t i) const {
        require<autograd_error>(needed(i), node_.op(), "this input needs no gradient; ask d.needed(i) first",
                                {{"input", i}});
        return *node_.inputs()[i];
    }
    static void own(Tensor& sum) {
        if (sum.storage().use_count() > 1) sum = detail::copied(sum);
    }

    const Node& node_;
};

}  // namespace gflow
