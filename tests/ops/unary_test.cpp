#include <gflow/ops/unary.hpp>

#include <cmath>

#include "support/tensor_checks.hpp"
#include "support/ulps.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

struct Function {
    const char* name;
    Tensor (*op)(const Tensor&);
    double (*plain)(double);
    bool positive;                  // defined above 0 only
    std::vector<double> at_limits;  // of NaN, ∞, −∞, 0, −1000, 1000
};

const Function functions[] = {
    {"exp", gflow::exp, [](double x) { return std::exp(x); }, false, {not_a_number, infinity, 0, 1, 0, infinity}},
    {"log",
     gflow::log,
     [](double x) { return std::log(x); },
     true,
     {not_a_number, infinity, not_a_number, -infinity, not_a_number, std::log(1000)}},
    {"sqrt",
     gflow::sqrt,
     [](double x) { return std::sqrt(x); },
     true,
     {not_a_number, infinity, not_a_number, 0, not_a_number, std::sqrt(1000)}},
    {"tanh", gflow::tanh, [](double x) { return std::tanh(x); }, false, {not_a_number, 1, -1, 0, -1, 1}},
    {"sigmoid",
     gflow::sigmoid,
     [](double x) { return 1 / (1 + std::exp(-x)); },
     false,
     {not_a_number, 1, 0, 0.5, 0, 1}},
    {"relu", gflow::relu, [](double x) { return x > 0 ? x : 0; }, false, {not_a_number, infinity, 0, 0, 0, 1000}},
};

Tensor domain_of(const Function& function, const Shape& shape, DType dtype = float64) {
    Tensor x = function.positive ? rand(shape, float64) : randn(shape, float64);
    for (Index i = 0; i < x.numel(); ++i) x.mutable_data<double>()[i] += function.positive ? 0.25 : 0;
    return to(x, dtype);
}

}  // namespace

TEST_CASE("elementwise functions of one tensor") {
    for (const Function& function : functions) {
        DYNAMIC_SECTION(function.name << ": values and gradients") {
            for (const Shape& shape : {Shape{}, {1}, {3, 5}, {2, 3, 7}, {0, 3}, {37}}) {
                const Tensor x = domain_of(function, shape);
                expect_grad(function.op, x);
                expect_value(
                    function.op,
                    [&](const Tensor& input) {
                        std::vector<double> y = input.to_vector<double>();
                        for (double& value : y) value = function.plain(value);
                        return from_vector(y, shape);
                    },
                    x);
            }
        }
        DYNAMIC_SECTION(function.name << ": NaN goes through, and the limits are reached, in vectors and beside them") {
            std::vector<double> x, y;
            for (int repeat = 0; repeat < 7; ++repeat) {
                x.insert(x.end(), {not_a_number, infinity, -infinity, 0, -1000, 1000});
                y.insert(y.end(), function.at_limits.begin(), function.at_limits.end());
            }
            for (DType dtype : {float32, float64}) expect_values(function.op(to(from_vector(x), dtype)), y);
        }
        DYNAMIC_SECTION(function.name << ": any number of threads gives the same bits") {
            expect_same_on_any_thread_count(function.op, domain_of(function, {100'003}, float32));
        }
        DYNAMIC_SECTION(function.name << ": agrees with PyTorch") { expect_golden(function.name, function.op); }
        DYNAMIC_SECTION(function.name << ": refuses integers and undefined tensors") {
            CHECK_THROWS_AS(function.op(arange(3)), dtype_error);
            CHECK_THROWS_WITH(function.op(arange(3)), contains(std::string("gflow::") + function.name +
                                                               ": float32 or float64 is needed; got x=int64 [3]"));
            CHECK_THROWS_WITH(function.op(Tensor()), contains("must be defined"));
        }
    }
}

TEST_CASE("sigmoid is at most 3 ulp off in float32, tanh 5") {
    const auto worst = [](const Function& function, float limit) {
        const std::vector<float> x = floats_between(-limit, limit, 1999);
        return worst_ulps(x, function.op(from_vector(x)).to_vector<float>(), function.plain);
    };
    CHECK(worst(functions[4], 87) <= 3);
    CHECK(worst(functions[3], 20) <= 5);
}

TEST_CASE("exp is 0 below the normal numbers, and right just above them") {
    const Tensor y = gflow::exp(from_vector<float>(std::vector<float>(16, -87.0F)));
    expect_values(y, std::vector<double>(16, std::exp(-87.0)), {0, 1e-5});
    expect_values(gflow::exp(full({16}, -120)), std::vector<double>(16, 0.0), exactly);
}

TEST_CASE("relu passes no gradient at 0 and below, even an infinite one") {
    Tensor x = from_vector<double>({-1, 0, 2});
    x.set_requires_grad();
    backward(relu(x), from_vector<double>({infinity, infinity, 3}));
    expect_values(x.grad(), {0, 0, 3});
}
