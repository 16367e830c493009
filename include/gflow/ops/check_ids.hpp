#pragma once
#include <gflow/core/tensor.hpp>

namespace gflow::detail {

/// Where element i of a tensor lies: an index for each axis.
inline Shape position_of(Index i, Shape shape) {
    for (Index axis = shape.rank() - 1; axis >= 0; --axis) {
        const Index size = shape[axis];
        shape[axis] = i % size;
        i /= size;
    }
    return shape;
}

/// Checks that every id lies in 0 … limit−1, at the door, so that no kernel has to.
/// @throws index_error naming the first that does not and its position;  dtype_error if ids are not int32 or int64
inline void check_ids(std::string_view op, const Tensor& ids, Index limit) {
    visit_ids(op, ids.dtype(), [&]<class Id>(Id) {
        const Id* id = ids.data<Id>();
        for (Index i = 0; i < ids.numel(); ++i)
            require<index_error>(id[i] >= 0 && id[i] < limit, op, "every id must be at least 0 and below the limit",
                                 {{"id", id[i]}, {"position", position_of(i, ids.shape())}, {"limit", limit}});
    });
}

/// Checks that every target is a class or ignore_index. @return how many of them count
/// @throws index_error naming the first that is neither and its position;  dtype_error if not int32 or int64
inline Index check_targets(std::string_view op, const Tensor& targets, Index classes, Index ignore_index) {
    Index counted = 0;
    visit_ids(op, targets.dtype(), [&]<class Id>(Id) {
        const Id* target = targets.data<Id>();
        for (Index i = 0; i < targets.numel(); ++i) {
            if (target[i] == ignore_index) continue;
            ++counted;
            require<index_error>(target[i] >= 0 && target[i] < classes, op,
                                 "every target must be a class or ignore_index",
                                 {{"target", target[i]},
                                  {"position", position_of(i, targets.shape())},
                                  {"classes", classes},
                                  {"ignore_index", ignore_index}});
        }
    });
    return counted;
}

}  // namespace gflow::detail
