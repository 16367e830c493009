#include "support/tensor_checks.hpp"

#include <gflow/autograd/record.hpp>
#include <gflow/core/print.hpp>

#include <cmath>
#include <cstring>
#include <sstream>

#if __has_include(<nlohmann/json.hpp>)
#include <gflow/io/safetensors.hpp>
#endif

namespace gflow::test {

namespace {

std::string position_of(Index i, const Shape& shape) {
    std::vector<Index> position;
    for (Index axis = shape.rank() - 1; axis >= 0; --axis) {
        position.insert(position.begin(), i % shape[axis]);
        i /= shape[axis];
    }
    return to_string(Shape(position));
}

/// How far the difference is beyond the tolerance: ≤ 1 is within.
double excess_of(double actual, double expected, Tolerance tolerance) {
    if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return 0;
    if (!std::isfinite(actual) || !std::isfinite(expected)) return infinity;
    return std::abs(actual - expected) / (tolerance.absolute + tolerance.relative * std::abs(expected));
}

std::vector<double> doubles_of(const Tensor& x) { return to(x.detach(), float64).to_vector<double>(); }

std::vector<Tensor> leaves_of(const std::vector<Tensor>& inputs, DType dtype) {
    std::vector<Tensor> leaves;
    for (const Tensor& input : inputs) {
        const Tensor value = input.detach();
        leaves.push_back(clone(is_floating(value.dtype()) ? to(value, dtype) : value));
        if (is_floating(input.dtype())) leaves.back().set_requires_grad();
    }
    return leaves;
}

struct Outcome {
    Tensor y;
    std::vector<Tensor> gradients;  // undefined for integer inputs
};

Tensor weights_like(const Tensor& y) {
    Generator fixed(7);
    return to(randn(y.shape(), float64, 1, fixed), y.dtype());
}

/// f's value and the gradients of a random weighting of it; zeros where backward gave none.
Outcome run(const Op& f, std::vector<Tensor> leaves, const Tensor& dy = {}) {
    Outcome outcome;
    outcome.y = f(leaves);
    if (outcome.y.requires_grad()) backward(outcome.y, dy.defined() ? dy : weights_like(outcome.y));
    for (const Tensor& leaf : leaves)
        outcome.gradients.push_back(leaf.grad().defined()       ? leaf.grad()
                                    : is_floating(leaf.dtype()) ? zeros_like(leaf)
                                                                : Tensor());
    return outcome;
}

double norm_of_all(const std::vector<Tensor>& tensors) {
    double sum = 0;
    for (const Tensor& x : tensors)
        if (x.defined()) sum += norm_of(x) * norm_of(x);
    return std::sqrt(sum);
}

void expect_gradients_close(const Outcome& actual, const std::vector<Tensor>& expected, double tolerance) {
    const double scale = norm_of_all(expected);
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (expected[i].defined())
            expect_close_in_norm("gradient of input " + std::to_string(i), actual.gradients[i], expected[i], tolerance,
                                 scale);
}

}  // namespace

double norm_of(const Tensor& x) {
    double sum = 0;
    for (double value : doubles_of(x)) sum += value * value;
    return std::sqrt(sum);
}

void expect_close(const Tensor& actual, const Tensor& expected, Tolerance tolerance) {
    INFO("actual " << describe(actual) << ", expected " << describe(expected));
    REQUIRE(actual.defined());
    REQUIRE(expected.defined());
    REQUIRE(actual.shape() == expected.shape());
    const std::vector<double> a = doubles_of(actual), b = doubles_of(expected);
    std::size_t differ = 0, worst = 0;
    double worst_excess = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double excess = excess_of(a[i], b[i], tolerance);
        if (excess <= 1) continue;
        ++differ;
        if (excess > worst_excess) {
            worst = i;
            worst_excess = excess;
        }
    }
    if (differ == 0) return;
    std::ostringstream message;
    message.precision(9);
    message << differ << " of " << a.size() << " elements differ by more than " << tolerance.absolute << " + "
            << tolerance.relative << "·|expected|; worst at " << position_of(static_cast<Index>(worst), actual.shape())
            << ": " << a[worst] << ", expected " << b[worst];
    FAIL_CHECK(message.str());
}

void expect_values(const Tensor& actual, const std::vector<double>& expected, Tolerance tolerance) {
    INFO("actual " << describe(actual) << ", expected " << expected.size() << " elements");
    REQUIRE(actual.defined());
    REQUIRE(actual.numel() == static_cast<Index>(expected.size()));
    expect_close(actual, from_vector(expected, actual.shape()), tolerance);
}

void expect_same_bits(const Tensor& actual, const Tensor& expected) {
    INFO("actual " << describe(actual) << ", expected " << describe(expected));
    REQUIRE(actual.shape() == expected.shape());
    REQUIRE(actual.dtype() == expected.dtype());
    if (actual.bytes() == 0 || std::memcmp(actual.raw(), expected.raw(), actual.bytes()) == 0) return;
    if (is_floating(actual.dtype())) expect_close(actual, expected, exactly);
    FAIL_CHECK("the bits differ");
}

