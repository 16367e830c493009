#include <gflow/core/random.hpp>
#include <gflow/ops/plucker_mix_reference.hpp>
#include <gflow/ops/slice.hpp>

#include <cmath>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

auto fused_mix(PluckerMixOptions options) {
    return [=](const std::vector<Tensor>& in) {
        return plucker_mix(in[0], in[1], in[2], options, in.size() > 3 ? in[3] : Tensor());
    };
}
auto reference(PluckerMixOptions options) {
    return [=](const std::vector<Tensor>& in) {
        return plucker_mix_reference(in[0], in[1], in[2], options, in.size() > 3 ? in[3] : Tensor());
    };
}

/// z, weight, bias and, if asked, offset weights for one call.
std::vector<Tensor> inputs_for(const PluckerMixOptions& o, Index batch, Index length, Index rank,
                               Index weights_rank = 0) {
    const auto m = static_cast<Index>(o.offsets.size());
    std::vector<Tensor> in{randn({batch, length, o.heads * rank}, float64),
                           randn({5, o.heads * kernels::plucker_size(rank)}, float64), randn({5}, float64)};
    if (weights_rank == 2) in.push_back(randn({length, m}, float64));
    if (weights_rank == 3) in.push_back(randn({batch, length, m}, float64));
    return in;
}

/// Values and all gradients of two ways to compute the same agree.
void expect_equal(const Op& a, const Op& b, const std::vector<Tensor>& inputs, double tolerance) {
    const auto run = [&](const Op& f) {
        std::vector<Tensor> leaves;
        for (const Tensor& x : inputs) leaves.push_back(clone(x).set_requires_grad());
        const Tensor y = f(leaves);
        Generator fixed(11);
        backward(y, randn(y.shape(), y.dtype(), 1, fixed));
        std::vector<Tensor> all{y.detach()};
        for (const Tensor& leaf : leaves) all.push_back(leaf.grad().defined() ? leaf.grad() : zeros_like(leaf));
        return all;
    };
    const std::vector<Tensor> left = run(a), right = run(b);
    for (std::size_t i = 0; i < left.size(); ++i) {
        INFO((i == 0 ? std::string("value") : "gradient of input " + std::to_string(i - 1)));
        expect_close(left[i], right[i], {tolerance, tolerance});
    }
}

/// What one call adds to the peak of the pool, forward and backward together, in bytes.
std::size_t peak_of(const Op& f, const std::vector<Tensor>& inputs) {
    std::vector<Tensor> leaves;
    for (const Tensor& x : inputs) leaves.push_back(to(x, float32).set_requires_grad());
    BufferPool::instance().reset_peak();
    const std::size_t before = BufferPool::instance().statistics().live_bytes;
    const Tensor y = f(leaves);
    backward(y, full(y.shape(), 1));
    return BufferPool::instance().statistics().peak_bytes - before;
}

const std::vector<PluckerMixOptions> configurations{
    {},
    {.offsets = {1, 2, 4, 8}},
    {.heads = 2, .offsets = {1, 3, 3}},
    {.offsets = {2, 5}, .normalize = Normalize::none},
    {.heads = 2, .offsets = {1, 2}, .normalize = Normalize::unit, .aggregate = Aggregate::sum},
    {.offsets = {3, 1}, .normalize = Normalize::none, .aggregate = Aggregate::sum},
};

}  // namespace

TEST_CASE("plucker_mix equals the paper's order of operations") {
    for (const PluckerMixOptions& o : configurations)
        for (const Index weights_rank : {0, 2, 3})
            for (const Index length : {1, 2, 9}) {
                INFO("heads " << o.heads << ", offsets " << o.offsets.size() << ", length " << length);
                expect_equal(fused_mix(o), reference(o), inputs_for(o, 2, length, 4, weights_rank), 1e-12);
            }
}

TEST_CASE("plucker_mix equals the reference where tiles end: 128 and 256 positions, rank 32") {
    const PluckerMixOptions o{.offsets = {1, 16}};
    expect_equal(fused_mix(o), reference(o), inputs_for(o, 3, 90, 32), 1e-11);
}

