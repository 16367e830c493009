#include <gflow/ops/reduce.hpp>

#include <cmath>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

using Reduce = Tensor (*)(const Tensor&, const Axes&, bool);

/// The reduction element by element, in float64. `axes` are not negative.
Tensor plain_reduction(const std::string& kind, const Tensor& x, const std::vector<Index>& axes, bool keepdim) {
    const auto reduced = [&](Index axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); };
    Shape shape;
    Index count = 1;
    for (Index axis = 0; axis < x.rank(); ++axis) {
        if (reduced(axis)) count *= x.shape()[axis];
        if (!reduced(axis) || keepdim) shape.push_back(reduced(axis) ? 1 : x.shape()[axis]);
    }
    Tensor y = full(shape, kind == "max" ? -infinity : 0, float64);
    for (Index i = 0; i < x.numel(); ++i) {
        Index rest = i, offset = 0, stride = 1;
        for (Index axis = x.rank() - 1; axis >= 0; --axis) {
            const Index position = rest % x.shape()[axis];
            rest /= x.shape()[axis];
            if (reduced(axis)) continue;
            offset += position * stride;
            stride *= x.shape()[axis];
        }
        double& to = y.mutable_data<double>()[offset];
        to = kind == "max" ? std::max(to, x.data<double>()[i]) : to + x.data<double>()[i];
    }
    if (kind == "mean")
        for (Index i = 0; i < y.numel(); ++i) y.mutable_data<double>()[i] /= static_cast<double>(count);
    return y;
}

struct Reduction {
    const char* name;
    Reduce op;
};
const Reduction reductions[] = {{"sum", gflow::sum}, {"mean", gflow::mean}, {"max", gflow::max}};

}  // namespace

