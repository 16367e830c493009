#include <gflow/nn/grassmann_mixing.hpp>
#include <gflow/ops/plucker_mix_reference.hpp>

#include "nn/layer_checks.hpp"

using namespace gflow;
using namespace gflow::test;
using nn::GrassmannMixing;
using nn::MixerOutput;
using nn::OffsetWeights;

namespace {

nn::GrassmannMixingOptions small(std::vector<Index> offsets = {1, 2}) {
    return {.d_model = 4, .rank = 3, .offsets = std::move(offsets), .init_std = 0.5, .dtype = float64};
}

}  // namespace

TEST_CASE("GrassmannMixing: gradients of every configuration") {
    const Tensor h = randn({2, 4, 4}, float64);
    for (const OffsetWeights weights : {OffsetWeights::uniform, OffsetWeights::learned, OffsetWeights::token})
        for (const MixerOutput output : {MixerOutput::none, MixerOutput::linear, MixerOutput::mlp}) {
            nn::GrassmannMixingOptions o = small();
            o.offset_weights = weights;
            o.mixer_output = output;
            GrassmannMixing layer(o);
            expect_layer_grad(layer, h);
        }
    nn::GrassmannMixingOptions heads = small({1, 1, 3});
    heads.heads = 2;
    heads.aggregate = Aggregate::sum;
    GrassmannMixing two(heads);
    expect_layer_grad(two, h);
    heads.normalize = Normalize::none;
    heads.gate_bias = 2;
    GrassmannMixing open(heads);
    expect_layer_grad(open, h);
}

TEST_CASE("GrassmannMixing is the paper's formula") {
    GrassmannMixing layer(small());
    const Tensor h = randn({1, 5, 4}, float64);
    const Tensor g =
        plucker_mix_reference(layer.reduce(h), layer.plucker.weight, layer.plucker.bias, {.offsets = {1, 2}});
    const Tensor alpha = sigmoid(layer.gate(concat({h, g}, -1)));
    expect_close(layer(h), alpha * h + (1.0 - alpha) * g, {1e-13, 1e-13});
}

TEST_CASE("the gate starts where gate_bias says") {
    nn::GrassmannMixingOptions o = small();
    o.gate_bias = 30;  // σ(30) is 1 to thirteen digits: the layer lets its input through
    o.init_std = 1e-3;
    const GrassmannMixing layer(o);
    const Tensor h = randn({1, 4, 4}, float64);
    expect_close(layer(h), h, {1e-10, 1e-10});
}

TEST_CASE("learned weights that are equal are the mean; a large one picks its offset") {
    nn::GrassmannMixingOptions o = small();
    manual_seed(3);
    const GrassmannMixing mean(o);
    o.offset_weights = OffsetWeights::learned;
    manual_seed(3);
    const GrassmannMixing learned(o);
    const Tensor h = randn({1, 5, 4}, float64);
    expect_close(learned(h), mean(h), {1e-13, 1e-13});

    Tensor logits = learned.offset_logits.detach();
    logits.mutable_data<double>()[1] = 50;
    GrassmannMixing second(small({2}));
    TensorMap state = learned.state_dict();
    state.erase("offset_logits");
    second.load_state_dict(state);
    // From position 2 on both offsets are valid, and the second has all the weight.
    expect_close(slice(learned(h), 1, 2, 5), slice(second(h), 1, 2, 5), {1e-12, 1e-12});
}

TEST_CASE("lookahead pairs a position with a later one") {
    nn::GrassmannMixingOptions o = small({1});
    o.direction = nn::Direction::lookahead;
    const GrassmannMixing ahead(o);
    const Tensor h = randn({1, 3, 4}, float64);
    Tensor changed = clone(h);
    changed.mutable_data<double>()[4] += 1;  // position 1
    const Tensor before = ahead(h), after = ahead(changed);
    REQUIRE(after.data<double>()[0] != before.data<double>()[0]);  // position 0 sees it
    REQUIRE(after.data<double>()[8] == before.data<double>()[8]);  // position 2 does not
}

TEST_CASE("step keeps no more than max(Δ) reduced states") {
    nn::GrassmannMixingOptions o = small({1, 3});
    o.dtype = float32;
    const GrassmannMixing layer(o);
    const Tensor h = randn({1, 12, 4});
    const Tensor whole = layer(h);
    GrassmannMixing::Cache cache;
    for (Index t = 0; t < 12; ++t) {
        expect_close(layer.step(slice(h, 1, t, t + 1), cache), slice(whole, 1, t, t + 1), {1e-6, 1e-5});
        REQUIRE(static_cast<Index>(cache.states.size()) == std::min<Index>(t + 1, 3));
    }
}

TEST_CASE("GrassmannMixing refuses what spans no plane") {
    nn::GrassmannMixingOptions o = small({0});
    REQUIRE_THROWS_AS(GrassmannMixing(o), usage_error);
    o = small({-1});
    REQUIRE_THROWS_WITH(GrassmannMixing(o), Catch::Contains("offset=-1"));
    o = small({});
    REQUIRE_THROWS_WITH(GrassmannMixing(o),
                        contains("gflow::GrassmannMixing: at least one offset is needed; got offsets=0"));
    o = small();
    o.rank = 1;
    REQUIRE_THROWS_AS(GrassmannMixing(o), usage_error);
    o = small();
    o.heads = 0;
    REQUIRE_THROWS_AS(GrassmannMixing(o), usage_error);
    const GrassmannMixing layer(small());
    REQUIRE_THROWS_AS(layer(zeros({1, 4, 5}, float64)), shape_error);
}
