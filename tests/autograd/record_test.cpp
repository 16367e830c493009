#include <gflow/autograd/record.hpp>
#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/reduce.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

Tensor custom_square(const Tensor& x) {
    Tensor y;
    {
        const NoGrad plain;  // the ops inside compute the value only
        y = x * x;
    }
    return record("square", {x}, y, {x},
                  [](const Saved& saved, const Tensor& dy, Gradients& d) { d.add(0, 2.0 * saved[0] * dy); });
}

/// y = a with a backward of the test's own.
template <class Backward>
Tensor with_backward(const std::vector<Tensor>& inputs, Backward backward) {
    return record("custom", inputs, clone(inputs[0].detach()), {}, backward);
}

Tensor leaf_of(const std::vector<double>& values) { return from_vector(values).set_requires_grad(); }

}  // namespace

TEST_CASE("a custom op in a few lines") { expect_grad(custom_square, randn({3, 4}, float64)); }

TEST_CASE("nothing is recorded where no gradient is wanted") {
    const Tensor plain = ones({2}, float64);
    Tensor wanted = leaf_of({1, 2});
    CHECK_FALSE(will_record({plain}));
    CHECK(will_record({plain, wanted}));
    CHECK_FALSE(with_backward({plain}, [](const Saved&, const Tensor&, Gradients&) {}).requires_grad());
    const NoGrad scope;
    CHECK_FALSE(will_record({wanted}));
    CHECK_FALSE(with_backward({wanted}, [](const Saved&, const Tensor&, Gradients&) {}).requires_grad());
}

TEST_CASE("backward learns which gradients are needed, and others are ignored") {
    Tensor a = leaf_of({1, 2});
    const Tensor b = ones({2}, float64);
    bool first = false, second = true;
    backward(with_backward({a, b},
                           [&](const Saved&, const Tensor& dy, Gradients& d) {
                               first = d.needed(0);
                               second = d.needed(1);
                               d.add(0, dy);
                               d.add(1, dy);
                           }),
             ones({2}, float64));
    CHECK(first);
    CHECK_FALSE(second);
    expect_values(a.grad(), {1, 1});
}

TEST_CASE("the three ways to give a gradient add up") {
    Tensor a = leaf_of({1, 2});
    const auto by = [&](int way) {
        return with_backward({a}, [way](const Saved&, const Tensor& dy, Gradients& d) {
            if (way == 0) return d.add(0, dy);
            if (way == 1) {
                Tensor& sum = d[0];
                for (Index i = 0; i < 2; ++i) sum.mutable_data<double>()[i] += dy.data<double>()[i];
                return;
            }
            auto target = d.target(0);
            for (Index i = 0; i < 2; ++i) {
                double& to = target.first.mutable_data<double>()[i];
                to = dy.data<double>()[i] + (target.second ? to : 0);
            }
        });
    };
    for (int before : {0, 1, 2})
        for (int after : {0, 1, 2}) {
            a.zero_grad();
            backward(by(before), from_vector<double>({1, 2}));
            backward(by(after), from_vector<double>({10, 20}));
            expect_values(a.grad(), {11, 22});
        }
}

TEST_CASE("a gradient of the wrong shape or dtype is refused in the op's name") {
    Tensor a = leaf_of({1, 2});
    const auto giving = [&](const Tensor& gradient) {
        return with_backward({a}, [gradient](const Saved&, const Tensor&, Gradients& d) { d.add(0, gradient); });
    };
    CHECK_THROWS_WITH(backward(giving(zeros({3}, float64)), ones({2}, float64)),
                      contains("gflow::custom: backward must give a gradient of the input's shape and dtype; "
                               "got input=0, shape=[2], gradient=float64 [3]"));
    CHECK_THROWS_AS(backward(giving(zeros({2})), ones({2}, float64)), autograd_error);
}

TEST_CASE("a backward that asks for what the op has not is refused in the op's name") {
    Tensor a = leaf_of({1, 2});
    const Tensor plain = ones({2}, float64), seed = ones({2}, float64);
    const auto run = [&](auto backward_of_op) {
        backward(with_backward({a, plain}, [=](const Saved& saved, const Tensor& dy,
                                               Gradients& d) { backward_of_op(saved, dy, d); }),
                 seed);
    };
    CHECK_THROWS_WITH(run([](auto&, auto& dy, auto& d) { d.add(5, dy); }),
                      contains("gflow::custom: backward must name an input that the op has; got input=5, inputs=2"));
    CHECK_THROWS_AS(run([](auto&, auto&, auto& d) { (void)d.needed(2); }), autograd_error);
    CHECK_THROWS_AS(run([](auto&, auto&, auto& d) { (void)d[2]; }), autograd_error);
    CHECK_THROWS_AS(run([](auto&, auto&, auto& d) { (void)d.target(2); }), autograd_error);
    CHECK_THROWS_WITH(run([](auto& saved, auto&, auto& d) { d.add(0, saved[3]); }),
                      contains("gflow::custom: backward must ask for a tensor that was saved; got i=3, saved=0"));
    CHECK_THROWS_WITH(run([](auto&, auto&, auto& d) { d[1].template mutable_data<double>()[0] += 1; }),
                      contains("gflow::custom: this input needs no gradient; ask d.needed(i) first; got input=1"));
    CHECK_THROWS_AS(run([](auto&, auto&, auto& d) { (void)d.target(1); }), autograd_error);
    Tensor one = scalar(1).set_requires_grad();  // has the shape and dtype of an undefined tensor
    CHECK_THROWS_WITH(backward(with_backward({one}, [](const Saved&, const Tensor&, Gradients& d) { d.add(0, {}); })),
                      contains("gradient=undefined"));
}

TEST_CASE("an op may give no gradient at all") {
    Tensor a = leaf_of({1, 2});
    const Tensor inner = a * 2;
    backward(with_backward({inner}, [](const Saved&, const Tensor&, Gradients&) {}), ones({2}, float64));
    CHECK_FALSE(a.grad().defined());
}

TEST_CASE("inputs may be undefined") {
    Tensor a = leaf_of({1, 2});
    backward(with_backward({a, Tensor()},
                           [](const Saved&, const Tensor& dy, Gradients& d) {
                               if (d.needed(1)) FAIL("an undefined input needs no gradient");
                               d.add(0, dy);
                           }),
             ones({2}, float64));
    expect_values(a.grad(), {1, 1});
}
