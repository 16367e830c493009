#pragma once
#include <gflow/kernels/column_sums.hpp>
#include <gflow/kernels/elementwise.hpp>
#include <gflow/kernels/normal_tail.hpp>

#include <type_traits>

namespace gflow::kernels {
inline namespace GFLOW_ISA {

/// A function's value and its slope at one point.
template <class Number>
struct ValueAndSlope {
    Number value, slope;
};

/// x·Φ(x) and Φ(x) + x·φ(x), for scalars and packets of T, from one tail and one density at t = |x|: the value is
/// max(x, 0) − t·(1 − Φ(t)), the slope r = (1 − Φ(t)) − t·φ(t) where x < 0, and 1 − r elsewhere. No digits cancel on
/// the negative side, as they do in ½x(1 + erf(x/√2)), and −∞ gives 0, not NaN.
template <class T, class Packet>
ValueAndSlope<Packet> gelu_exact(const Packet& x) {
    using namespace Eigen::internal;
    const auto c = [](double value) { return pset1<Packet>(static_cast<T>(value)); };
    const Packet limit = c(std::is_same_v<T, float> ? 12.5 : 37);  // the tail is nothing from there on
    const Packet t = pmin<Eigen::PropagateNaN>(pabs(x), limit);
    const NormalTail<Packet> at = normal_tail(t);
    const Packet r = psub(at.tail, pmul(t, at.density));
    return {psub(pmax<Eigen::PropagateNaN>(x, c(0)), pmul(t, at.tail)), pselect(pcmp_lt(x, c(0)), r, psub(c(1), r))};
}

template <class T>
struct GeluExact {
    T operator()(T x) const { return packetOp(x); }
    template <class Packet>
    Packet packetOp(const Packet& x) const {
        return gelu_exact<T>(x).value;
    }
};
template <class T>
struct GeluExactSlope {
    T operator()(T x) const { return packetOp(x); }
    template <class Packet>
    Packet packetOp(const Packet& x) const {
        return gelu_exact<T>(x).slope;
    }
};

/// ½x(1 + tanh(√(2/π)(x + 0.044715 x³))), with 0 at −∞.
template <class T>
struct GeluTanh {
    T operator()(T x) const { return packetOp(x); }
    template <class Packet>
    Packet packetOp(const Packet& x) const {
        using namespace Eigen::internal;
        const auto c = [](double value) { return pset1<Packet>(static_cast<T>(value)); };
        const Packet w = pmax<Eigen::PropagateNaN>(x, c(-30));  // tanh is −1 long before
        const Packet inner = pmul(c(0.7978845608028654), pmul(w, pmadd(c(0.044715), pmul(w, w), c(1))));
        return pmul(pmul(c(0.5), w), padd(c(1), ptanh(inner)));
    }
};

/// ½(1 + h) + ½x(1 − h²)·√(2/π)(1 + 3·0.044715 x²), where h is the tanh above.
template <class T>
struct GeluTanhSlope {
    T operator()(T x) const { return packetOp(x); }
    template <class Packet>
    Packet packetOp(const Packet& x) const {
        using namespace Eigen::internal;
        const auto c = [](double value) { return pset1<Packet>(static_cast<T>(value)); };
        const Packet w = pmin<Eigen::PropagateNaN>(pmax<Eigen::PropagateNaN>(x, c(-30)), c(30));
        const Packet w2 = pmul(w, w);
        const Packet h = ptanh(pmul(c(0.7978845608028654), pmul(w, pmadd(c(0.044715), w2, c(1)))));
        const Packet inner_slope = pmul(c(0.7978845608028654), pmadd(c(3 * 0.044715), w2, c(1)));
        return pmul(c(0.5), pmadd(pmul(w, psub(c(1), pmul(h, h))), inner_slope, padd(c(1), h)));
    }
};

/// y = f(x).  x, y: [n].
template <template <class> class Function, class T>
void gelu(Vector<const T> x, Vector<T> y) {
    elementwise(
        y, false, [](const auto& xs) { return xs.unaryExpr(Function<T>{}); }, x);
}

/// dx = slope(x) dy, or is added to.  All [n].
template <template <class> class Slope, class T>
void gelu_backward(Vector<const T> x, Vector<const T> dy, Vector<T> dx, bool accumulate) {
    elementwise(
        dx, accumulate, [](const auto& xs, const auto& dys) { return dys * xs.unaryExpr(Slope<T>{}); }, x, dy);
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"  // g++ 12 warns of every packet that is a template argument
#endif
/// y = gelu(x) and dx = dy ⊙ gelu'(x) of one row.  All [n].  dx may be dy.
template <class T>
void gelu_and_backward(Vector<const T> x, Vector<const T> dy, Vector<T> y, Vector<T> dx) {
    using namespace Eigen::internal;
    using Packet = std::conditional_t<std::is_same_v<T, float>, typename packet_traits<T>::type, T>;
    constexpr Index lanes = unpacket_traits<Packet>::size;
    const auto put = [&](Index i, const auto& at, const auto& gradient) {
        pstoreu(y.data() + i, at.value);
        pstoreu(dx.data() + i, pmul(gradient, at.slope));
    };
    Index i = 0;
    for (; i + lanes <= x.size(); i += lanes)
        put(i, gelu_exact<T>(ploadu<Packet>(x.data() + i)), ploadu<Packet>(dy.data() + i));
    for (; i < x.size(); ++i) put(i, gelu_exact<T>(x[i]), dy[i]);
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// The same of each row, and sums[j] += Σ_i dx[i][j], in one sweep.  x, dy, y, dx: [rows, n], sums: [n].
template <class T>
void gelu_and_backward(Matrix<const T> x, Matrix<const T> dy, Matrix<T> y, Matrix<T> dx, Vector<T> sums) {
    sum_over_rows<T>(x.rows(), sums, [&](Index begin, Index end, Vector<T> part) {
        for (Index row = begin; row < end; ++row) {
            gelu_and_backward<T>(x[row], dy[row], y[row], dx[row]);
            array(part) += array(dx[row]);
        }
    });
}

}  // namespace GFLOW_ISA
}  // namespace gflow::kernels

namespace Eigen::internal {
template <class T>
struct functor_traits<gflow::kernels::GeluExact<T>> {
    enum { Cost = 40 * NumTraits<T>::MulCost, PacketAccess = std::is_same_v<T, float> && packet_traits<T>::HasExp };
};
template <class T>
struct functor_traits<gflow::kernels::GeluExactSlope<T>> : functor_traits<gflow::kernels::GeluExact<T>> {};
template <class T>
struct functor_traits<gflow::kernels::GeluTanh<T>> {
    enum { Cost = 40 * NumTraits<T>::MulCost, PacketAccess = packet_traits<T>::HasTanh };
};
template <class T>
struct functor_traits<gflow::kernels::GeluTanhSlope<T>> : functor_traits<gflow::kernels::GeluTanh<T>> {};
}  // namespace Eigen::internal

#if defined(GFLOW_EXTERN_TEMPLATES)
namespace gflow::kernels {
extern template void gelu<GeluExact, float>(Vector<const float>, Vector<float>);
extern template void gelu<GeluExact, double>(Vector<const double>, Vector<double>);
extern template void gelu<GeluTanh, float>(Vector<const float>, Vector<float>);
extern template void gelu<GeluTanh, double>(Vector<const double>, Vector<double>);
extern template void gelu_backward<GeluExactSlope, float>(Vector<const float>, Vector<const float>, Vector<float>,
                                                          bool);
extern template void gelu_backward<GeluExactSlope, double>(Vector<const double>, Vector<const double>, Vector<double>,
                                                           bool);
extern template void gelu_backward<GeluTanhSlope, float>(Vector<const float>, Vector<const float>, Vector<float>, bool);
extern template void gelu_backward<GeluTanhSlope, double>(Vector<const double>, Vector<const double>, Vector<double>,
                                                          bool);
extern template void gelu_and_backward<float>(Matrix<const float>, Matrix<const float>, Matrix<float>, Matrix<float>,
                                              Vector<float>);
extern template void gelu_and_backward<double>(Matrix<const double>, Matrix<const double>, Matrix<double>,
                                               Matrix<double>, Vector<double>);
}  // namespace gflow::kernels
#endif
