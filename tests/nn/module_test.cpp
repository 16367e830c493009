#include <gflow/nn/dropout.hpp>
#include <gflow/nn/feed_forward.hpp>
#include <gflow/nn/module.hpp>
#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/reduce.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

/// A module with a parameter of its own, two parts and a part within a part.
struct Pair : nn::Module {
    nn::Linear first{{.in = 2, .out = 3}};
    nn::FeedForward second{{.d_model = 3, .d_ff = 4}};
    nn::Dropout dropout{0.5};
    Tensor scale = ones({3});

    Pair() {
        register_parameter("scale", scale);
        register_module("first", first);
        register_module("second", second);
        register_module("dropout", dropout);
    }
};

std::vector<std::string> names_of(const nn::Module& module) {
    std::vector<std::string> names;
    for (const auto& [name, parameter] : module.named_parameters()) names.push_back(name);
    return names;
}

}  // namespace

TEST_CASE("parameters have dotted names in the order of registration") {
    const Pair pair;
    REQUIRE(names_of(pair) == std::vector<std::string>{"scale", "first.weight", "first.bias", "second.up.weight",
                                                       "second.up.bias", "second.down.weight", "second.down.bias"});
    REQUIRE(pair.parameter_count() == 3 + 6 + 3 + 12 + 4 + 12 + 3);
    REQUIRE(gflow::parameters(pair, pair.first).size() == 9);
    for (const Tensor& parameter : pair.parameters()) REQUIRE(parameter.requires_grad());
}

TEST_CASE("the state goes from one module to another, and shares memory with its own") {
    const Pair from;
    Pair into;
    into.load_state_dict(from.state_dict());
    for (std::size_t i = 0; i < from.parameters().size(); ++i)
        expect_same_bits(into.parameters()[i].detach(), from.parameters()[i].detach());
    Tensor shared = into.state_dict().at("scale");
    shared.mutable_data<float>()[0] = 7;
    REQUIRE(into.scale.data<float>()[0] == 7);
    REQUIRE(from.scale.data<float>()[0] == 1);
}

TEST_CASE("a state of another dtype is converted") {
    const Pair from;
    TensorMap wide;
    for (const auto& [name, x] : from.state_dict()) wide.emplace(name, to(x, float64));
    Pair into;
    into.load_state_dict(wide);
    expect_same_bits(into.first.weight.detach(), from.first.weight.detach());
}

TEST_CASE("a state that does not fit is refused whole, and every fault is named") {
    Pair pair;
    const Tensor before = clone(pair.first.weight);
    TensorMap state = pair.state_dict();
    for (auto& [name, x] : state) x = full(x.shape(), 9);
    state.erase("scale");
    state["first.bias"] = zeros({4});
    state["third.weight"] = zeros({1});
    REQUIRE_THROWS_WITH(pair.load_state_dict(state), Catch::Contains("missing: scale [3]") &&
                                                         Catch::Contains("misshapen: first.bias is [4], must be [3]") &&
                                                         Catch::Contains("superfluous: third.weight"));
    expect_same_bits(pair.first.weight.detach(), before);
}

TEST_CASE("an undefined entry of a state is called undefined") {
    Pair pair;
    TensorMap state = pair.state_dict();
    state["scale"] = Tensor();
    REQUIRE_THROWS_WITH(pair.load_state_dict(state), contains("undefined: scale, must be [3]"));
}

TEST_CASE("two parts or parameters of one module must not share a name") {
    struct Twice : nn::Module {
        nn::Linear a{{.in = 2, .out = 3}}, b{{.in = 2, .out = 3}};
        Tensor weight = ones({3}), other = ones({3});
        void parts(const char* second) { register_module("fc", a), register_module(second, b); }
        void parameters(const char* second) { register_parameter("weight", weight), register_parameter(second, other); }
    };
    REQUIRE_THROWS_WITH(Twice().parts("fc"), contains("gflow::register_module: a module's parameters and parts must "
                                                      "have different names; got name=fc"));
    REQUIRE_THROWS_AS(Twice().parameters("weight"), usage_error);
    Twice fine;
    fine.parts("fc2");
    fine.parameters("bias");
    REQUIRE(fine.named_parameters().size() == 6);
    REQUIRE(fine.state_dict().size() == 6);
    REQUIRE_THROWS_AS(fine.parameters("fc"), usage_error);
}

TEST_CASE("train and eval reach every part") {
    Pair pair;
    REQUIRE((pair.training() && pair.dropout.training() && pair.second.up.training()));
    pair.eval();
    REQUIRE(!(pair.training() || pair.dropout.training() || pair.second.up.training()));
    const Tensor x = randn({20});
    expect_same_bits(pair.dropout(x), x);
    pair.train();
    REQUIRE(norm_of(pair.dropout(x) - x) > 0);
}

TEST_CASE("zero_grad forgets all gradients") {
    const Pair pair;
    sum(pair.second(pair.first(randn({4, 2})))).backward();
    REQUIRE(pair.first.weight.grad().defined());
    pair.zero_grad();
    for (const Tensor& parameter : pair.parameters()) REQUIRE(!parameter.grad().defined());
}
