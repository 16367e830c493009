#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/kernels/eigen_maps.hpp>
#include <gflow/kernels/exp.hpp>

#include <algorithm>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

namespace detail {

inline constexpr Index blend_piece = 256;  // so few elements that α is still in the first-level cache when it is used

/// Calls f(first, count) for consecutive pieces of 0 … n−1, on all threads.
template <class F>
void for_each_piece(Index n, F&& f) {
    parallel_for(n, 32 * blend_piece, [&](Index begin, Index end) {
        for (Index first = begin; first < end; first += blend_piece) f(first, std::min(blend_piece, end - first));
    });
}

/// σ(a) of an array expression. (Not Eigen's logistic: in float it is off by 7e-4 relative where it is small.)
template <class Expression>
auto gate(const Eigen::ArrayBase<Expression>& a) {
    using T = typename Expression::Scalar;
    return T(1) / (T(1) + exponential(-a.derived()));
}

}  // namespace detail

/// y = α ⊙ h + (1 − α) ⊙ g with α = σ(gate_logits).  All: [n].
template <class T>
void blend(Vector<const T> gate_logits, Vector<const T> h, Vector<const T> g, Vector<T> y) {
    detail::for_each_piece(y.size(), [&](Index first, Index count) {
        auto out = array(y.data() + first, count);
        out = detail::gate(array(gate_logits.data() + first, count));
        out = out * array(h.data() + first, count) + (T(1) - out) * array(g.data() + first, count);
    });
}

/// A gradient to write, or to add to; left out if its data is null.
template <class T>
struct BlendGradient {
    T* data = nullptr;
    bool accumulate = false;
};

/// da = dy ⊙ (h − g) ⊙ α (1 − α),  dh = dy ⊙ α,  dg = dy ⊙ (1 − α).  All: [n].
/// The three are written in this order, piece by piece; two of them may be the same memory, if the later one
/// accumulates.
template <class T>
void blend_backward(Vector<const T> gate_logits, Vector<const T> h, Vector<const T> g, Vector<const T> dy,
                    BlendGradient<T> da, BlendGradient<T> dh, BlendGradient<T> dg) {
    detail::for_each_piece(dy.size(), [&](Index first, Index count) {
        // Aligned, so that the address of the stack does not decide which elements Eigen computes one by one.
        alignas(64) T memory[detail::blend_piece];
        auto alpha = array(memory, count);
        alpha = detail::gate(array(gate_logits.data() + first, count));
        const auto grad = array(dy.data() + first, count);
        const auto put = [&](const BlendGradient<T>& to, const auto& value) {
            if (to.data == nullptr) return;
            auto out = array(to.data + first, count);
            if (to.accumulate)
                out += value;
            else
                out = value;
        };
        put(da, grad * (array(h.data() + first, count) - array(g.data() + first, count)) * alpha * (T(1) - alpha));
        put(dh, grad * alpha);
        put(dg, grad * (T(1) - alpha));
    });
}

#if defined(GFLOW_EXTERN_TEMPLATES)
extern template void blend<float>(Vector<const float>, Vector<const float>, Vector<const float>, Vector<float>);
extern template void blend<double>(Vector<const double>, Vector<const double>, Vector<const double>, Vector<double>);
extern template void blend_backward<float>(Vector<const float>, Vector<const float>, Vector<const float>,
                                           Vector<const float>, BlendGradient<float>, BlendGradient<float>,
                                           BlendGradient<float>);
extern template void blend_backward<double>(Vector<const double>, Vector<const double>, Vector<const double>,
                                            Vector<const double>, BlendGradient<double>, BlendGradient<double>,
                                            BlendGradient<double>);
#endif

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
