#pragma once
#include <gflow/autograd/grad_mode.hpp>
#include <gflow/autograd/gradients.hpp>

#include <map>

namespace gflow {

namespace detail {

/// Nodes whose gradient has begun to gather, ordered by sequence number.
class Pending {
public:
    Pending() = default;
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    /// If an op throws, no half-gathered gradient may stay behind in the graph.
    ~Pending() {
        for (auto& [sequence, node] : nodes_) node->gradient() = Tensor();
    }
    void schedule(const std::shared_ptr<Node>& node) {
        if (node && !node->is_leaf() && node->gradient().defined()) nodes_.emplace(node->sequence(), node);
    }
    /// The node that was made last, or null when all are done.
    std::shared_ptr<Node> take_newest() {
        if (nodes_.empty()) return nullptr;
        const auto newest = std::prev(nodes_.end());
        std::shared_ptr<Node> node = std::move(newest->second);
        nodes_.erase(newest);
        return node;
    }

private:
    std::map<std::uint64_t, std::shared_ptr<Node>> nodes_;
};

}  // namespace detail

struct BackwardOptions {
    /// Keep the graph, so that backward can run through it again.
    bool retain_graph = false;
};

/// Computes ∂root/∂leaf, weighted by `seed`, for every leaf below root, and adds it to the leaf's gradient.
///
/// Nodes are visited in falling order of their sequence numbers: all users of a tensor come before the tensor itself,
/// so each node is visited once, with its whole gradient. There is no recursion, and what a node kept is freed as soon
/// as it has been passed.
///
/// @param seed  a tensor like root (∂loss/∂root); may be left out if root has one element
/// @throws autograd_error if root requires no gradient, or its graph was released by an earlier backward
inline void backward(const Tensor& root, const Tensor& seed = {}, BackwardOptions options = {}) {
    require<autograd_error>(root.requires_grad(), "backward", "the tensor must come from one that requires a gradient",
                            {{"tensor", root}});
    require(seed.defined() || root.numel() == 1, "backward", "a tensor of several elements needs a seed",
            {{"tensor", root}});
    require(!seed.defined() || (seed.shape() == root.shape() && seed.dtype() == root.dtype()), "backward",
            "the seed must have the tensor's shape and dtype", {{"tensor", root}, {"seed", seed}});
    const NoGrad first_order_only;

    detail::Pending pending;
    // The seed enters as the gradient of an op whose only input is root.
    Node start("backward", root);
    start.connect({root.node()}, {}, [](const Saved&, const Tensor&, Gradients&) {});
    Gradients(start).add(0, seed.defined() ? seed.detach() : full(root.shape(), 1, root.dtype()));
    pending.schedule(root.node());

    while (const std::shared_ptr<Node> node = pending.take_newest()) {
        require<autograd_error>(!node->released(), "backward",
                                "the graph was released by an earlier backward; use retain_graph to keep it",
                                {{"op", std::string_view(node->op())}});
        const Tensor dy = std::exchange(node->gradient(), Tensor());
        Gradients gradients(*node);
        const std::vector<std::shared_ptr<Node>> inputs = node->inputs();
        struct ScheduleInputs {  // also when run throws, so that Pending sees what was gathered
            ~ScheduleInputs() {
                for (const auto& input : inputs) pending.schedule(input);
            }
            detail::Pending& pending;
            const std::vector<std::shared_ptr<Node>>& inputs;
        } schedule_inputs{pending, inputs};
        node->run(dy, gradients);
        if (!options.retain_graph) node->release();
    }
}

}  // namespace gflow
