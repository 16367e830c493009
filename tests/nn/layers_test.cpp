// Linear, Embedding, LayerNorm, Dropout, FeedForward: what each computes, and its gradients through all parameters.
#include <gflow/nn/dropout.hpp>
#include <gflow/nn/embedding.hpp>
#include <gflow/nn/feed_forward.hpp>
#include <gflow/nn/layer_norm.hpp>

#include "nn/layer_checks.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("Linear") {
    nn::Linear layer({.in = 3, .out = 4, .dtype = float64});
    expect_layer_grad(layer, randn({2, 3}, float64));
    expect_close(layer(ones({3}, float64)), linear(ones({3}, float64), layer.weight, layer.bias), exactly);
    const nn::Linear plain({.in = 3, .out = 4, .bias = false});
    REQUIRE(plain.parameters().size() == 1);
    REQUIRE_THROWS_AS(nn::Linear({.in = 0, .out = 4}), usage_error);
    REQUIRE_THROWS_WITH(nn::Linear({.init_std = -1}),
                        contains("gflow::Linear: init_std must be finite and at least 0; got init_std=-1"));
    for (const double std : {not_a_number, infinity}) REQUIRE_THROWS_AS(nn::Linear({.init_std = std}), usage_error);
}

TEST_CASE("Linear starts with PyTorch's spread unless told otherwise") {
    const auto spread = [](const nn::LinearOptions& o) {
        const nn::Linear layer(o);
        return norm_of(layer.weight) / std::sqrt(static_cast<double>(layer.weight.numel()));
    };
    REQUIRE(spread({.in = 300, .out = 200}) == Approx(1 / std::sqrt(900.0)).epsilon(0.02));
    REQUIRE(spread({.in = 300, .out = 200, .init_std = 0.02}) == Approx(0.02).epsilon(0.02));
}

TEST_CASE("Embedding") {
    nn::Embedding layer({.count = 5, .size = 3, .dtype = float64});
    const Tensor ids = from_vector<Index>({4, 0, 4, 1}, {2, 2});
    expect_layer_grad(layer, ids);
    REQUIRE(layer(ids).shape() == Shape{2, 2, 3});
    REQUIRE_THROWS_AS(layer(full({1}, 5, int64)), index_error);
    REQUIRE_THROWS_AS(nn::Embedding({.count = 0}), usage_error);
    for (const double std : {-1.0, not_a_number}) REQUIRE_THROWS_AS(nn::Embedding({.init_std = std}), usage_error);
}

TEST_CASE("NoInitialWeights: new layers draw nothing, in this thread and while it lives") {
    const auto drawn = [] {
        const std::uint64_t before = default_generator().state().calls;
        nn::Linear({.in = 2, .out = 3});
        nn::Embedding({.count = 2});
        return default_generator().state().calls - before;
    };
    {
        const nn::NoInitialWeights outer;
        { const nn::NoInitialWeights inner; }
        REQUIRE(drawn() == 0);
        REQUIRE(nn::Linear({.in = 2, .out = 3}).bias.to_vector<float>() == std::vector<float>(3, 0));
    }
    REQUIRE(drawn() == 2);
}

TEST_CASE("LayerNorm") {
    nn::LayerNorm layer({.size = 4, .dtype = float64});
    expect_layer_grad(layer, randn({3, 4}, float64));
    expect_close(layer(from_vector<double>({1, 2, 3, 4})),
                 layer_norm(from_vector<double>({1, 2, 3, 4}), layer.weight, layer.bias, 1e-5), exactly);
}

TEST_CASE("Dropout") {
    nn::Dropout half(0.5);
    const Tensor dropped = half(ones({10000}));
    double mean = 0;
    for (const float x : dropped.to_vector<float>()) {
        REQUIRE((x == 0 || x == 2));
        mean += x / 10000.0;
    }
    REQUIRE(mean == Approx(1).epsilon(0.05));
    half.eval();
    expect_same_bits(half(ones({5})), ones({5}));
    REQUIRE_THROWS_AS(nn::Dropout(1), usage_error);
}

TEST_CASE("FeedForward") {
    nn::FeedForward layer({.d_model = 3, .d_ff = 5, .dtype = float64});
    expect_layer_grad(layer, randn({2, 2, 3}, float64));
    const Tensor x = randn({2, 3}, float64);
    expect_close(layer(x), layer.down(gelu(layer.up(x))), exactly);
}