TEST_CASE("sum, mean and max over axes") {
    const std::pair<Shape, std::vector<std::vector<Index>>> settings[] = {
        {{}, {{}}},
        {{1}, {{0}}},
        {{5}, {{0}}},
        {{3, 4}, {{0}, {1}, {0, 1}}},
        {{2, 3, 4}, {{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}}},
        {{2, 1, 3, 2}, {{1}, {0, 2}, {1, 3}, {0, 3}}},
        {{3, 0, 2}, {{0}, {2}, {0, 2}}},
    };
    for (const Reduction& reduction : reductions) DYNAMIC_SECTION(reduction.name << ": values and gradients") {
            for (const auto& [shape, lists] : settings)
                for (const auto& axes : lists)
                    for (bool keepdim : {false, true}) {
                        const Tensor x = randn(shape, float64);
                        const auto op = [&, list = axes, keepdim = keepdim](const Tensor& u) {
                            return reduction.op(u, list, keepdim);
                        };
                        expect_grad(op, x);
                        expect_value(
                            op,
                            [&, list = axes, keepdim = keepdim](const Tensor& u) {
                                return plain_reduction(reduction.name, u, list, keepdim);
                            },
                            x);
                    }
        }
    for (const Reduction& reduction : reductions)
        DYNAMIC_SECTION(reduction.name << ": negative axes, all axes, one axis") {
            const Tensor x = randn({2, 3, 4}, float64);
            expect_same_bits(reduction.op(x, -1, false), reduction.op(x, 2, false));
            expect_same_bits(reduction.op(x, {-3, -1}, true), reduction.op(x, {2, 0}, true));
            CHECK(reduction.op(x, {}, false).shape() == Shape{});
            CHECK(reduction.op(x, {}, true).shape() == Shape{1, 1, 1});
            CHECK(reduction.op(x, std::vector<Index>{}, false).shape() == x.shape());
        }
    for (const Reduction& reduction : reductions) DYNAMIC_SECTION(reduction.name << ": agrees with PyTorch") {
            const std::string name = reduction.name;
            expect_golden(name + "_all", [&](const Tensor& x) { return reduction.op(x, {}, false); });
            expect_golden(name + "_axis", [&](const Tensor& x) { return reduction.op(x, 1, false); });
            const Index kept = name == "sum" ? 1 : -1;
            expect_golden(name + "_keepdim", [&](const Tensor& x) { return reduction.op(x, kept, true); });
        }
    for (const Reduction& reduction : reductions)
        DYNAMIC_SECTION(reduction.name << ": any number of threads gives the same bits") {
            for (const Shape& shape : {Shape{300, 401}, {3, 50'001}, {50'001, 3}, {2, 3'000, 40}})
                for (Index axis = -2; axis < 2; ++axis)
                    expect_same_on_any_thread_count([&](const Tensor& x) { return reduction.op(x, axis % 2, false); },
                                                    randn(shape));
            expect_same_on_any_thread_count([&](const Tensor& x) { return reduction.op(x, {}, false); },
                                            randn({300, 401}));
        }
    for (const Reduction& reduction : reductions) DYNAMIC_SECTION(reduction.name << ": bad input") {
            const Tensor x = zeros({2, 3});
            CHECK_THROWS_AS(reduction.op(x, 2, false), index_error);
            CHECK_THROWS_WITH(reduction.op(x, -3, false), contains(std::string("gflow::") + reduction.name +
                                                                   ": axis must be within the rank; got axis=-3"));
            CHECK_THROWS_WITH(reduction.op(x, {1, -1}, false), contains("an axis must be named once only"));
            CHECK_THROWS_AS(reduction.op(arange(3), {}, false), dtype_error);
            CHECK_THROWS_WITH(reduction.op(Tensor(), {}, false), contains("must be defined"));
        }
}

TEST_CASE("float32 is summed accurately") {
    for (const Shape& shape : {Shape{3'000'000}, {1'000'000, 3}, {1'000, 3'000}}) {
        const Tensor x = full(shape, 0.1);
        CHECK(std::abs(sum(x).item<double>() - 3e6 * static_cast<double>(0.1F)) < 0.05);
        CHECK(mean(x).item<float>() == 0.1F);
        const Tensor columns = mean(x, 0);
        expect_close(columns, full(columns.shape(), 0.1), exactly);
    }
    expect_values(sum(from_vector<float>({1e8F, 1, -1e8F})), {1});
}

TEST_CASE("reductions of nothing") {
    expect_values(sum(zeros({0, 3})), {0});
    expect_values(sum(zeros({0, 3}), 0), {0, 0, 0});
    expect_values(mean(zeros({0, 2}), 0), {not_a_number, not_a_number});
    CHECK(sum(zeros({0, 3}), 1).shape() == Shape{0});
    CHECK(max(zeros({0, 3}), 1).shape() == Shape{0});
    CHECK_THROWS_WITH(max(zeros({0, 3}), 0),
                      contains("gflow::max: the axis must have at least one element; got x=float32 [0, 3]"));
}

TEST_CASE("NaN is never hidden by a reduction") {
    for (Index position : {0, 1, 5, 63}) {
        Tensor x = full({64}, 1);
        x.mutable_data<float>()[position] = static_cast<float>(not_a_number);
        expect_values(max(x), {not_a_number});
        expect_values(sum(x), {not_a_number});
        const Tensor table = x.viewed_as({8, 8});
        CHECK(std::isnan(max(max(table, 0)).item<float>()));
        CHECK(std::isnan(max(max(table, 1)).item<float>()));
    }
    expect_values(max(full({3, 2}, -infinity), 0), {-infinity, -infinity});
}

TEST_CASE("the gradient of max goes to the first of equal maxima") {
    Tensor x = from_vector<float>({1, 3, 3, 3, 2, 3}, {2, 3});
    x.set_requires_grad();
    max(x).backward();
    expect_values(x.grad(), {0, 1, 0, 0, 0, 0});
    x.zero_grad();
    backward(max(x, 0), ones({3}));
    expect_values(x.grad(), {0, 1, 1, 1, 0, 0});
    x.zero_grad();
    backward(max(x, 1), ones({2}));
    expect_values(x.grad(), {0, 1, 0, 1, 0, 0});
}
