#pragma once
#include <gflow/kernels/dropout.hpp>
#include <gflow/ops/common.hpp>

namespace gflow {

/// Sets each element to 0 with probability p and divides the others by 1 − p, so that the mean stays. It always does:
/// whether a model trains is for the caller to ask. NaN and infinity stay visible where they are dropped (as NaN).
/// The mask is not stored: the numbers of this call can be made again (core/random.hpp). p = 0 takes no call number.
/// @param x  any shape, float32 or float64
/// @param p  0 ≤ p < 1
/// @throws   usage_error for another p;  dtype_error
inline Tensor dropout(const Tensor& x, double p, Generator& generator = default_generator()) {
    require<usage_error>(p >= 0 && p < 1, "dropout", "the probability must be at least 0 and below 1", {{"p", p}});
    detail::require_floating("dropout", x);
    if (p == 0) return x;
    const RandomCall random = generator.next_call();
    Tensor y = empty_like(x);
    visit_floating("dropout", x.dtype(), [&]<class T>(T) { kernels::dropout<T>(read<T>(x), random, p, write<T>(y)); });
    return record("dropout", {x}, y, {}, [random, p](const Saved&, const Tensor& dy, Gradients& d) {
        // dx = dy ⊙ mask / (1 − p)
        detail::into(d, 0, [&](Tensor& dx, bool accumulate) {
            visit_floating("dropout", dy.dtype(),
                           [&]<class T>(T) { kernels::dropout<T>(read<T>(dy), random, p, write<T>(dx), accumulate); });
        });
    });
}

}  // namespace gflow
