#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/kernels/eigen_maps.hpp>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// Elements that one thread takes at a time: 64 KiB of float32, which the second-level cache holds.
inline constexpr Index elementwise_tile = 16384;

/// y = f(x…), or y += f(x…), element by element. f turns Eigen arrays into an array expression. All have y's size.
template <class T, class F, class... X>
void elementwise(Vector<T> y, bool accumulate, F f, Vector<X>... x) {
    parallel_for(y.size(), elementwise_tile, [&](Index begin, Index end) {
        const Index n = end - begin;
        auto out = array(y.data() + begin, n);
        if (accumulate)
            out += f(array(x.data() + begin, n)...);
        else
            out = f(array(x.data() + begin, n)...);
    });
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
