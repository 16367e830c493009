#pragma once
#include <gflow/core/create.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace gflow {

class Gradients;

/// What an op kept for its backward: tensors outside the graph, which must not change before backward reads them.
class Saved {
public:
    Saved() = default;
    Saved(const char* op, std::vector<Tensor> tensors) : op_(op), tensors_(std::move(tensors)) {
        for (Tensor& x : tensors_) {
            x = x.detach();  // the edges hold the graph; a saved node would tie it in a knot
            versions_.push_back(x.defined() ? x.storage()->version() : 0);
        }
    }
    /// @throws autograd_error if the op did not save so many
    const Tensor& operator[](std::size_t i) const {
        require<autograd_error>(i < tensors_.size(), op_, "backward must ask for a tensor that was saved",
                                {{"i", i}, {"saved", tensors_.size()}});
        return tensors_[i];
    }

    /// @throws autograd_error if a saved tensor was written to since forward
    void check_unchanged() const {
        for (std::size_t i = 0; i < tensors_.size(); ++i)
            require<autograd_error>(!tensors_[i].defined() || tensors_[i].storage()->version() == versions_[i], op_,
                                    "a tensor that backward needs was changed in place after forward; "
                                    "clone it first, or change it after backward",
                                    {{"saved", tensors_[i]}});
    }

private:
    const char* op_ = "backward";
    std::vector<Tensor> tensors_;
    std::vector<std::uint64_t> versions_;
};

/// One step of the computation: belongs to the tensor that it made, and knows how to pass that tensor's gradient on to
/// the inputs. A node without a backward is a leaf; its gradient stays.
class Node {
public:
    using Backward = std::function<void(const Saved&, const Tensor& dy, Gradients& d)>;

    Node(const char* op, const Tensor& made) : op_(op), shape_(made.shape()), dtype_(made.dtype()) {}
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node() { tear_down(std::move(inputs_)); }

    bool is_leaf() const { return leaf_; }
    bool released() const { return !leaf_ && !backward_; }
    const char* op() const { return op_; }
    const Shape& shape() const { return shape_; }
    DType dtype() const { return dtype_; }
    /// Rises with every node made: a node's inputs always have smaller numbers.
    std::uint64_t sequence() const { return sequence_; }
    const std::vector<std::shared_ptr<Node>>& inputs() const { return inputs_; }
    Tensor& gradient() { return gradient_; }

    void connect(std::vector<std::shared_ptr<Node>> inputs, Saved saved, Backward backward) {
        leaf_ = false;
        inputs_ = std::move(inputs);
        saved_ = std::move(saved);
        backward_ = std::move(backward);
    }
    /// Passes dy on to the inputs. @throws autograd_error if a saved tensor has changed
    void run(const Tensor& dy, Gradients& d) const {
        saved_.check_unchanged();
        backward_(saved_, dy, d);
    }
    /// Lets go of everything that backward needed.
    void release() {
        backward_ = nullptr;
        saved_ = Saved();
        tear_down(std::move(inputs_));
        inputs_.clear();
    }

private:
    /// Frees a graph of any depth without recursion.
    static void tear_down(std::vector<std::shared_ptr<Node>> pending) {
        while (!pending.empty()) {
            const std::shared_ptr<Node> node = std::move(pending.back());
            pending.pop_back();
            if (!node || node.use_count() > 1) continue;
            for (auto& input : node->inputs_) pending.push_back(std::move(input));
            node->inputs_.clear();
        }
    }
    static std::uint64_t next_sequence() {
        static std::atomic<std::uint64_t> counter{0};
        return counter.fetch_add(1, std::memory_order_relaxed);
    }

    const char* op_;
    Shape shape_;
    DType dtype_;
    std::uint64_t sequence_ = next_sequence();
    bool leaf_ = true;
    std::vector<std::shared_ptr<Node>> inputs_;  // null where an input needs no gradient
    Saved saved_;
    Backward backward_;
    Tensor gradient_;
};

}  // namespace gflow
