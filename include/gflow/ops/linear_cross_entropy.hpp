#pragma once
#include <gflow/core/scratch.hpp>
#include <gflow/kernels/cross_entropy.hpp>
#include <gflow/kernels/gemm.hpp>
#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/cross_entropy.hpp>

#include <algorithm>

namespace gflow {

namespace detail {

inline constexpr Index head_chunk = 512;  // rows of logits at once: 512 × 30,522 float32 are 63 MB instead of 500

/// Σ of the losses; where dh and dweight are defined also their gradients, scaled by `scale`. The gradient of the
/// logits is written over them, chunk by chunk: three matrix products in all, and no logits left behind.
template <class T, class Id>
double head_and_loss(const Tensor& h, const Tensor& weight, const Tensor& targets, Index ignore_index, T scale,
                     Tensor& dh, Tensor& dweight) {
    const auto rows = read_rows<T>(h), w = read_rows<T>(weight);
    const Vector<const Id> labels = read<Id>(targets);
    const Index chunk = std::min(head_chunk, rows.rows());
    // Apart, so that the memory of the logits is of a size class with the weight's gradient and can serve it
    // afterwards.
    const Scratch<T> memory(chunk * (w.rows() + 2)), scaled(chunk * w.cols());
    double sum = 0;
    for (Index begin = 0; begin < rows.rows(); begin += chunk) {
        const Index end = std::min(begin + chunk, rows.rows());
        const Matrix<T> logits = memory.rows(end - begin, w.rows());
        const Matrix<T> scaled_h = scaled.rows(end - begin, w.cols());
        const Vector<T> loss(memory.data() + chunk * w.rows(), end - begin), factor(loss.data() + chunk, end - begin);
        const Vector<const Id> wanted(labels.data() + begin, end - begin);
        kernels::gemm<T>(rows.row_range(begin, end), kernels::transposed(w), logits);
        kernels::cross_entropy_in_place<T, Id>(logits, wanted, ignore_index, scale, loss, factor);
        for (const T value : loss) sum += static_cast<double>(value);
        // With F = diag(factor) and G what stands in the place of the logits:  dh = F·(G·W),  dW = Gᵀ·(F·h)
        if (dh.defined())
            kernels::gemm<T>(logits, w, write_rows<T>(dh).row_range(begin, end), kernels::Onto::overwrite,
                             [&](Matrix<T> tile, Index row, Index) {
                                 for (Index i = 0; i < tile.rows(); ++i) kernels::array(tile[i]) *= factor[row + i];
                             });
        if (dweight.defined()) {
            for (Index i = 0; i < end - begin; ++i)
                kernels::array(scaled_h[i]) = kernels::array(rows[begin + i]) * factor[i];
            kernels::gemm<T>(kernels::transposed(logits), scaled_h, write_rows<T>(dweight),
                             begin == 0 ? kernels::Onto::overwrite : kernels::Onto::add);
        }
    }
    return sum;
}

}  // namespace detail

/// cross_entropy(linear(h, weight), targets) without ever holding all logits: a chunk of rows at a time, whose
/// gradients are computed at once and kept instead (they are as large as h and weight).
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
                const double sum =
                    detail::head_and_loss<T, Id>(h, weight, targets, options.ignore_index, scale, dh, dweight);
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
