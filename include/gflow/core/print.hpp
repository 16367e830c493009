#pragma once
#include <gflow/core/tensor.hpp>

#include <ostream>
#include <sstream>
#include <string>

namespace gflow {

namespace detail {

inline constexpr Index printed_edge = 3;  // elements kept at each end of an axis that is cut

inline std::string print_element(const Tensor& x, Index position) {
    std::ostringstream text;
    text.precision(5);
    visit(x.dtype(), [&]<class T>(T) {
        const T value = x.data<T>()[position];
        if constexpr (std::is_same_v<T, bfloat16_t>)
            text << static_cast<float>(value);
        else if constexpr (std::is_same_v<T, std::uint8_t>)
            text << static_cast<int>(value);
        else
            text << value;
    });
    return text.str();
}

inline void print_axis(std::string& out, const Tensor& x, Index axis, Index offset, bool cut) {
    if (axis == x.rank()) {
        out += print_element(x, offset);
        return;
    }
    Index stride = 1;
    for (Index inner = axis + 1; inner < x.rank(); ++inner) stride *= x.shape()[inner];
    const bool last = axis + 1 == x.rank();
    const std::string separator = last ? ", " : ",\n" + std::string(static_cast<std::size_t>(axis) + 1, ' ');
    const Index size = x.shape()[axis];
    out += "[";
    for (Index i = 0; i < size; ++i) {
        if (i > 0) out += separator;
        if (cut && size > 2 * printed_edge && i == printed_edge) {
            out += "…";
            i = size - printed_edge - 1;
            continue;
        }
        print_axis(out, x, axis + 1, offset + i * stride, cut);
    }
    out += "]";
}

}  // namespace detail

/// The elements in brackets, with the middle of long axes left out (from 1,000 elements on), then dtype and shape.
inline std::string to_string(const Tensor& x) {
    if (!x.defined()) return "undefined";
    std::string text;
    detail::print_axis(text, x, 0, 0, x.numel() > 1000);
    return text + "  " + describe(x);
}
inline std::ostream& operator<<(std::ostream& out, const Tensor& x) { return out << to_string(x); }

}  // namespace gflow
