#pragma once
#include <gflow/config/isa.hpp>
#include <gflow/core/index.hpp>
#include <gflow/kernels/eigen_maps.hpp>

#include <cmath>
#include <limits>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// Number of Plücker coordinates of a plane in r dimensions: one for each i < j.
constexpr Index plucker_size(Index r) { return r * (r - 1) / 2; }

/// A plane whose second direction turns away from the first by less than this angle is not resolved: rounding leaves
/// noise there that normalising would blow up. One value for all dtypes, so that they agree which planes count.
inline constexpr double unresolved_angle = 1e-4;

/// |x|, also where the sum of squares would leave the range of T; NaN stays NaN.
template <class T>
T length_of(Vector<const T> x) {
    const T squares = vector(x).squaredNorm();
    constexpr T smallest = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
    if ((squares > smallest && squares < std::numeric_limits<T>::max()) || std::isnan(squares))
        return std::sqrt(squares);
    const T peak = x.size() > 0 ? array(x).abs().maxCoeff() : T(0);
    if (peak == T(0) || std::isinf(peak)) return peak;
    return peak * std::sqrt((array(x) / peak).square().sum());
}

/// out = s ∧ v: s_i v_j − s_j v_i for i < j, in lexicographic order; first indices begin … end−1 only.
template <class T>
void wedge(Vector<const T> s, Vector<const T> v, Index begin, Index end, T* out) {
    const Index r = s.size();
    for (Index i = begin; i < end; ++i) {
        const Index rest = r - i - 1;
        array(out, rest) = s[i] * array(v.data() + i + 1, rest) - v[i] * array(s.data() + i + 1, rest);
        out += rest;
    }
}
template <class T>
void wedge(Vector<const T> s, Vector<const T> v, Vector<T> out) {
    wedge(s, v, 0, s.size(), out.data());
}

/// out = Q·x, where Q is the antisymmetric matrix with Q_ij = q_ij for i < j.  q: [C(r,2)], x, out: [r].
template <class T>
void antisymmetric_product(Vector<const T> q, Vector<const T> x, Vector<T> out) {
    const Index r = x.size();
    array(out).setZero();
    const T* row = q.data();
    for (Index i = 0; i < r; ++i) {
        const Index rest = r - i - 1;
        const auto above = array(row, rest);  // Q_ij, j > i
        out[i] += (above * array(x.data() + i + 1, rest)).sum();
        array(out.data() + i + 1, rest) -= x[i] * above;  // Q_ji = −Q_ij
        row += rest;
    }
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels
