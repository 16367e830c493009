#include <gflow/core/parallel.hpp>
#include <gflow/core/random.hpp>
#include <gflow/ops/clone.hpp>
#include <gflow/ops/to.hpp>
#include <gflow/optim/adamw.hpp>

#include <limits>

#include "support/catch.hpp"

using namespace gflow;
using gflow::test::contains;

namespace {

Tensor parameter(const std::vector<double>& values, DType dtype = float64) {
    Tensor x = to(from_vector(values), dtype);
    return x.set_requires_grad();
}

/// Gives x this gradient.
void set_grad(const Tensor& x, const Tensor& gradient) { x.node()->gradient() = to(clone(gradient), x.dtype()); }

/// The formula, one number at a time.
struct Plain {
    double p, m = 0, v = 0;
    int t = 0;
    void step(double g, const AdamWOptions& o) {
        ++t;
        p -= o.lr * o.weight_decay * p;
        m = o.beta1 * m + (1 - o.beta1) * g;
        v = o.beta2 * v + (1 - o.beta2) * g * g;
        p -= o.lr * (m / (1 - std::pow(o.beta1, t))) / (std::sqrt(v / (1 - std::pow(o.beta2, t))) + o.eps);
    }
};

}  // namespace

TEST_CASE("AdamW follows its formula") {
    const AdamWOptions options{.lr = 0.03, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.2};
    const DType dtype = GENERATE(float32, float64);
    Tensor x = parameter({1, -2, 0, 3e-4}, dtype);
    AdamW optimizer({x}, options);
    std::vector<Plain> plain{{1}, {-2}, {0}, {3e-4}};
    Generator generator(1);
    for (int step = 0; step < 20; ++step) {
        const Tensor gradient = to(to(randn({4}, float64, 1, generator), float32), float64);
        set_grad(x, gradient);
        optimizer.step();
        for (std::size_t i = 0; i < 4; ++i) {
            plain[i].step(gradient.data<double>()[i], options);
            const double tolerance = dtype == float64 ? 1e-14 : 2e-6;
            CHECK(to(x, float64).data<double>()[i] == gflow::test::Approx(plain[i].p).epsilon(0).margin(tolerance));
        }
    }
}

TEST_CASE("AdamW: the first step has the size of the learning rate, whatever the gradient's") {
    for (const double g : {1e-3, 1.0, 1e3}) {
        Tensor x = parameter({0.5});
        AdamW optimizer({x}, {.lr = 0.1, .eps = 0, .weight_decay = 0});
        set_grad(x, full({1}, g, float64));
        optimizer.step();
        CHECK(x.item() == gflow::test::Approx(0.4).epsilon(1e-12));
    }
}

TEST_CASE("AdamW: weight decay is decoupled from the gradient") {
    Tensor x = parameter({2.0});
    AdamW optimizer({x}, {.lr = 0.1, .weight_decay = 0.5});
    set_grad(x, zeros({1}, float64));
    optimizer.step();
    CHECK(x.item() == gflow::test::Approx(2.0 * (1 - 0.1 * 0.5)).epsilon(1e-15));
}

TEST_CASE("AdamW: groups have their own decay and learning rate") {
    Tensor a = parameter({1.0}), b = parameter({1.0}), c = parameter({1.0});
    AdamW optimizer(
        {ParameterGroup{.parameters = {{"a", a}}, .weight_decay = 0.0}, ParameterGroup{.parameters = {{"b", b}}},
         ParameterGroup{.parameters = {{"c", c}}, .weight_decay = 1.0, .lr_scale = 0.5}},
        {.lr = 0.1, .weight_decay = 0.5});
    for (const Tensor& x : {a, b, c}) set_grad(x, zeros({1}, float64));
    optimizer.step();
    CHECK(a.item() == 1.0);
    CHECK(b.item() == gflow::test::Approx(0.95));
    CHECK(c.item() == gflow::test::Approx(0.95));
}

