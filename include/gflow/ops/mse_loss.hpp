#pragma once
#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/reduce.hpp>

namespace gflow {

/// The mean of (x − target)² over all elements; NaN where there is none.
/// @throws shape_error unless both have one shape (nothing broadcasts here);  dtype_error
inline Tensor mse_loss(const Tensor& x, const Tensor& target) {
    detail::require_pair("mse_loss", x, target);
    require(x.shape() == target.shape(), "mse_loss", "shapes must be equal", {{"x", x}, {"target", target}});
    Tensor difference, y;
    {
        const NoGrad value_only;
        difference = sub(x, target);
        y = mean(mul(difference, difference));
    }
    // dx = 2 (x − target) dy / n, dtarget = −dx
    return record("mse_loss", {x, target}, y, {difference}, [](const Saved& saved, const Tensor& dy, Gradients& d) {
        const double scale = 2 * dy.item<double>() / static_cast<double>(saved[0].numel());
        if (d.needed(0)) d.add(0, mul(saved[0], scale));
        if (d.needed(1)) d.add(1, mul(saved[0], -scale));
    });
}

}  // namespace gflow
