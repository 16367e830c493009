#pragma once
#include <gflow/autograd/backward.hpp>
#include <gflow/autograd/tensor_autograd.hpp>
#include <gflow/core/random.hpp>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

namespace gflow {

struct GradcheckOptions {
    double step =
        1e-5;  ///< of the central difference; the error falls with its square, rounding grows with its inverse
    double rtol = 1e-6;  ///< allowed difference relative to the numeric value
    double atol = 1e-7;  ///< allowed absolute difference
    bool skip_kinks =
        false;  ///< leave out elements where the differences to the left and to the right disagree (relu at 0)
};

/// What gradcheck found. Converts to true if all gradients agree; `message` names the worst element otherwise.
struct GradcheckResult {
    bool ok = true;
    std::string message;
    explicit operator bool() const { return ok; }
};

namespace detail {

inline double weighted_sum(const Tensor& y, const Tensor& weights) {
    double sum = 0;
    const double *a = y.data<double>(), *b = weights.data<double>();
    for (Index i = 0; i < y.numel(); ++i) sum += a[i] * b[i];
    return sum;
}

}  // namespace detail

/// Compares the gradients of f with central differences, through a random weighting of f's output.
/// @param f       callable: const std::vector<Tensor>& → Tensor, deterministic; its output must be float64
/// @param inputs  float64 tensors are checked, one at least (others are passed through): float32 has too few digits for
///                differences
/// @throws        usage_error without a float64 input;  dtype_error for float32, inside or out;  error if f's output is
///                undefined;  shape_error if its shape is not the same each time
template <class F>
GradcheckResult gradcheck(F f, const std::vector<Tensor>& inputs, GradcheckOptions options = {}) {
    std::vector<Tensor> leaves;
    bool any = false;
    for (const Tensor& input : inputs) {
        require<error>(input.defined(), "gradcheck", "inputs must be defined", {{"input", leaves.size()}});
        require<dtype_error>(input.dtype() != float32, "gradcheck", "inputs must be float64, float32 is too coarse",
                             {{"input", input}});
        leaves.push_back(detail::copied(input));
        if (input.dtype() != float64) continue;
        leaves.back().set_requires_grad();
        any = true;
    }
    require<usage_error>(any, "gradcheck", "at least one float64 input is needed", {{"inputs", inputs.size()}});
    const auto checked = [&f](const std::vector<Tensor>& at) {
        Tensor y = f(at);
        require<error>(y.defined(), "gradcheck", "f must give a defined tensor", {{"output", y}});
        require<dtype_error>(y.dtype() == float64, "gradcheck", "f must give float64, other types are too coarse",
                             {{"output", y}});
        return y;
    };
    const Tensor y = checked(leaves);
    Generator fixed(20251228);
    const Tensor weights = randn(y.shape(), float64, 1, fixed);
    if (y.requires_grad()) backward(y, weights);

    const NoGrad plain;
    double worst = 0;
    GradcheckResult result;
    for (std::size_t which = 0; which < leaves.size(); ++which) {
        if (leaves[which].dtype() != float64) continue;
        std::vector<Tensor> moved;
        for (const Tensor& leaf : leaves) moved.push_back(leaf.detach());
        moved[which] = detail::copied(leaves[which]);
        const Tensor gradient = leaves[which].grad();
        for (Index i = 0; i < moved[which].numel(); ++i) {
            const double x = leaves[which].data<double>()[i];
            const auto value_at = [&](double shifted) {
                moved[which].mutable_data<double>()[i] = shifted;
                const Tensor again = checked(moved);
                require(again.shape() == y.shape(), "gradcheck", "f must give the same shape each time",
                        {{"first", y}, {"then", again}});
                return detail::weighted_sum(again, weights);
            };
            const double above = value_at(x + options.step);
            const double below = value_at(x - options.step);
            const double middle = value_at(x);
            const double numeric = (above - below) / (2 * options.step);
            const double bound = options.atol + options.rtol * std::abs(numeric);
            if (options.skip_kinks && std::abs(above - 2 * middle + below) > 100 * options.step * bound) continue;
            const double analytic = gradient.defined() ? gradient.data<double>()[i] : 0;
            const double excess = std::abs(analytic - numeric) / bound;
            if (excess <= 1 || (!result.ok && excess <= worst)) continue;  // NaN falls through: it is a failure
            worst = excess;
            std::ostringstream message;
            message << "input " << which << " " << describe(leaves[which]) << ", element " << i << ": backward gives "
                    << analytic << ", differences give " << numeric;
            result = {false, message.str()};
        }
    }
    return result;
}

}  // namespace gflow