TEST_CASE("AdamW: a parameter without a gradient is left alone, and its count does not rise") {
    Tensor x = parameter({1.0}), y = parameter({1.0});
    AdamW optimizer(std::vector<Tensor>{x, y}, {.lr = 0.1, .weight_decay = 0.5});
    set_grad(x, ones({1}, float64));
    optimizer.step();
    CHECK(y.item() == 1.0);
    CHECK(optimizer.state().size() == 3);
    CHECK(optimizer.state().at("step/0").item<Index>() == 1);
    optimizer.zero_grad();
    CHECK_FALSE(x.grad().defined());
    const double before = x.item();
    optimizer.step();
    CHECK(x.item() == before);
    CHECK(optimizer.state().at("step/0").item<Index>() == 1);
}

TEST_CASE("AdamW: a scaled step equals a step with scaled gradients") {
    Tensor x = parameter({1, 2, 3}), y = parameter({1, 2, 3});
    AdamW one({x}, {}), two({y}, {});
    set_grad(x, from_vector<double>({4, -8, 16}));
    set_grad(y, from_vector<double>({1, -2, 4}));
    one.step(0.25);
    two.step();
    CHECK(x.to_vector<double>() == y.to_vector<double>());
}

TEST_CASE("AdamW: the same bits on any number of threads, and over odd sizes") {
    const auto run = [](int threads) {
        set_num_threads(threads);
        Generator generator(7);
        std::vector<Tensor> parameters;
        for (const Index n : {0, 1, 3, 16384, 50001}) {
            parameters.push_back(randn({n}, float32, 1, generator));
            parameters.back().set_requires_grad();
        }
        AdamW optimizer(parameters);
        for (int step = 0; step < 3; ++step) {
            for (const Tensor& x : parameters) set_grad(x, randn(x.shape(), float32, 1, generator));
            optimizer.step(0.5);
        }
        std::vector<std::vector<float>> values;
        for (const Tensor& x : parameters) values.push_back(x.to_vector<float>());
        return values;
    };
    const int before = num_threads();
    const auto one = run(1);
    CHECK(run(3) == one);
    set_num_threads(before);
}

TEST_CASE("AdamW: a run continues exactly from a saved state") {
    const auto gradient = [](int step) {
        Generator generator(static_cast<std::uint64_t>(step));
        return randn({5}, float32, 1, generator);
    };
    Tensor x = parameter({1, 2, 3, 4, 5}, float32);
    AdamW whole({x});
    for (int step = 0; step < 3; ++step) set_grad(x, gradient(step)), whole.step();
    Tensor y = clone(x.detach());
    y.set_requires_grad();
    AdamW resumed({y});
    TensorMap state;
    for (const auto& [name, value] : whole.state()) state.emplace(name, clone(value));
    resumed.load_state(state);
    for (int step = 3; step < 6; ++step) {
        set_grad(x, gradient(step)), whole.step();
        set_grad(y, gradient(step)), resumed.step();
    }
    CHECK(x.to_vector<float>() == y.to_vector<float>());
}

TEST_CASE("AdamW: a state that does not fit is refused by name, and nothing changes") {
    Tensor x = parameter({1, 2});
    AdamW optimizer({ParameterGroup{.parameters = {{"w", x}}}});
    set_grad(x, ones({2}, float64));
    optimizer.step();
    const TensorMap good = [&] {
        TensorMap copy;
        for (const auto& [name, value] : optimizer.state()) copy.emplace(name, clone(value));
        return copy;
    }();
    TensorMap missing = good, misshapen = good, superfluous = good;
    missing.erase("v/w");
    misshapen["m/w"] = zeros({3}, float64);
    superfluous["m/other"] = zeros({2}, float64);
    CHECK_THROWS_WITH(optimizer.load_state(missing), contains("v/w"));
    CHECK_THROWS_WITH(optimizer.load_state(misshapen), contains("entry=m/w"));
    CHECK_THROWS_WITH(optimizer.load_state(superfluous), contains("m/other"));
    CHECK(optimizer.state().at("m/w").to_vector<double>() == good.at("m/w").to_vector<double>());
}

