#pragma once
#include <gflow/autograd/grad_mode.hpp>
#include <gflow/autograd/gradients.hpp>

#include <functional>
#include <initializer_list>
#include <vector>

namespace gflow {

/// The inputs of an op, for record: {x, w} or a std::vector<Tensor>.
class Inputs {
public:
    Inputs(std::initializer_list<std::reference_wrapper<const Tensor>> inputs) {
        for (const Tensor& x : inputs) add(x);
    }
    Inputs(const std::vector<Tensor>& inputs) {
        for (const Tensor& x : inputs) add(x);
    }
    bool any_requires_grad() const { return any_; }
    std::vector<std::shared_ptr<Node>> take() { return std::move(nodes_); }

private:
    void add(const Tensor& x) {
        nodes_.push_back(x.node());
        any_ = any_ || x.requires_grad();
    }
    std::vector<std::shared_ptr<Node>> nodes_;
    bool any_ = false;
};

/// Whether record would keep something: lets an op skip work that only backward needs.
inline bool will_record(const Inputs& inputs) { return is_grad_enabled() && inputs.any_requires_grad(); }

/// Makes `y`, computed from `inputs`, part of the graph. This is how every op of gflow is made, and how yours are:
///
///     Tensor square(const Tensor& x) {
///         const Tensor y = x.detach() * x.detach();  // outside the graph: the value only
///         return record("square", {x}, y, {x}, [](const Saved& saved, const Tensor& dy, Gradients& d) {
///             d.add(0, 2.0 * saved[0] * dy);
///         });
///     }
///
/// @param op        its name, for error messages; a string literal
/// @param saved     what backward needs and nothing more; reached as saved[0], saved[1], …
/// @param backward  called once with dy = ∂loss/∂y; adds ∂loss/∂input i with d.add(i, …) for each i that d.needed(i).
///                d[i] and d.target(i), to add in place, are for needed ones only: they throw autograd_error for
///                others.
///                  Ops inside it are not recorded: gflow differentiates once.
/// @return y, which requires a gradient if an input does and recording is on
template <class Backward>
Tensor record(const char* op, Inputs inputs, Tensor y, std::vector<Tensor> saved, Backward backward) {
    if (!inputs.any_requires_grad() || !is_grad_enabled()) return y;
    auto node = std::make_shared<Node>(op, y);
    node->connect(inputs.take(), Saved(op, std::move(saved)), std::move(backward));
    y.set_node(std::move(node));
    return y;
}

}  // namespace gflow