void expect_close_in_norm(const std::string& what, const Tensor& actual, const Tensor& expected, double tolerance,
                          double scale) {
    INFO(what << ": actual " << describe(actual) << ", expected " << describe(expected));
    REQUIRE(actual.defined());
    REQUIRE(actual.shape() == expected.shape());
    const std::vector<double> a = doubles_of(actual), b = doubles_of(expected);
    double sum = 0, worst = -1;
    std::size_t at = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        // Limits (−∞ in a log-softmax) have no distance: they agree or they do not.
        const double difference = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) ? 0 : std::abs(a[i] - b[i]);
        sum += difference * difference;
        if (!(difference <= worst)) {
            worst = difference;
            at = i;
        }
    }
    double size = 0;
    for (double value : b)
        if (std::isfinite(value)) size += value * value;
    const double bound = tolerance * std::max(std::sqrt(size), 1e-3 * scale);
    if (std::sqrt(sum) <= bound) return;
    std::ostringstream message;
    message.precision(9);
    message << what << ": |actual − expected| = " << std::sqrt(sum) << ", allowed " << bound
            << " (|expected| = " << std::sqrt(size) << "); worst at "
            << position_of(static_cast<Index>(at), actual.shape()) << ": " << a[at] << ", expected " << b[at];
    FAIL_CHECK(message.str());
}

namespace detail {

void expect_grad(const Op& f, const std::vector<Tensor>& inputs, const GradcheckOptions& options) {
    std::string shapes;
    for (const Tensor& input : inputs) shapes += " " + describe(input);
    INFO("inputs:" << shapes);
    std::vector<std::size_t> floating;
    bool one_shape = true;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (is_floating(inputs[i].dtype())) {
            floating.push_back(i);
            one_shape = one_shape && inputs[i].shape() == inputs[floating.front()].shape();
        }

    const GradcheckResult agrees = gradcheck(f, inputs, options);
    INFO(agrees.message);
    CHECK(agrees.ok);

    const std::vector<Tensor> leaves = leaves_of(inputs, float64);
    const Outcome wide = run(f, leaves);
    for (std::size_t i = 0; i < inputs.size(); ++i) expect_same_bits(leaves[i].detach(), inputs[i]);

    const Outcome narrow = run(f, leaves_of(inputs, float32));
    CHECK(narrow.y.dtype() == float32);
    expect_close_in_norm("float32 value", narrow.y, wide.y, 1e-5);
    expect_gradients_close(narrow, wide.gradients, 2e-5);

    std::vector<Tensor> once = wide.gradients;
    for (Tensor& gradient : once) gradient = clone(gradient);
    const Outcome twice = run(f, leaves);
    for (std::size_t i : floating) {
        Tensor doubled = clone(once[i]);
        for (Index k = 0; k < doubled.numel(); ++k) doubled.mutable_data<double>()[k] *= 2;
        expect_close_in_norm("gradient of input " + std::to_string(i) + ", backward twice", twice.gradients[i], doubled,
                             1e-13, norm_of_all(once));
    }

    for (std::size_t i : floating) {
        std::vector<Tensor> alone = leaves_of(inputs, float64);
        for (std::size_t other : floating)
            if (other != i) alone[other].set_requires_grad(false);
        expect_close_in_norm("gradient of input " + std::to_string(i) + " alone", run(f, alone).gradients[i], once[i],
                             1e-13, norm_of_all(once));
    }

    if (one_shape && floating.size() > 1) {
        const Op same_everywhere = [&](const std::vector<Tensor>& x) {
            std::vector<Tensor> all = inputs;
            for (std::size_t i : floating) all[i] = x[0];
            return f(all);
        };
        const GradcheckResult shared = gradcheck(same_everywhere, {inputs[floating.front()]}, options);
        INFO("one tensor in every place: " << shared.message);
        CHECK(shared.ok);
    }

    const NoGrad plain;
    const Tensor y = f(leaves);
    CHECK((!y.requires_grad() || y.is_leaf()));  // an op that changes nothing may hand back its input
    expect_same_bits(y, wide.y.detach());
}

void expect_same_on_any_thread_count(const Op& f, const std::vector<Tensor>& inputs) {
    const int before = num_threads();
    const auto with_threads = [&](int threads) {
        set_num_threads(threads);
        std::vector<Tensor> leaves;
        for (const Tensor& input : inputs) {
            leaves.push_back(clone(input.detach()));
            if (input.dtype() == float32 || input.dtype() == float64) leaves.back().set_requires_grad();
        }
        return run(f, leaves);
    };
    const Outcome one = with_threads(1), three = with_threads(3);
    set_num_threads(before);
    expect_same_bits(three.y.detach(), one.y.detach());
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (one.gradients[i].defined()) expect_same_bits(three.gradients[i], one.gradients[i]);
}

#if __has_include(<nlohmann/json.hpp>)
void expect_golden(const std::string& name, const Op& f) {
    static const TensorMap golden = load_safetensors(GFLOW_SOURCE_DIR "/tests/golden/ops.safetensors");
    INFO("golden case " << name);
    std::vector<Tensor> inputs, gradients;
    for (auto input = golden.find(name + "/in0"); input != golden.end();
         input = golden.find(name + "/in" + std::to_string(inputs.size()))) {
        const auto gradient = golden.find(name + "/din" + std::to_string(inputs.size()));
        gradients.push_back(gradient == golden.end() ? Tensor() : gradient->second);
        inputs.push_back(input->second);
    }
    REQUIRE_FALSE(inputs.empty());
    for (const DType dtype : {float64, float32}) {
        INFO(name_of(dtype));
        const double tolerance = dtype == float64 ? 1e-10 : 1e-5;
        const Outcome outcome = run(f, leaves_of(inputs, dtype), to(golden.at(name + "/dout"), dtype));
        CHECK(outcome.y.dtype() == dtype);
        expect_close_in_norm("value", outcome.y, golden.at(name + "/out"), tolerance);
        expect_gradients_close(outcome, gradients, tolerance);
    }
}
#else
void expect_golden(const std::string&, const Op&) { WARN("skipped: the golden file needs nlohmann-json to be read"); }
#endif

}  // namespace detail

}  // namespace gflow::test
