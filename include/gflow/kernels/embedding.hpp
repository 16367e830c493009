#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/kernels/eigen_maps.hpp>

#include <algorithm>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// y[i] = weight[ids[i]].  weight: [V, d], ids: [n] in 0 … V−1, y: [n, d].
template <class T, class Id>
void embedding(Matrix<const T> weight, Vector<const Id> ids, Matrix<T> y) {
    parallel_rows(ids.size(), weight.cols(), [&](Index i) {
        const Vector<const T> row = weight[ids[i]];
        std::copy(row.begin(), row.end(), y[i].begin());
    });
}

/// dweight[ids[i]] += dy[i] for each i.  dy: [n, d], ids: [n], dweight: [V, d].
/// Every thread owns some columns and walks through all positions: ids that repeat need no atomics, each element is
/// added to in the order of the positions whatever the number of threads, and nothing but dweight is written.
template <class T, class Id>
void embedding_backward(Matrix<const T> dy, Vector<const Id> ids, Matrix<T> dweight) {
    constexpr Index columns = 64;  // whole cache lines, so that two threads do not write to the same one
    parallel_for(dweight.cols(), columns, [&](Index begin, Index end) {
        for (Index i = 0; i < ids.size(); ++i)
            array(dweight[ids[i]].data() + begin, end - begin) += array(dy[i].data() + begin, end - begin);
    });
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