TEST_CASE("plucker_mix_last is the last position of plucker_mix") {
    for (const PluckerMixOptions& o : configurations)
        for (const Index weights_rank : {0, 2, 3})
            for (const Index length : {1, 2, 9, 130}) {
                INFO("heads " << o.heads << ", offsets " << o.offsets.size() << ", length " << length);
                const auto in = inputs_for(o, 1, length, 4, weights_rank);
                const Tensor weights = weights_rank == 0 ? Tensor() : in[3];
                expect_close(plucker_mix_last(in[0], in[1], in[2], o, weights),
                             slice(plucker_mix(in[0], in[1], in[2], o, weights), 1, length - 1, length));
            }
    REQUIRE_THROWS_AS(plucker_mix_last(zeros({2, 4, 8}), zeros({3, 28}), {}, {}), shape_error);
    REQUIRE_THROWS_AS(plucker_mix_last(zeros({1, 0, 8}), zeros({3, 28}), {}, {}), shape_error);
}

TEST_CASE("plucker_mix: gradients agree with differences") {
    for (const PluckerMixOptions& o : configurations) {
        const auto in = inputs_for(o, 2, 5, 4);
        expect_grad(fused_mix(o), in[0], in[1], in[2]);
    }
    const PluckerMixOptions o{.offsets = {1, 2}};
    const auto weighted = inputs_for(o, 2, 4, 3, 3), shared = inputs_for(o, 2, 4, 3, 2);
    expect_grad(fused_mix(o), weighted[0], weighted[1], weighted[2], weighted[3]);
    expect_grad(fused_mix(o), shared[0], shared[1], shared[2], shared[3]);
}

TEST_CASE("plucker_mix agrees with PyTorch") {
    const auto without_bias = [](PluckerMixOptions o, bool weighted) {
        return [=](const Tensor& z, const Tensor& weight, const Tensor& offset_weights) {
            return plucker_mix(z, weight, {}, o, weighted ? offset_weights : Tensor());
        };
    };
    expect_golden("plucker_mix_weighted", without_bias({.heads = 2, .offsets = {1, 2, 4, 4}}, true));
}

TEST_CASE("a later partner enters with a minus: earlier ∧ later") {
    // Position 0 with partner 1 ahead is minus position 1 with partner 0 behind.
    const Tensor z = randn({1, 2, 4}, float64), w = randn({3, 6}, float64);
    const Tensor back = plucker_mix(z, w, {}, {.offsets = {1}}), ahead = plucker_mix(z, w, {}, {.offsets = {-1}});
    for (Index i = 0; i < 3; ++i) REQUIRE(ahead.data<double>()[i] == Approx(back.data<double>()[3 + i]).epsilon(1e-12));
    const auto in = inputs_for({.offsets = {-2, 1}}, 2, 5, 4);
    expect_grad(fused_mix({.offsets = {-2, 1}}), in[0], in[1], in[2]);
}

TEST_CASE("where no offset is valid, only the bias is left") {
    const auto in = inputs_for({.offsets = {3}}, 1, 5, 4);
    const Tensor g = plucker_mix(in[0], in[1], in[2], {.offsets = {3}});
    for (Index t = 0; t < 3; ++t)
        for (Index i = 0; i < 5; ++i) REQUIRE(g.data<double>()[t * 5 + i] == in[2].data<double>()[i]);
    const auto none = inputs_for({.offsets = {}}, 1, 2, 4);
    expect_close(plucker_mix(none[0], none[1], none[2], {.offsets = {}}),
                 plucker_mix(none[0], none[1], none[2], {.offsets = {7}}), exactly);
}

TEST_CASE("a plane that is not resolved gives zeros, no gradient, and keeps its place in the mean") {
    // Positions 0 and 1 are equal, 2 is zero, 3 and 4 are what they are.
    Tensor z = randn({1, 5, 4}, float64);
    for (Index i = 0; i < 4; ++i) {
        z.mutable_data<double>()[4 + i] = z.data<double>()[i];
        z.mutable_data<double>()[8 + i] = 0;
    }
    const PluckerMixOptions o{.offsets = {1, 3}};
    auto in = inputs_for(o, 1, 5, 4);
    in[0] = z;
    expect_equal(fused_mix(o), reference(o), in, 1e-12);
    const Tensor g = plucker_mix(in[0], in[1], in[2], {.offsets = {1}});
    for (Index t = 1; t < 4; ++t)  // equal, zero as the later state, zero as the earlier one
        for (Index i = 0; i < 5; ++i) REQUIRE(g.data<double>()[t * 5 + i] == in[2].data<double>()[i]);
    Tensor leaf = clone(z).set_requires_grad();
    const Tensor y = plucker_mix(slice(leaf, 1, 0, 3), in[1], in[2], {.offsets = {1}});
    backward(y, full(y.shape(), 1, float64));
    expect_close(leaf.grad(), zeros_like(leaf), exactly);
}

