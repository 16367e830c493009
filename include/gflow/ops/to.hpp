#pragma once
#include <gflow/ops/common.hpp>

namespace gflow {

/// The elements converted to dtype: a copy, or x itself where it already has that dtype.
/// Floating values going to an integer type are cut towards zero; float64 values that float32 cannot hold become ±∞.
/// Gradients pass between float32 and float64; in another dtype there are none, so the result lies outside the graph.
/// @throws dtype_error for a value that an integer dtype cannot hold (NaN, ±∞, out of range);  error if x is undefined
inline Tensor to(const Tensor& x, DType dtype) {
    detail::require_defined("to", x);
    if (x.dtype() == dtype) return x;
    const Tensor y = detail::converted(x, dtype);
    if (dtype != float32 && dtype != float64) return y;
    // dx = dy, in x's dtype
    return record("to", {x}, y, {}, [dtype = x.dtype()](const Saved&, const Tensor& dy, Gradients& d) {
        d.add(0, detail::converted(dy, dtype));
    });
}

}  // namespace gflow
