#pragma once
#include <gflow/kernels/linear_cross_entropy.hpp>
#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/cross_entropy.hpp>

namespace gflow {

/// cross_entropy(linear(h, weight), targets) without ever holding all logits: a chunk of tokens at a time, whose
/// gradients are computed at once and kept instead (they are as large as h and weight). Tokens that do not count cost
/// nothing.
/// @param h        [..., d], float32 or float64
/// @param weight   [V, d]
/// @param targets  [...], int32 or int64, each in 0 … V−1 or ignore_index
/// @return         a scalar: the mean over the targets that count, 0 where none does
/// @throws         index_error naming the first target out of range;  shape_error, dtype_error
inline Tensor linear_cross_entropy(const Tensor& h, const Tensor& weight, const Tensor& targets,
                                   CrossEntropyOptions options = {}) {
    const char* op = "linear_cross_entropy";
    detail::require_pair(op, h, weight);
    require(weight.rank() == 2 && h.rank() >= 1 && h.size(-1) == weight.size(1) && weight.size(0) >= 1, op,
            "h must end in the weight's input size", {{"h", h}, {"weight", weight}});
    require(weight.size(1) >= 1, op, "a state must have a number or more", {{"h", h}, {"weight", weight}});
    Shape expected;
    for (Index axis = 0; axis + 1 < h.rank(); ++axis) expected.push_back(h.size(axis));
    require(targets.defined() && targets.shape() == expected, op,
            "targets must have the shape of h without its last axis", {{"h", h}, {"targets", targets}});
    const Index counted = detail::check_targets(op, targets, weight.size(0), options.ignore_index);
    const auto gradient_like = [&](const Tensor& x) {
        if (!will_record({x})) return Tensor();
        return counted > 0 ? empty_like(x) : zeros_like(x);
    };
    Tensor dh = gradient_like(h), dweight = gradient_like(weight);
    Tensor y = zeros({}, h.dtype(), h.device());
    if (counted > 0)
        visit_floating(op, h.dtype(), [&]<class T>(T) {
            visit_ids(op, targets.dtype(), [&]<class Id>(Id) {
                const T scale = T(1) / static_cast<T>(counted);
                const auto rows_of = [](Tensor& gradient) {
                    return gradient.defined() ? write_rows<T>(gradient) : Matrix<T>(nullptr, 0, 0);
                };
                const double sum =
                    kernels::linear_cross_entropy<T, Id>(read_rows<T>(h), read_rows<T>(weight), read<Id>(targets),
                                                         options.ignore_index, scale, {rows_of(dh), rows_of(dweight)});
                *y.mutable_data<T>() = static_cast<T>(sum / static_cast<double>(counted));
            });
        });
    return record(op, {h, weight}, y, {dh, dweight}, [](const Saved& saved, const Tensor& dy, Gradients& d) {
        // Both gradients were computed beside the loss; what remains is dy, which is 1 for the end of a model.
        for (const std::size_t i : {0U, 1U})
            if (d.needed(i)) d.add(i, dy.item() == 1 ? saved[i] : mul(saved[i], dy.item()));
    });
}

}  // namespace gflow
