#include <gflow/nn/causal_self_attention.hpp>
#include <gflow/ops/slice.hpp>

#include "nn/layer_checks.hpp"

using namespace gflow;
using namespace gflow::test;
using nn::CausalSelfAttention;

TEST_CASE("CausalSelfAttention: gradients") {
    CausalSelfAttention layer({.d_model = 4, .heads = 2, .init_std = 0.5, .dtype = float64});
    expect_layer_grad(layer, randn({2, 3, 4}, float64));
}

TEST_CASE("CausalSelfAttention step by step equals the whole forward") {
    const CausalSelfAttention layer({.d_model = 6, .heads = 3, .init_std = 0.5});
    const Tensor h = randn({1, 9, 6});
    const Tensor whole = layer(h);
    CausalSelfAttention::Cache cache;
    for (Index t = 0; t < 9; ++t)
        expect_close(layer.step(slice(h, 1, t, t + 1), cache), slice(whole, 1, t, t + 1), {1e-6, 1e-5});
}

TEST_CASE("CausalSelfAttention drops weights in training alone") {
    CausalSelfAttention layer({.d_model = 4, .heads = 1, .dropout = 0.5, .init_std = 0.5});
    const Tensor h = randn({1, 8, 4});
    manual_seed(1);
    const Tensor first = layer(h);
    manual_seed(2);
    const Tensor second = layer(h);
    REQUIRE(first.data<float>()[28] != second.data<float>()[28]);
    layer.eval();
    expect_same_bits(layer(h), layer(h));
}

TEST_CASE("CausalSelfAttention refuses heads that do not split d_model") {
    REQUIRE_THROWS_WITH(CausalSelfAttention({.d_model = 6, .heads = 4}), Catch::Contains("d_model=6, heads=4"));
    REQUIRE_THROWS_AS(CausalSelfAttention({.d_model = 6, .heads = 0}), usage_error);
}
