#pragma once
#include <gflow/core/device.hpp>
#include <gflow/core/dtype.hpp>
#include <gflow/core/shape.hpp>
#include <gflow/core/storage.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gflow {

class Node;  // autograd/node.hpp

/// Bytes that the elements of a tensor take. @throws shape_error if their number does not fit into 63 bits
inline std::size_t bytes_of(const Shape& shape, DType dtype) {
    Index bytes = 0;
    const bool overflows = __builtin_mul_overflow(shape.numel(), static_cast<Index>(size_of(dtype)), &bytes);
    require(!overflows, "Tensor", "the number of bytes must fit into 63 bits", {{"shape", shape}, {"dtype", dtype}});
    return static_cast<std::size_t>(bytes);
}

/// A dense array of up to 8 axes, row-major and contiguous, whose dtype is known at run time.
///
/// A tensor is a value that shares its memory: copying one is cheap, and both copies see the same elements. Reshape and
/// slices of the leading axis are views of the same memory; every other change of layout copies.
class Tensor {
public:
    /// Undefined: has no shape and no elements.
    Tensor() = default;
    Tensor(std::shared_ptr<Storage> storage, std::size_t byte_offset, Shape shape, DType dtype)
        : storage_(std::move(storage)), byte_offset_(byte_offset), shape_(shape), dtype_(dtype) {}

    bool defined() const { return storage_ != nullptr; }
    const Shape& shape() const { return shape_; }
    Index rank() const { return shape_.rank(); }
    Index numel() const { return shape_.numel(); }
    /// Size of one axis; −1 is the last.
    Index size(Index axis) const { return shape_[normalize_axis("size", axis, rank())]; }
    DType dtype() const { return dtype_; }
    Device device() const { return Device::cpu(); }
    std::size_t bytes() const { return bytes_of(shape_, dtype_); }

    /// The elements, to read. @throws dtype_error if they are not of type T
    template <class T>
    const T* data() const {
        check_type<T>("data");
        return reinterpret_cast<const T*>(raw());
    }
    /// The elements, to write. Whoever saved this memory for backward will notice; but not a write through a pointer
    /// that was taken before the forward: take it anew for each change.
    template <class T>
    T* mutable_data() {
        check_type<T>("mutable_data");
        return reinterpret_cast<T*>(mutable_raw());
    }
    const std::byte* raw() const { return defined() ? storage_->data() + byte_offset_ : nullptr; }
    std::byte* mutable_raw() {
        if (!defined()) return nullptr;
        storage_->bump_version();
        return storage_->data() + byte_offset_;
    }

    /// The only element. @throws shape_error unless there is exactly one
    template <class T = double>
    T item() const {
        require(defined() && numel() == 1, "item", "exactly one element is needed", {{"x", *this}});
        return visit(dtype_, [&]<class Element>(Element) {
            const Element value = *data<Element>();
            if constexpr (std::is_same_v<Element, bfloat16_t>)
                return static_cast<T>(static_cast<float>(value));
            else
                return static_cast<T>(value);
        });
    }
    /// A copy of the elements in row-major order. @throws dtype_error if they are not of type T
    template <class T>
    std::vector<T> to_vector() const {
        const T* begin = data<T>();
        return begin ? std::vector<T>(begin, begin + numel()) : std::vector<T>();
    }

    const std::shared_ptr<Storage>& storage() const { return storage_; }
    std::size_t byte_offset() const { return byte_offset_; }
    /// The same memory under another shape with as many elements, outside the graph. See gflow::reshape.
    Tensor viewed_as(Shape shape, std::size_t skipped_bytes = 0) const {
        return Tensor(storage_, byte_offset_ + skipped_bytes, shape, dtype_);
    }

    // The rest is defined in autograd/tensor_autograd.hpp.

    /// Whether backward will compute a gradient for this tensor.
    bool requires_grad() const { return node_ != nullptr; }
    /// Makes this tensor a leaf that gathers a gradient (copies taken before do not).
    Tensor& set_requires_grad(bool on = true);
    /// Made by the user, not by a differentiable op.
    bool is_leaf() const;
    /// The gradient that backward gathered; undefined if there is none.
    Tensor grad() const;
    void zero_grad();
    /// Adds ∂(this)/∂(leaf) to every leaf's gradient. This tensor must have one element. The graph is released.
    void backward() const;
    /// The same memory, outside the graph.
    Tensor detach() const { return viewed_as(shape_); }

    const std::shared_ptr<Node>& node() const { return node_; }
    void set_node(std::shared_ptr<Node> node) { node_ = std::move(node); }

private:
    template <class T>
    void check_type(const char* op) const {
        require<dtype_error>(!defined() || dtype_of<T> == dtype_, op, "element type must match the dtype",
                             {{"asked", dtype_of<T>}, {"dtype", dtype_}});
    }

    std::shared_ptr<Storage> storage_;
    std::size_t byte_offset_ = 0;
    Shape shape_{};
    DType dtype_ = DType::float32;
    std::shared_ptr<Node> node_;
};

/// Tensors by name, as models and files hold them.
using TensorMap = std::map<std::string, Tensor, std::less<>>;

/// "float32 [2, 3]"
inline std::string describe(const Tensor& x) {
    return x.defined() ? std::string(name_of(x.dtype())) + " " + to_string(x.shape()) : "undefined";
}

namespace detail {
inline void require_defined(std::string_view op, const Tensor& x) {
    require<error>(x.defined(), op, "the tensor must be defined", {{"x", x}});
}
}  // namespace detail

}  // namespace gflow
