#pragma once
#include <gflow/config/eigen.hpp>
#include <gflow/config/isa.hpp>

#include <cmath>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// eˣ for scalars and Eigen's packets. Eigen 3.4 clamps its argument, so that exp(−∞) is 3e-39 and not 0; here it is 0.
template <class T>
struct Exp {
    T operator()(T x) const { return std::exp(x); }
    template <class Packet>
    Packet packetOp(const Packet& x) const {
        using namespace Eigen::internal;
        const T lowest = std::is_same_v<T, float> ? T(-87.33) : T(-708.39);  // below them eˣ is not a normal number
        return pandnot(pexp(x), pcmp_lt(x, pset1<Packet>(lowest)));
    }
};

/// eˣ of an array expression, vectorised; −∞ gives 0, NaN stays.
template <class Derived>
auto exponential(const Eigen::ArrayBase<Derived>& x) {
    return x.unaryExpr(Exp<typename Derived::Scalar>{});
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

template <class T>
struct Eigen::internal::functor_traits<gflow::kernels::Exp<T>> {
    enum { Cost = 20 * NumTraits<T>::MulCost, PacketAccess = packet_traits<T>::HasExp };
};
