#pragma once
#include <gflow/config/eigen.hpp>
#include <gflow/config/isa.hpp>
#include <gflow/core/span.hpp>

#include <algorithm>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// The constants of one AdamW update, step t.
template <class T>
struct AdamWStep {
    T gradient_scale;  // gradients are multiplied by it first
    T keep;            // 1 − lr·weight_decay
    T beta1, fresh1;   // β₁, 1−β₁
    T beta2, fresh2;   // β₂, 1−β₂
    T stride;          // lr / (1−β₁ᵗ)
    T root;            // 1 / √(1−β₂ᵗ)
    T eps;
};

/// g ← scale·g;  m ← β₁m + (1−β₁)g;  v ← β₂v + (1−β₂)g²;  p ← keep·p − stride·m / (root·√v + eps).
/// p, g, m, v: [n]. On the calling thread; a block at a time, so that nothing is read from memory twice.
template <class T>
void adamw(Vector<T> p, Vector<const T> g, Vector<T> m, Vector<T> v, const AdamWStep<T>& step) {
    constexpr Index block = 1024;
    using Array = Eigen::Array<T, Eigen::Dynamic, 1>;
    for (Index begin = 0; begin < p.size(); begin += block) {
        const Index n = std::min(block, p.size() - begin);
        Eigen::Map<Array> pb(p.data() + begin, n), mb(m.data() + begin, n), vb(v.data() + begin, n);
        const Eigen::Map<const Array> gb(g.data() + begin, n);
        mb = step.beta1 * mb + (step.fresh1 * step.gradient_scale) * gb;
        vb = step.beta2 * vb + step.fresh2 * (step.gradient_scale * gb).square();
        pb = step.keep * pb - step.stride * mb / (vb.sqrt() * step.root + step.eps);
    }
}

/// Σ x², in double. On the calling thread, in a fixed order.
template <class T>
double sum_of_squares(Vector<const T> x) {
    constexpr Index lanes = 16;  // independent sums: five times as fast as Eigen's cast<double>().square().sum()
    double sums[lanes] = {};
    const Index whole = x.size() / lanes * lanes;
    for (Index i = 0; i < whole; i += lanes)
        for (Index lane = 0; lane < lanes; ++lane) {
            const auto value = static_cast<double>(x[i + lane]);
            sums[lane] += value * value;
        }
    for (Index i = whole; i < x.size(); ++i) sums[i - whole] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    double sum = 0;
    for (const double part : sums) sum += part;
    return sum;
}

/// x ← factor·x
template <class T>
void scale(Vector<T> x, T factor) {
    Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>(x.data(), x.size()) *= factor;
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
