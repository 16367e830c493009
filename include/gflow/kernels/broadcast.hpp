#pragma once
#include <gflow/core/shape.hpp>
#include <gflow/kernels/elementwise.hpp>

#include <array>
#include <cstddef>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// How N operands are walked while y, which they broadcast to, is filled in order. An operand stands still (step 0) on
/// an axis along which it is stretched; axes on which all move alike are one axis. Equal shapes, a scalar, and a row
/// beside a matrix therefore need one long inner loop, and every inner loop steps by 0 or 1.
template <std::size_t N>
class BroadcastWalk {
public:
    using Steps = std::array<Index, N>;

    BroadcastWalk(const Shape& y, const std::array<Shape, N>& operands) : numel_(y.numel()) {
        Steps contiguous;
        contiguous.fill(1);
        for (Index axis = 1; axis <= y.rank(); ++axis) {
            const Index size = y[y.rank() - axis];
            Steps steps{};
            for (std::size_t i = 0; i < N; ++i) {
                const Shape& shape = operands[i];
                const Index own = axis <= shape.rank() ? shape[shape.rank() - axis] : 1;
                steps[i] = own == 1 ? 0 : contiguous[i];
                contiguous[i] *= own;
            }
            if (size != 1) add_axis(size, steps);
        }
        if (count_ == 0) {  // a single element
            Steps ones;
            ones.fill(1);
            add_axis(1, ones);
        }
    }

    /// Whether operand i moves along in the inner loop; it stands still otherwise.
    bool moves(std::size_t i) const { return axes_[0].steps[i] != 0; }

    /// Calls f(begin, n, starts) for runs of n elements of y from `begin`; operand i starts at starts[i].
    template <class F>
    void for_each_run(F f) const {
        if (numel_ == 0) return;
        const Index length = axes_[0].size;
        const Index run = std::min(length, elementwise_tile);
        const Index runs_per_row = (length + run - 1) / run;
        parallel_for(numel_ / length * runs_per_row, std::max<Index>(1, elementwise_tile / run),
                     [&](Index first, Index last) {
                         for (Index item = first; item < last; ++item) {
                             const Index row = item / runs_per_row;
                             const Index skip = item % runs_per_row * run;
                             f(row * length + skip, std::min(run, length - skip), starts(row, skip));
                         }
                     });
    }

private:
    struct Axis {
        Index size = 1;
        Steps steps{};
    };

    void add_axis(Index size, const Steps& steps) {
        bool merges = count_ > 0;
        for (std::size_t i = 0; merges && i < N; ++i)
            merges = steps[i] == axes_[count_ - 1].size * axes_[count_ - 1].steps[i];
        if (merges)
            axes_[count_ - 1].size *= size;
        else
            axes_[count_++] = {size, steps};
    }

    Steps starts(Index row, Index skip) const {
        Steps at{};
        for (std::size_t i = 0; i < N; ++i) at[i] = skip * axes_[0].steps[i];
        for (std::size_t axis = 1; axis < count_; ++axis) {
            const Index position = row % axes_[axis].size;
            row /= axes_[axis].size;
            for (std::size_t i = 0; i < N; ++i) at[i] += position * axes_[axis].steps[i];
        }
        return at;
    }

    std::array<Axis, Shape::max_rank> axes_{};  // innermost first
    std::size_t count_ = 0;
    Index numel_;
};

/// y = f(a, b), or y += f(a, b), with a and b stretched to y's shape. f turns Eigen arrays into an array expression.
template <class T, class F>
void broadcast(const BroadcastWalk<2>& walk, const T* a, const T* b, T* y, bool accumulate, F f) {
    using Row = Eigen::Array<T, 1, Eigen::Dynamic>;
    const auto store = [&](auto out, const auto& value) {
        if (accumulate)
            out += value;
        else
            out = value;
    };
    walk.for_each_run([&](Index begin, Index n, const auto& at) {
        const auto out = array(y + begin, n);
        const auto left = array(a + at[0], n), right = array(b + at[1], n);
        if (walk.moves(0) && walk.moves(1))
            store(out, f(left, right));
        else if (walk.moves(0))
            store(out, f(left, Row::Constant(n, b[at[1]])));
        else
            store(out, f(Row::Constant(n, a[at[0]]), right));
    });
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