TEST_CASE("near parallel states agree with the reference as well as their angle allows") {
    for (const double angle : {1e-1, 1e-2, 1e-3}) {
        Tensor z = randn({1, 2, 6}, float64);
        const Tensor aside = randn({6}, float64);
        for (Index i = 0; i < 6; ++i)
            z.mutable_data<double>()[6 + i] = z.data<double>()[i] + angle * aside.data<double>()[i];
        auto in = inputs_for({}, 1, 2, 6);
        in[0] = z;
        expect_equal(fused_mix({}), reference({}), in, 1e-12 / (angle * angle));
    }
    // Below the bound the two forms agree that there is nothing.
    Tensor z = ones({1, 2, 6}, float64);
    z.mutable_data<double>()[7] += 1e-5;
    auto in = inputs_for({}, 1, 2, 6);
    in[0] = z;
    expect_equal(fused_mix({}), reference({}), in, 1e-12);
}

TEST_CASE("states of extreme size neither vanish nor overflow in float32") {
    for (const double size : {1e-23, 1e20}) {
        const Tensor unit = randn({1, 4, 4});
        Tensor scaled = clone(unit);
        for (Index i = 0; i < scaled.numel(); ++i) scaled.mutable_data<float>()[i] *= static_cast<float>(size);
        const Tensor w = randn({3, 6});
        expect_close(plucker_mix(scaled, w, {}, {.offsets = {1, 2}}), plucker_mix(unit, w, {}, {.offsets = {1, 2}}),
                     {1e-5, 1e-5});
    }
}

TEST_CASE("NaN in a state reaches its own position and its partners', and no other") {
    Tensor z = randn({1, 6, 4});
    z.mutable_data<float>()[2 * 4] = std::numeric_limits<float>::quiet_NaN();
    const Tensor g = plucker_mix(z, randn({3, 6}), {}, {.offsets = {2}});
    for (Index t = 0; t < 6; ++t) REQUIRE(std::isnan(g.data<float>()[t * 3]) == (t == 2 || t == 4));
}

TEST_CASE("plucker_mix never holds the planes: its peak is below tokens × C(r,2)") {
    const Index batch = 16, length = 256, rank = 32;
    const auto in = inputs_for({}, batch, length, rank);
    const auto planes = static_cast<std::size_t>(batch * length * kernels::plucker_size(rank)) * sizeof(float);
    REQUIRE(peak_of(fused_mix({.offsets = {1, 2, 4, 8}}), in) < planes / 2);
    REQUIRE(peak_of(reference({}), in) > planes);  // the measurement can tell
}

TEST_CASE("plucker_mix has the same bits on any number of threads") {
    const PluckerMixOptions o{.heads = 2, .offsets = {1, 4}};
    const auto in = inputs_for(o, 3, 150, 8);
    expect_same_on_any_thread_count(fused_mix(o), in[0], in[1], in[2]);
}

TEST_CASE("plucker_mix with sizes of 0") {
    REQUIRE(plucker_mix(empty({0, 4, 4}), randn({3, 6}), {}, {}).shape() == Shape{0, 4, 3});
    REQUIRE(plucker_mix(empty({2, 0, 4}), randn({3, 6}), {}, {}).shape() == Shape{2, 0, 3});
}

TEST_CASE("plucker_mix names what does not fit") {
    const Tensor z = zeros({1, 4, 8}), w = zeros({3, 28});
    REQUIRE_THROWS_WITH(plucker_mix(z, zeros({3, 27}), {}, {}), Catch::Contains("weight=float32 [3, 27], rank=8"));
    REQUIRE_THROWS_WITH(plucker_mix(z, w, {}, {.heads = 3}), Catch::Contains("heads=3"));
    REQUIRE_THROWS_AS(plucker_mix(z, w, {}, {.offsets = {0}}), usage_error);
    REQUIRE_THROWS_AS(plucker_mix(z, w, zeros({4}), {}), shape_error);
    REQUIRE_THROWS_AS(plucker_mix(z, w, {}, {}, zeros({3, 1})), shape_error);
    REQUIRE_THROWS_AS(plucker_mix(z, zeros({3, 28}, float64), {}, {}), dtype_error);
    REQUIRE_THROWS_AS(plucker_mix(zeros({4, 8}), w, {}, {}), shape_error);
}
