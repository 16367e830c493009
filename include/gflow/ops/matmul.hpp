#pragma once
#include <gflow/autograd/record.hpp>
#include <gflow/core/tensor_view.hpp>
#include <gflow/kernels/gemm.hpp>

namespace gflow {

struct MatmulOptions {
    bool transpose_a = false;  ///< use aᵀ (of its last two axes)
    bool transpose_b = false;  ///< use bᵀ
};

namespace detail {

/// The matrices of a batch: the last two axes of x, with the leading axes broadcast to `batch`.
template <class Element>
class MatrixBatch {
public:
    MatrixBatch(Element* data, const Shape& shape, const Shape& batch)
        : data_(data), rows_(shape[shape.rank() - 2]), cols_(shape.back()) {
        // Stride 0 on an axis that is stretched: every position along it sees the same matrix.
        strides_ = Shape(std::vector<Index>(static_cast<std::size_t>(batch.rank()), 0));
        batch_ = batch;
        Index stride = rows_ * cols_;
        const Index own = shape.rank() - 2;
        for (Index axis = 1; axis <= own; ++axis) {
            const Index size = shape[own - axis];
            if (size != 1) strides_[batch.rank() - axis] = stride;
            stride *= size;
        }
    }
    Matrix<Element> operator[](Index i) const {
        Index offset = 0;
        for (Index axis = batch_.rank() - 1; axis >= 0; --axis) {
            offset += i % batch_[axis] * strides_[axis];
            i /= batch_[axis];
        }
        return {data_ + offset, rows_, cols_};
    }

private:
    Element* data_;
    Index rows_, cols_;
    Shape batch_, strides_;
};

inline Shape batch_axes(const Shape& shape) {
    return Shape(std::span(shape.begin(), static_cast<std::size_t>(shape.rank() - 2)));
}

/// c[i] = a[i]·b[i] for each matrix of the batch; adds instead where several products meet in one matrix of c.
template <class T>
void multiply_batch(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b, Tensor& c, bool accumulate) {
    const Shape batch =
        broadcast("matmul", broadcast("matmul", batch_axes(a.shape()), batch_axes(b.shape())), batch_axes(c.shape()));
    const MatrixBatch<const T> left(a.data<T>(), a.shape(), batch), right(b.data<T>(), b.shape(), batch);
    const MatrixBatch<T> out(c.mutable_data<T>(), c.shape(), batch);
    const bool several = batch.numel() != batch_axes(c.shape()).numel();
    if (several && !accumulate) std::memset(c.mutable_raw(), 0, c.bytes());
    const auto onto = accumulate || several ? kernels::Onto::add : kernels::Onto::overwrite;
    // Products that meet in one matrix must keep their order; others are shared out among the threads.
    const Index tile = several ? std::max<Index>(batch.numel(), 1) : 1;
    parallel_for(batch.numel(), tile, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i)
            kernels::gemm<T>({left[i], transpose_a}, {right[i], transpose_b}, out[i], onto);
    });
}

}  // namespace detail

/// Matrix product of the last two axes; leading axes broadcast. c = a·b, with a or b read transposed where asked.
/// @param a  [..., m, k] (or [..., k, m] with transpose_a), float32 or float64
/// @param b  [..., k, n] (or [..., n, k] with transpose_b), of a's dtype
/// @return   [..., m, n]
/// @throws   shape_error if either has fewer than two axes, inner sizes differ or leading axes do not broadcast;
///           dtype_error if dtypes differ or are not floating
inline Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {}) {
    const bool ta = options.transpose_a, tb = options.transpose_b;
    require(a.rank() >= 2 && b.rank() >= 2, "matmul", "both factors need at least two axes", {{"a", a}, {"b", b}});
    require<dtype_error>(a.dtype() == b.dtype(), "matmul", "dtypes must be equal", {{"a", a}, {"b", b}});
    require(a.size(ta ? -2 : -1) == b.size(tb ? -1 : -2), "matmul", "inner sizes must agree",
            {{"a", a}, {"b", b}, {"transpose_a", ta}, {"transpose_b", tb}});
    Shape shape = broadcast("matmul", detail::batch_axes(a.shape()), detail::batch_axes(b.shape()));
    shape.push_back(a.size(ta ? -1 : -2));
    shape.push_back(b.size(tb ? -2 : -1));
    Tensor c = empty(shape, a.dtype(), a.device());
    visit_floating("matmul", a.dtype(), [&]<class T>(T) { detail::multiply_batch<T>(a, ta, b, tb, c, false); });
    return record("matmul", {a, b}, c, {a, b}, [ta, tb](const Saved& saved, const Tensor& dc, Gradients& d) {
        // da = dc·bᵀ and db = aᵀ·dc; where a factor was read transposed, its gradient is the transpose of that.
        visit_floating("matmul", dc.dtype(), [&]<class T>(T) {
            const Tensor &left = saved[0], &right = saved[1];
            if (d.needed(0)) {
                auto [da, accumulate] = d.target(0);
                if (ta)
                    detail::multiply_batch<T>(right, tb, dc, true, da, accumulate);
                else
                    detail::multiply_batch<T>(dc, false, right, !tb, da, accumulate);
            }
            if (d.needed(1)) {
                auto [db, accumulate] = d.target(1);
                if (tb)
                    detail::multiply_batch<T>(dc, true, left, ta, db, accumulate);
                else
                    detail::multiply_batch<T>(left, !ta, dc, false, db, accumulate);
            }
        });
    });
}

}  // namespace gflow
