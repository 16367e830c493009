#pragma once
#include <gflow/kernels/reduce.hpp>
#include <gflow/ops/common.hpp>

#include <array>

namespace gflow {

/// Which axes a reduction runs over: {} for all, 1, {0, −1}, or a std::vector. Negative ones count from the last.
class Axes {
public:
    Axes() = default;
    Axes(Index axis) : axes_{axis}, all_(false) {}
    Axes(std::initializer_list<Index> axes) : axes_(axes), all_(false) {}
    Axes(std::vector<Index> axes) : axes_(std::move(axes)), all_(false) {}

    /// One flag for each axis of a tensor of that rank. @throws index_error for an axis out of range or named twice
    std::array<bool, Shape::max_rank> among(std::string_view op, Index rank) const {
        std::array<bool, Shape::max_rank> flags{};
        std::fill_n(flags.begin(), rank, all_);
        for (Index axis : axes_) {
            bool& flag = flags[static_cast<std::size_t>(normalize_axis(op, axis, rank))];
            require<index_error>(!flag, op, "an axis must be named once only", {{"axis", axis}});
            flag = true;
        }
        return flags;
    }

private:
    std::vector<Index> axes_;
    bool all_ = true;
};

namespace detail {

/// x as [outer, n, inner], to be reduced over n into a tensor of shape `result`.
struct Reduction {
    Index outer = 1, n = 1, inner = 1;
    Shape result;
};

/// Calls reduce(x, Reduction) for each run of neighbouring axes, the last first, and hands its result to the next.
template <class F>
Tensor reduce_axes(const char* op, const Tensor& x, const Axes& axes, bool keepdim, F reduce) {
    require_floating(op, x);
    const auto reduced = axes.among(op, x.rank());
    const auto is_reduced = [&](Index axis) { return reduced[static_cast<std::size_t>(axis)]; };
    Shape final_shape;
    for (Index axis = 0; axis < x.rank(); ++axis)
        if (!is_reduced(axis) || keepdim) final_shape.push_back(is_reduced(axis) ? 1 : x.shape()[axis]);

    Tensor y = x;
    Shape shape = x.shape();
    bool done = false;
    for (Index last = x.rank() - 1; last >= 0; --last) {
        if (!is_reduced(last)) continue;
        Index first = last;
        while (first > 0 && is_reduced(first - 1)) --first;
        Reduction run;
        for (Index axis = 0; axis < x.rank(); ++axis)
            (axis < first ? run.outer : axis <= last ? run.n : run.inner) *= shape[axis];
        for (Index axis = first; axis <= last; ++axis) shape[axis] = 1;
        done = true;
        for (Index axis = 0; axis < first; ++axis) done = done && !is_reduced(axis);
        run.result = done ? final_shape : shape;
        y = reduce(y, run);
        last = first;
    }
    if (!done) y = reduce(x, Reduction{x.numel(), 1, 1, final_shape});  // no axis: every element by itself
    return y;
}

/// y = Σ x / n or Σ x over one run of axes.  dx = dy / n or dy for every element of the sum
inline Tensor sum_run(const char* op, const Tensor& x, const Reduction& run, bool mean) {
    Tensor y = empty(run.result, x.dtype(), x.device());
    const Index divisor = mean ? run.n : 1;
    visit_floating(op, x.dtype(), [&]<class T>(T) {
        kernels::sum<T>(x.data<T>(), run.outer, run.n, run.inner, y.mutable_data<T>(), divisor);
    });
    return record(op, {x}, y, {}, [run, divisor](const Saved&, const Tensor& dy, Gradients& d) {
        into(d, 0, [&](Tensor& dx, bool accumulate) {
            visit_floating("sum", dy.dtype(), [&]<class T>(T) {
                kernels::sum_backward<T>(dy.data<T>(), run.outer, run.n, run.inner, dx.mutable_data<T>(), accumulate,
                                         divisor);
            });
        });
    });
}

/// dx = dy at the position of the maximum, 0 elsewhere
inline Tensor max_run(const Tensor& x, const Reduction& run) {
    require(run.n > 0, "max", "the axis must have at least one element", {{"x", x}});
    Tensor y = empty(run.result, x.dtype(), x.device());
    Tensor at = empty(run.result, int64, x.device());
    visit_floating("max", x.dtype(), [&]<class T>(T) {
        kernels::max<T>(x.data<T>(), run.outer, run.n, run.inner, y.mutable_data<T>(), at.mutable_data<Index>());
    });
    return record("max", {x}, y, {at}, [run](const Saved& saved, const Tensor& dy, Gradients& d) {
        Tensor& dx = d[0];
        visit_floating("max", dy.dtype(), [&]<class T>(T) {
            kernels::max_backward<T>(dy.data<T>(), saved[0].data<Index>(), run.outer, run.n, run.inner,
                                     dx.mutable_data<T>());
        });
    });
}

}  // namespace detail

/// The sum over some axes, all by default; the sum of nothing is 0. Adds in double, in an order that does not depend on
/// the number of threads.
/// @param keepdim  leave the axes in place, with size 1
/// @throws         index_error for an axis out of range or named twice
inline Tensor sum(const Tensor& x, const Axes& axes = {}, bool keepdim = false) {
    return detail::reduce_axes("sum", x, axes, keepdim, [](const Tensor& part, const detail::Reduction& run) {
        return detail::sum_run("sum", part, run, false);
    });
}

/// The mean over some axes, all by default; the mean of nothing is NaN. See sum.
inline Tensor mean(const Tensor& x, const Axes& axes = {}, bool keepdim = false) {
    return detail::reduce_axes("mean", x, axes, keepdim, [](const Tensor& part, const detail::Reduction& run) {
        return detail::sum_run("mean", part, run, true);
    });
}

/// The largest element over some axes, all by default; NaN if there is one. The whole gradient goes to the first of
/// equal maxima in row-major order (PyTorch does so for max along one axis; over all it would share it out).
/// @throws shape_error if there is nothing to choose from;  index_error as sum
inline Tensor max(const Tensor& x, const Axes& axes = {}, bool keepdim = false) {
    return detail::reduce_axes("max", x, axes, keepdim, [](const Tensor& part, const detail::Reduction& run) {
        return detail::max_run(part, run);
    });
}

}  // namespace gflow
