#pragma once
#include <gflow/kernels/exp.hpp>

#include <cmath>
#include <numbers>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// The upper tail and the density of the standard normal distribution at t ≥ 0:
/// tail = 1 − Φ(t) = ½ erfc(t/√2),  density = φ(t) = exp(−t²/2)/√(2π).
template <class Number>
struct NormalTail {
    Number tail, density;
};

/// For float and packets of float: 1 − Φ(t) = exp(−t²/2)·m(t), where m falls slowly from ½ and is u·P(u) with
/// u = 1/(1 + 0.35 t) and P of degree 8, fitted to a relative error of 3e-8. One exponential serves tail and density.
/// Rounding included, the tail is at most 6 + t²/2 ulp off, the density 3 + t²/2: what t² is rounded by, its
/// exponential is off by in relation to itself. Beyond 12.5, where the tail is 4e-36, the value at 12.5 is given. NaN
/// stays NaN.
template <class Packet>
NormalTail<Packet> normal_tail(const Packet& t) {
    using namespace Eigen::internal;
    const auto c = [](float value) { return pset1<Packet>(value); };
    const Packet x = pmin<Eigen::PropagateNaN>(t, c(12.5F));
    const Packet e = exp_in_range(pmul(c(-0.5F), pmul(x, x)));
    const Packet u = pdiv(c(1), pmadd(c(0.35F), x, c(1)));
    Packet p = c(-0.02909483201801777F);
    p = pmadd(p, u, c(0.143718421459198F));
    p = pmadd(p, u, c(-0.2551802694797516F));
    p = pmadd(p, u, c(0.1585504561662674F));
    p = pmadd(p, u, c(-0.02266976609826088F));
    p = pmadd(p, u, c(0.10531657934188843F));
    p = pmadd(p, u, c(0.11988282203674316F));
    p = pmadd(p, u, c(0.13985474407672882F));
    p = pmadd(p, u, c(0.1396218240261078F));
    return {pmul(e, pmul(u, p)), pmul(e, c(0.3989422804014327F))};
}

/// For double: through std::erfc.
inline NormalTail<double> normal_tail(const double& t) {
    using namespace std::numbers;
    return {0.5 * std::erfc(t * (sqrt2 / 2)), std::exp(-0.5 * t * t) * (inv_sqrtpi * sqrt2 / 2)};
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
