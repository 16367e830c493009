#include <gflow/autograd/gradcheck.hpp>
#include <gflow/autograd/record.hpp>
#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/clone.hpp>
#include <gflow/ops/unary.hpp>

#include "support/catch.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

/// x², with a gradient that is wrong by `factor`, in element `wrong` only if that is not negative.
Tensor square(const Tensor& x, double factor, Index wrong = -1) {
    Tensor y;
    {
        const NoGrad plain;
        y = x * x;
    }
    return record("square", {x}, y, {x}, [=](const Saved& saved, const Tensor& dy, Gradients& d) {
        Tensor dx = saved[0] * dy * 2;
        for (Index i = 0; i < dx.numel(); ++i)
            if (wrong < 0 || i == wrong) dx.mutable_data<double>()[i] *= factor;
        d.add(0, dx);
    });
}
using Tensors = std::vector<Tensor>;

}  // namespace

TEST_CASE("a right gradient passes, a wrong one does not") {
    const Tensor x = randn({3, 2}, float64);
    CHECK(gradcheck([](const Tensors& v) { return square(v[0], 1); }, {x}));
    CHECK_FALSE(gradcheck([](const Tensors& v) { return square(v[0], -1); }, {x}));
    CHECK_FALSE(gradcheck([](const Tensors& v) { return square(v[0], 1.0001); }, {x}));
    CHECK_FALSE(gradcheck([](const Tensors& v) { return square(v[0], 0); }, {x}));
}

TEST_CASE("the message names input, element and both values") {
    const GradcheckResult result = gradcheck([](const Tensors& v) { return v[0] + square(v[1], 2, 3); },
                                             {zeros({5}, float64), full({5}, 3, float64)});
    CHECK_FALSE(result.ok);
    CHECK_THAT(result.message, contains("input 1 float64 [5], element 3: backward gives "));
    CHECK_THAT(result.message, contains("differences give "));
}

TEST_CASE("a gradient that is missing or NaN is wrong") {
    const Tensor x = full({2}, 1.5, float64);
    const auto detached = [](const Tensors& v) { return v[0].detach() * v[0]; };
    CHECK_FALSE(gradcheck(detached, {x}));
    CHECK_FALSE(gradcheck([](const Tensors& v) { return (v[0] * v[0]).detach(); }, {x}));
    CHECK_FALSE(gradcheck([](const Tensors& v) { return square(v[0], 0.0 / 0.0); }, {x}));
}

TEST_CASE("kinks can be left out") {
    const Tensor x = from_vector<double>({-1, 0, 2});
    const auto f = [](const Tensors& v) { return relu(v[0]); };
    CHECK_FALSE(gradcheck(f, {x}));
    CHECK(gradcheck(f, {x}, {.skip_kinks = true}));
    CHECK_FALSE(gradcheck([](const Tensors& v) { return square(v[0], 2); }, {x}, {.skip_kinks = true}));
}

TEST_CASE("what cannot be compared is refused") {
    const Tensor x = randn({2}, float64);
    CHECK_THROWS_WITH(gradcheck([](const Tensors&) { return ones({2}, float64); }, {}),
                      contains("gflow::gradcheck: at least one float64 input is needed; got inputs=0"));
    CHECK_THROWS_AS(gradcheck([](const Tensors& v) { return v[0]; }, {arange(2)}), usage_error);
    CHECK_THROWS_WITH(gradcheck([](const Tensors&) { return Tensor(); }, {x}),
                      contains("gflow::gradcheck: f must give a defined tensor; got output=undefined"));
    CHECK_THROWS_WITH(gradcheck([](const Tensors&) { return ones({2}); }, {x}),
                      contains("gflow::gradcheck: f must give float64, other types are too coarse; "
                               "got output=float32 [2]"));
    CHECK_THROWS_WITH(gradcheck([](const Tensors& v) { return v[0]; }, {x, Tensor()}),
                      contains("inputs must be defined; got input=1"));
    Index calls = 0;
    CHECK_THROWS_WITH(gradcheck([&](const Tensors&) { return ones({4 - calls++}, float64); }, {x}),
                      contains("f must give the same shape each time"));
}

TEST_CASE("float32 is refused, integers are passed through, inputs stay as they are") {
    const auto f = [](const Tensors& v) { return v[0] * static_cast<double>(v[1].numel()); };
    CHECK_THROWS_WITH(gradcheck(f, {zeros({2}), arange(3)}), contains("inputs must be float64, float32 is too coarse"));
    const Tensor x = randn({2}, float64);
    const Tensor before = clone(x);
    CHECK(gradcheck(f, {x, arange(3)}));
    CHECK(x.to_vector<double>() == before.to_vector<double>());
    CHECK_FALSE(x.requires_grad());
}
