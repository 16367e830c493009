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

/// The sizes of a tensor's axes, at most 8 of them, outermost first. An empty shape is a scalar.
class Shape {
public:
    static constexpr std::size_t max_rank = 8;

    Shape() = default;
    Shape(std::initializer_list<Index> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
    Shape(const std::vector<Index>& sizes) : Shape(std::span(sizes)) {}
    /// @throws shape_error for more than 8 axes or a negative size
    explicit Shape(std::span<const Index> sizes) {
        require(sizes.size() <= max_rank, "Shape", "a tensor has at most 8 axes", {{"axes", sizes.size()}});
        for (Index size : sizes) push_back(size);
    }

    Index rank() const { return static_cast<Index>(rank_); }
    bool empty() const { return rank_ == 0; }
    Index operator[](Index axis) const { return sizes_[static_cast<std::size_t>(axis)]; }
    Index& operator[](Index axis) { return sizes_[static_cast<std::size_t>(axis)]; }
    Index back() const { return sizes_[rank_ - 1]; }
    Index front() const { return sizes_[0]; }
    const Index* begin() const { return sizes_.data(); }
    const Index* end() const { return sizes_.data() + rank_; }

    void push_back(Index size) {
        require(rank_ < max_rank, "Shape", "a tensor has at most 8 axes", {{"axes", rank_ + 1}});
        require(size >= 0, "Shape", "sizes must not be negative", {{"size", size}});
        sizes_[rank_++] = size;
    }

    /// Number of elements; 1 for a scalar.
    Index numel() const {
        Index product = 1;
        for (Index size : *this) product *= size;
        return product;
    }

    friend bool operator==(const Shape& a, const Shape& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
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

/// Turns a possibly negative axis (−1 is the last) into 0 … rank−1.
/// @throws index_error if there is no such axis
inline Index normalize_axis(std::string_view op, Index axis, Index rank) {
    require<index_error>(axis >= -rank && axis < rank, op, "axis must be within the rank",
                         {{"axis", axis}, {"rank", rank}});
    return axis < 0 ? axis + rank : axis;
}

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
