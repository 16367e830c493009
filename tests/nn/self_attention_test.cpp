#include <gflow/nn/self_attention.hpp>

#include "nn/layer_checks.hpp"

using namespace gflow;
using namespace gflow::test;
using nn::SelfAttention;

namespace {

/// The layer for sequences of fixed lengths, so that it is a function of h alone.
struct OnLengths : nn::Module {
    SelfAttention layer{{.d_model = 4, .heads = 2, .init_std = 0.5, .dtype = float64}};
    std::vector<Index> lengths;

    explicit OnLengths(std::vector<Index> all) : lengths(std::move(all)) { register_module("layer", layer); }
    Tensor operator()(const Tensor& h) const { return layer(h, lengths); }
};

}  // namespace

TEST_CASE("SelfAttention: gradients") {
    OnLengths layer({3, 0, 1, 2});
    expect_layer_grad(layer, randn({6, 4}, float64));
}

TEST_CASE("SelfAttention drops weights in training alone") {
    SelfAttention layer({.d_model = 4, .heads = 1, .dropout = 0.5, .init_std = 0.5});
    const Tensor h = randn({8, 4});
    manual_seed(1);
    const Tensor first = layer(h, {8});
    manual_seed(2);
    const Tensor second = layer(h, {8});
    REQUIRE(first.data<float>()[28] != second.data<float>()[28]);
    layer.eval();
    expect_same_bits(layer(h, {8}), layer(h, {8}));
}

TEST_CASE("SelfAttention refuses heads that do not split d_model, and lengths that are not those of h") {
    REQUIRE_THROWS_WITH(SelfAttention({.d_model = 6, .heads = 4}), contains("d_model=6, heads=4"));
    REQUIRE_THROWS_AS(SelfAttention({.d_model = 6, .heads = 0}), usage_error);
    REQUIRE_THROWS_WITH(SelfAttention({.d_model = 4, .heads = 2})(zeros({3, 4}), {4}), contains("rows=3"));
}
