#include <gflow/kernels/eigen_maps.hpp>
#include <gflow/kernels/normal_tail.hpp>

#include <numbers>

#include "support/catch.hpp"
#include "support/ulps.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

struct Tail {
    float operator()(float t) const { return packetOp(t); }
    template <class Packet>
    Packet packetOp(const Packet& t) const {
        return kernels::normal_tail(t).tail;
    }
};
struct Density {
    float operator()(float t) const { return packetOp(t); }
    template <class Packet>
    Packet packetOp(const Packet& t) const {
        return kernels::normal_tail(t).density;
    }
};

template <class Function>
std::vector<float> over(const std::vector<float>& t) {
    std::vector<float> y(t.size());
    const auto size = static_cast<Index>(t.size());
    kernels::array(y.data(), size) = kernels::array(t.data(), size).unaryExpr(Function{});
    return y;
}

double tail(double t) { return std::erfc(t / std::numbers::sqrt2) / 2; }
double density(double t) { return std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi); }

}  // namespace

template <>
struct Eigen::internal::functor_traits<Tail> {
    enum { Cost = 40, PacketAccess = packet_traits<float>::HasExp };
};
template <>
struct Eigen::internal::functor_traits<Density> : Eigen::internal::functor_traits<Tail> {};

TEST_CASE("normal_tail: the tail is 6 + t²/2 ulp off at most, the density 3 + t²/2") {
    for (float begin = 0; begin < 12.5F; begin += 0.5F) {
        const std::vector<float> t = floats_between(begin, begin + 0.5F, begin == 0 ? 9'999 : 101);
        INFO("from " << begin);
        CHECK(worst_ulps(t, over<Tail>(t), tail) <= 6 + begin * begin / 2);
        CHECK(worst_ulps(t, over<Density>(t), density) <= 3 + begin * begin / 2);
    }
}

TEST_CASE("normal_tail keeps NaN, and stays at its value of 12.5 beyond") {
    const std::vector<float> t{std::nanf(""), 12.5F, 13,  1e30F, std::numeric_limits<float>::infinity(),
                               12.5F,         14,    1e9F};
    const std::vector<float> y = over<Tail>(t);
    CHECK(std::isnan(y[0]));
    for (std::size_t i = 1; i < y.size(); ++i) CHECK(y[i] == y[1]);
}
