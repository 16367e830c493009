#pragma once
/// What the ops share: checks at their door, and a way to write into a gradient.

#include <gflow/autograd/record.hpp>
#include <gflow/autograd/tensor_autograd.hpp>
#include <gflow/core/tensor_view.hpp>

namespace gflow::detail {

/// float32 or float64; everything else is refused in the name of `op`.
inline void require_floating(std::string_view op, const Tensor& x) {
    require_defined(op, x);
    require<dtype_error>(x.dtype() == float32 || x.dtype() == float64, op, "float32 or float64 is needed", {{"x", x}});
}

/// Two floating tensors of one dtype.
inline void require_pair(std::string_view op, const Tensor& a, const Tensor& b) {
    require<error>(a.defined() && b.defined(), op, "both tensors must be defined", {{"a", a}, {"b", b}});
    require<dtype_error>((a.dtype() == float32 || a.dtype() == float64) && a.dtype() == b.dtype(), op,
                         "both must be float32 or both float64", {{"a", a}, {"b", b}});
}

/// Calls f(dx, accumulate) with the gradient of input i, if that is wanted: f writes all of dx, or adds to it.
template <class F>
void into(Gradients& d, std::size_t i, F f) {
    if (!d.needed(i)) return;
    auto target = d.target(i);
    f(target.first, target.second);
}

/// Memory for what backward makes of dy and that has dy's shape: dy's own, where nobody else holds it, since backward
/// is done with it then; fresh memory elsewhere.
inline Tensor in_place_of(const Tensor& dy) { return dy.storage().use_count() == 1 ? dy : empty_like(dy); }

/// x seen along one axis: [outer, n, inner].
struct AxisView {
    Index outer = 1, n = 1, inner = 1;

    AxisView(const Shape& shape, Index axis) : n(shape[axis]) {
        for (Index i = 0; i < axis; ++i) outer *= shape[i];
        for (Index i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
    }
};

}  // namespace gflow::detail
