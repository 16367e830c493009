#pragma once
#include <gflow/kernels/embedding.hpp>
#include <gflow/ops/check_ids.hpp>
#include <gflow/ops/common.hpp>

namespace gflow {

/// The rows of a table that ids name: y[…] = weight[ids[…]].
/// @param weight  [V, d], float32 or float64
/// @param ids     any shape, int32 or int64, each in 0 … V−1
/// @return        [..., d]
/// @throws        index_error naming the first id out of range and its position;  shape_error, dtype_error
inline Tensor embedding(const Tensor& weight, const Tensor& ids) {
    detail::require_floating("embedding", weight);
    detail::require_defined("embedding", ids);
    require(weight.rank() == 2, "embedding", "the weight must be a table [V, d]", {{"weight", weight}});
    detail::check_ids("embedding", ids, weight.size(0));
    Shape shape = ids.shape();
    shape.push_back(weight.size(1));
    Tensor y = empty(shape, weight.dtype(), weight.device());
    visit_floating("embedding", weight.dtype(), [&]<class T>(T) {
        visit_ids("embedding", ids.dtype(), [&]<class Id>(Id) {
            kernels::embedding<T, Id>(read_rows<T>(weight), read<Id>(ids), write_rows<T>(y));
        });
    });
    return record("embedding", {weight}, y, {ids}, [](const Saved& saved, const Tensor& dy, Gradients& d) {
        // dweight[v] = Σ dy[i] over the positions i with ids[i] = v, added to what the table has gathered elsewhere
        Tensor& dweight = d[0];
        visit_floating("embedding", dy.dtype(), [&]<class T>(T) {
            visit_ids("embedding", saved[0].dtype(), [&]<class Id>(Id) {
                kernels::embedding_backward<T, Id>(read_rows<T>(dy), read<Id>(saved[0]), write_rows<T>(dweight));
            });
        });
    });
}

}  // namespace gflow
