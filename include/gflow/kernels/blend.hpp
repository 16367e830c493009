#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/parallel.hpp>
#include <gflow/kernels/eigen_maps.hpp>
#include <gflow/kernels/exp.hpp>

#include <algorithm>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// Calls f(first, α, β) for consecutive pieces of the gate, with α = σ(a) and β = 1 − σ(a) = σ(−a) as short arrays in
/// cache. (Not Eigen's logistic: it is off by 7e-4 relative in float where it is small.)
template <class T, class F>
void for_each_gate_piece(Vector<const T> gate_logits, F&& f) {
    constexpr Index piece = 512;
    parallel_for(gate_logits.size(), 8 * piece, [&](Index begin, Index end) {
        T memory[2 * piece];
        for (Index first = begin; first < end; first += piece) {
            const Index count = std::min(piece, end - first);
            auto alpha = array(memory, count), beta = array(memory + piece, count);
            alpha = T(1) / (T(1) + exponential(-array(gate_logits.data() + first, count)));
            beta = T(1) - alpha;
            f(first, alpha, beta);
        }
    });
}

/// y = α ⊙ h + (1 − α) ⊙ g with α = σ(gate_logits).  All: [n].
template <class T>
void blend(Vector<const T> gate_logits, Vector<const T> h, Vector<const T> g, Vector<T> y) {
    for_each_gate_piece(gate_logits, [&](Index first, const auto& alpha, const auto& beta) {
        const Index count = alpha.size();
        array(y.data() + first, count) = alpha * array(h.data() + first, count) + beta * array(g.data() + first, count);
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
    for_each_gate_piece(gate_logits, [&](Index first, const auto& alpha, const auto& beta) {
        const Index count = alpha.size();
        const auto grad = array(dy.data() + first, count);
        const auto put = [&](const BlendGradient<T>& to, const auto& value) {
            if (to.data == nullptr) return;
            auto out = array(to.data + first, count);
            if (to.accumulate)
                out += value;
            else
                out = value;
        };
        put(da, grad * (array(h.data() + first, count) - array(g.data() + first, count)) * alpha * beta);
        put(dh, grad * alpha);
        put(dg, grad * beta);
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