TEST_CASE("AdamW refuses what it cannot optimise") {
    Tensor x = parameter({1.0});
    CHECK_THROWS_WITH(AdamW({x}, {.lr = -1}), contains("learning rate"));
    CHECK_THROWS_WITH(AdamW({x}, {.lr = std::nan("")}), contains("lr=nan"));
    CHECK_THROWS_WITH(AdamW({x}, {.beta1 = 1}), contains("beta1=1"));
    CHECK_THROWS_WITH(AdamW({x}, {.beta2 = -0.1}), contains("beta2=-0.1"));
    CHECK_THROWS_WITH(AdamW({x}, {.eps = -1e-8}), contains("eps"));
    CHECK_THROWS_WITH(AdamW({x}, {.weight_decay = -1}), contains("weight_decay=-1"));
    CHECK_THROWS_WITH(AdamW({zeros({1})}), contains("leaves"));
    CHECK_THROWS_WITH(AdamW({x, x}), contains("twice"));
}

TEST_CASE("AdamW refuses groups with options out of range") {
    const double nan = std::nan("");
    const auto with = [](std::optional<double> weight_decay, double lr_scale) {
        return AdamW({ParameterGroup{{{"x", parameter({1.0})}}, weight_decay, lr_scale}});
    };
    CHECK_THROWS_WITH(with(-5, 1), contains("gflow::AdamW: weight decay must be finite and at least 0; "
                                            "got weight_decay=-5"));
    CHECK_THROWS_AS(with(nan, 1), usage_error);
    CHECK_THROWS_WITH(with({}, nan), contains("lr_scale=nan"));
    CHECK_THROWS_AS(with({}, -1), usage_error);
    CHECK_NOTHROW(with(0, 0));
}

TEST_CASE("AdamW: a learning rate or a scale that is refused changes nothing") {
    Tensor x = parameter({1.0});
    AdamW optimizer({x}, {.lr = 0.1});
    CHECK_THROWS_WITH(optimizer.set_lr(std::nan("")), contains("got lr=nan"));
    CHECK(optimizer.lr() == 0.1);
    set_grad(x, ones({1}, float64));
    CHECK_THROWS_WITH(optimizer.step(std::nan("")),
                      contains("gflow::AdamW: the scale of the gradients must be finite; got gradient_scale=nan"));
    CHECK_THROWS_AS(optimizer.step(std::numeric_limits<double>::infinity()), usage_error);
    CHECK(x.item() == 1.0);
    CHECK(optimizer.state().empty());
}

TEST_CASE("AdamW numbers parameters without names through all groups, and tells them apart by identity") {
    Tensor x = parameter({1.0}), y = parameter({2.0});
    AdamW optimizer({parameter_group({x}), parameter_group({y})});
    for (const Tensor& p : {x, y}) set_grad(p, ones({1}, float64));
    optimizer.step();
    CHECK(optimizer.state().count("m/0") == 1);
    CHECK(optimizer.state().count("m/1") == 1);
    CHECK_THROWS_WITH(AdamW({parameter_group({x}), parameter_group({x})}), contains("no parameter may come twice"));
    CHECK_THROWS_WITH(AdamW({ParameterGroup{.parameters = {{"w", x}, {"w", y}}}}),
                      contains("two parameters must have different names; got name=w"));
}

TEST_CASE("AdamW: an undefined entry of a state is refused, for a scalar too") {
    Tensor x = scalar(1).set_requires_grad();
    AdamW optimizer({x});
    CHECK_THROWS_WITH(optimizer.load_state({{"m/0", Tensor()}, {"v/0", scalar(0)}, {"step/0", scalar(1, int64)}}),
                      contains("in the file=undefined"));
}

TEST_CASE("AdamW: no parameters, no gradients: nothing happens") {
    AdamW none(std::vector<Tensor>{});
    none.step();
    none.zero_grad();
    CHECK(none.state().empty());
}

TEST_CASE("AdamW: NaN in a gradient shows in the parameter") {
    Tensor x = parameter({1.0, 2.0});
    AdamW optimizer({x});
    set_grad(x, from_vector<double>({1.0, std::nan("")}));
    optimizer.step();
    CHECK(std::isfinite(x.data<double>()[0]));
    CHECK(std::isnan(x.data<double>()[1]));
}
