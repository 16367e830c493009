#pragma once
#include <gflow/ops/common.hpp>

namespace gflow {

namespace detail {

/// `sizes` with its −1, if there is one, replaced by what is left of x's elements.
inline Shape infer_shape(const Tensor& x, const std::vector<Index>& sizes) {
    const auto text = [&] {
        std::string list;
        for (Index size : sizes) list += (list.empty() ? "" : ", ") + std::to_string(size);
        return "[" + list + "]";
    };
    std::vector<Index> result = sizes;
    Shape closed;
    Index* open = nullptr;
    for (Index& size : result) {
        require(size >= 0 || (size == -1 && !open), "reshape", "sizes must not be negative, but for one −1",
                {{"shape", text()}});
        if (size == -1)
            open = &size;
        else
            closed.push_back(size);
    }
    if (open) {
        const Index known = closed.numel();
        require(known > 0 && x.numel() % known == 0, "reshape", "the elements must fill the open axis evenly",
                {{"x", x}, {"shape", text()}});
        *open = x.numel() / known;
    }
    const Shape shape(result);
    require(shape.numel() == x.numel(), "reshape", "the number of elements must stay the same",
            {{"x", x}, {"shape", text()}});
    return shape;
}

}  // namespace detail

/// The same elements in row-major order under another shape: a view of the same memory.
/// @param sizes  of the new axes; one may be −1, then it takes what is left
/// @throws       shape_error if the number of elements does not fit
inline Tensor reshape(const Tensor& x, const std::vector<Index>& sizes) {
    detail::require_defined("reshape", x);
    const Tensor y = x.viewed_as(detail::infer_shape(x, sizes));
    return record("reshape", {x}, y, {},
                  [shape = x.shape()](const Saved&, const Tensor& dy, Gradients& d) { d.add(0, dy.viewed_as(shape)); });
}
inline Tensor reshape(const Tensor& x, const Shape& shape) {
    return reshape(x, std::vector<Index>(shape.begin(), shape.end()));
}
inline Tensor reshape(const Tensor& x, std::initializer_list<Index> sizes) {
    return reshape(x, std::vector<Index>(sizes));
}

}  // namespace gflow
