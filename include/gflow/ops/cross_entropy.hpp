#pragma once
#include <gflow/kernels/cross_entropy.hpp>
#include <gflow/ops/check_ids.hpp>
#include <gflow/ops/common.hpp>

namespace gflow {

struct CrossEntropyOptions {
    Index ignore_index = -100;  ///< targets that do not count
};

/// Mean of −log softmax(logits)[target] over the targets that count; 0 where none does.
/// @param logits   [..., V], float32 or float64. Where a row is −inf throughout the loss is inf, its gradient 0.
/// @param targets  [...], int32 or int64, each in 0 … V−1 or ignore_index
/// @return         a scalar
/// @throws         index_error naming the first target out of range and its position;  shape_error, dtype_error
inline Tensor cross_entropy(const Tensor& logits, const Tensor& targets, CrossEntropyOptions options = {}) {
    detail::require_floating("cross_entropy", logits);
    require(logits.rank() >= 1 && logits.size(-1) >= 1, "cross_entropy", "logits need at least one class",
            {{"logits", logits}});
    Shape expected;
    for (Index axis = 0; axis + 1 < logits.rank(); ++axis) expected.push_back(logits.size(axis));
    require(targets.defined() && targets.shape() == expected, "cross_entropy",
            "targets must have the shape of logits without its last axis", {{"logits", logits}, {"targets", targets}});
    const Index ignore = options.ignore_index;
    const Index counted = detail::check_targets("cross_entropy", targets, logits.size(-1), ignore);
    Tensor lse = empty({targets.numel(), 2}, logits.dtype());
    Tensor y = empty({}, logits.dtype());
    visit_floating("cross_entropy", logits.dtype(), [&]<class T>(T) {
        visit_ids("cross_entropy", targets.dtype(), [&]<class Id>(Id) {
            Tensor losses = empty(expected, logits.dtype());
            kernels::cross_entropy<T, Id>(read_rows<T>(logits), read<Id>(targets), ignore, write_rows<T>(lse),
                                          write<T>(losses));
            double sum = 0;
            for (const T loss : read<T>(losses)) sum += static_cast<double>(loss);
            *y.mutable_data<T>() = counted > 0 ? static_cast<T>(sum / static_cast<double>(counted)) : T(0);
        });
    });
    return record("cross_entropy", {logits}, y, {logits, targets, lse},
                  [ignore, counted](const Saved& saved, const Tensor& dy, Gradients& d) {
                      // dlogits = (softmax(logits) − onehot(target)) · dy / counted
                      detail::into(d, 0, [&](Tensor& dlogits, bool accumulate) {
                          visit_floating("cross_entropy", dy.dtype(), [&]<class T>(T) {
                              visit_ids("cross_entropy", saved[1].dtype(), [&]<class Id>(Id) {
                                  const T scale = counted > 0 ? dy.item<T>() / static_cast<T>(counted) : T(0);
                                  kernels::cross_entropy_backward<T, Id>(read_rows<T>(saved[0]), read<Id>(saved[1]),
                                                                         ignore, read_rows<T>(saved[2]), scale,
                                                                         write_rows<T>(dlogits), accumulate);
                              });
                          });
                      });
                  });
}

}  // namespace gflow
