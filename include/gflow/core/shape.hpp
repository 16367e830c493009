#pragma once
#include <gflow/core/errors.hpp>
#include <gflow/core/index.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace gflow {

/// Turns a possibly negative axis (−1 is the last) into 0 … rank−1.
/// @throws index_error if there is no such axis
inline Index normalize_axis(std::string_view op, Index axis, Index rank) {
    require<index_error>(axis >= -rank && axis < rank, op, "axis must be within the rank",
                         {{"axis", axis}, {"rank", rank}});
    return axis < 0 ? axis + rank : axis;
}

/// The sizes of a tensor's axes, at most 8 of them, outermost first. An empty shape is a scalar.
class Shape {
public:
    static constexpr std::size_t max_rank = 8;

    Shape() = default;
    Shape(std::initializer_list<Index> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
    Shape(const std::vector<Index>& sizes) : Shape(std::span(sizes)) {}
    /// @throws shape_error for more than 8 axes, a negative size, or more elements than an Index counts
    explicit Shape(std::span<const Index> sizes) {
        require(sizes.size() <= max_rank, "Shape", "a tensor has at most 8 axes", {{"axes", sizes.size()}});
        for (Index size : sizes) append(size);
        numel();
    }

    Index rank() const { return static_cast<Index>(rank_); }
    bool empty() const { return rank_ == 0; }
    /// Size of one axis; −1 is the last. @throws index_error if there is no such axis
    Index operator[](Index axis) const { return sizes_[position(axis)]; }
    Index& operator[](Index axis) { return sizes_[position(axis)]; }
    Index back() const { return (*this)[-1]; }
    Index front() const { return (*this)[0]; }
    const Index* begin() const { return sizes_.data(); }
    const Index* end() const { return sizes_.data() + rank_; }

    /// @throws shape_error as the constructor does
    void push_back(Index size) {
        append(size);
        numel();
    }

    /// Number of elements; 1 for a scalar.
    /// @throws shape_error if the sizes that are not 0 have a product that no Index holds: [0, 2⁶², 2⁶²] is refused
    /// too,
    ///         since the strides of its axes could not be told
    Index numel() const {
        Index product = 1;
        bool empty_axis = false, overflows = false;
        for (Index size : *this) {
            empty_axis |= size == 0;
            overflows |= __builtin_mul_overflow(product, size == 0 ? 1 : size, &product);
        }
        require(!overflows, "Shape", "the number of elements must fit into 63 bits", {{"shape", *this}});
        return empty_axis ? 0 : product;
    }

    friend bool operator==(const Shape& a, const Shape& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    void append(Index size) {
        require(rank_ < max_rank, "Shape", "a tensor has at most 8 axes", {{"axes", rank_ + 1}});
        require(size >= 0, "Shape", "sizes must not be negative", {{"size", size}});
        sizes_[rank_++] = size;
    }
    std::size_t position(Index axis) const {
        if (axis < 0 || axis >= rank()) [[unlikely]]
            axis = normalize_axis("Shape", axis, rank());
        return static_cast<std::size_t>(axis);
    }

    std::array<Index, max_rank> sizes_{};
    std::size_t rank_ = 0;
};

/// "[2, 3]"
inline std::string to_string(const Shape& shape) {
    std::string text = "[";
    for (Index axis = 0; axis < shape.rank(); ++axis) text += (axis ? ", " : "") + std::to_string(shape[axis]);
    return text + "]";
}
inline std::string describe(const Shape& shape) { return to_string(shape); }
inline std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

/// The shape that a and b broadcast to (NumPy's rule: aligned at the last axis; a size of 1 stretches).
/// @throws shape_error if two sizes differ and neither is 1
inline Shape broadcast(std::string_view op, const Shape& a, const Shape& b) {
    const Index rank = std::max(a.rank(), b.rank());
    Shape result(std::vector<Index>(static_cast<std::size_t>(rank), 1));
    for (Index axis = 1; axis <= rank; ++axis) {
        const Index size_a = axis <= a.rank() ? a[a.rank() - axis] : 1;
        const Index size_b = axis <= b.rank() ? b[b.rank() - axis] : 1;
        require(size_a == size_b || size_a == 1 || size_b == 1, op, "shapes must broadcast", {{"a", a}, {"b", b}});
        result[rank - axis] = size_a == 1 ? size_b : size_a;
    }
    return result;
}

}  // namespace gflow
