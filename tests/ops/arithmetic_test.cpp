#include <gflow/ops/arithmetic.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

struct Arithmetic {
    const char* name;
    Tensor (*op)(const Tensor&, const Tensor&);
    double (*plain)(double, double);
};
const Arithmetic arithmetics[] = {
    {"add", gflow::add, [](double a, double b) { return a + b; }},
    {"sub", gflow::sub, [](double a, double b) { return a - b; }},
    {"mul", gflow::mul, [](double a, double b) { return a * b; }},
    {"div", gflow::div, [](double a, double b) { return a / b; }},
};

/// Broadcasting element by element, straight from NumPy's rule.
Tensor plain_broadcast(const Tensor& a, const Tensor& b, double (*f)(double, double)) {
    const Shape shape = broadcast("plain", a.shape(), b.shape());
    const auto at = [&](const Tensor& x, Index i) {
        Index offset = 0, stride = 1;
        for (Index axis = 1; axis <= shape.rank(); ++axis) {
            const Index position = i % shape[shape.rank() - axis];
            i /= shape[shape.rank() - axis];
            if (axis > x.rank()) continue;
            const Index size = x.shape()[x.rank() - axis];
            offset += (size == 1 ? 0 : position) * stride;
            stride *= size;
        }
        return x.data<double>()[offset];
    };
    Tensor y = empty(shape, float64);
    for (Index i = 0; i < y.numel(); ++i) y.mutable_data<double>()[i] = f(at(a, i), at(b, i));
    return y;
}

/// Far enough from 0 to divide by.
Tensor draw(const Shape& shape, DType dtype = float64) {
    Tensor x = rand(shape, float64);
    for (Index i = 0; i < x.numel(); ++i) x.mutable_data<double>()[i] = (i % 3 ? 1 : -1) * (0.5 + x.data<double>()[i]);
    return to(x, dtype);
}

Tensor leaf(Tensor x) { return x.set_requires_grad(); }

}  // namespace

TEST_CASE("arithmetic of two tensors") {
    const std::pair<Shape, Shape> shapes[] = {
        {{}, {}},
        {{1}, {1}},
        {{2, 3}, {2, 3}},
        {{2, 3, 4}, {4}},
        {{4}, {2, 3, 4}},
        {{2, 3, 4}, {}},
        {{}, {2, 3}},
        {{2, 3, 4}, {3, 1}},
        {{3, 1}, {2, 3, 4}},
        {{3, 1}, {1, 4}},
        {{2, 1, 4}, {3, 1}},
        {{2, 3}, {1}},
        {{1, 1}, {3}},
        {{2, 1, 3, 1}, {4, 1, 2}},
        {{0, 3}, {3}},
        {{0}, {1}},
        {{3, 0}, {3, 1}},
        {{2, 2, 2}, {2, 1, 2}},
        {{1, 2, 1, 2}, {2, 1, 2, 1}},
    };
    for (const Arithmetic& arithmetic : arithmetics) {
        DYNAMIC_SECTION(arithmetic.name << ": values and gradients") {
            for (const auto& [a, b] : shapes) {
                expect_grad(arithmetic.op, draw(a), draw(b));
                expect_value(
                    arithmetic.op,
                    [&](const Tensor& u, const Tensor& v) { return plain_broadcast(u, v, arithmetic.plain); }, draw(a),
                    draw(b));
            }
        }
        DYNAMIC_SECTION(arithmetic.name << ": agrees with PyTorch") {
            const std::string name = arithmetic.name;
            const std::string other = name == "mul" ? "mul_outer" : name + "_left";
            expect_golden(name, arithmetic.op);
            expect_golden(other, arithmetic.op);
        }
        DYNAMIC_SECTION(arithmetic.name << ": any number of threads gives the same bits") {
            expect_same_on_any_thread_count(arithmetic.op, draw({301, 333}, float32), draw({333}, float32));
            expect_same_on_any_thread_count(arithmetic.op, draw({}, float32), draw({100'003}, float32));
            expect_same_on_any_thread_count(arithmetic.op, draw({7, 1}, float32), draw({7, 30'000}, float32));
        }
        DYNAMIC_SECTION(arithmetic.name << ": what does not fit is refused, by name") {
            CHECK_THROWS_WITH(
                arithmetic.op(zeros({2, 3}), zeros({2})),
                contains(std::string("gflow::") + arithmetic.name + ": shapes must broadcast; got a=[2, 3], b=[2]"));
            CHECK_THROWS_AS(arithmetic.op(zeros({2, 3}), zeros({2})), shape_error);
            CHECK_THROWS_WITH(arithmetic.op(zeros({2}), zeros({2}, float64)),
                              contains("both must be float32 or both float64; got a=float32 [2], b=float64 [2]"));
            CHECK_THROWS_AS(arithmetic.op(arange(3), arange(3)), dtype_error);
            CHECK_THROWS_WITH(arithmetic.op(zeros({2}), Tensor()), contains("b=undefined"));
        }
    }
}

TEST_CASE("arithmetic of a tensor and a number") {
    const Tensor x = draw({3, 5});
    SECTION("values and gradients") {
        expect_grad([](const Tensor& u) { return u + 2.5; }, x);
        expect_grad([](const Tensor& u) { return 2.5 + u; }, x);
        expect_grad([](const Tensor& u) { return u - 2.5; }, x);
        expect_grad([](const Tensor& u) { return 2.5 - u; }, x);
        expect_grad([](const Tensor& u) { return u * -2.5; }, x);
        expect_grad([](const Tensor& u) { return -2.5 * u; }, x);
        expect_grad([](const Tensor& u) { return u / 2.5; }, x);
        expect_grad([](const Tensor& u) { return 2.5 / u; }, x);
        expect_grad([](const Tensor& u) { return -u; }, x);
        expect_grad([](const Tensor& u) { return neg(u); }, draw({0, 2}));
        const Tensor row = from_vector<double>({1, -2, 4});
        expect_values(row + 1, {2, -1, 5});
        expect_values(1 - row, {0, 3, -3});
        expect_values(row * 3, {3, -6, 12});
        expect_values(2 / row, {2, -1, 0.5});
        expect_values(row / 4, {0.25, -0.5, 1});
    }
    SECTION("neg agrees with PyTorch") {
        expect_golden("neg", [](const Tensor& u) { return neg(u); });
    }
    SECTION("the number takes the tensor's dtype") {
        CHECK((zeros({2}) + 0.1).dtype() == float32);
        CHECK((zeros({2}, float64) * 0.1).dtype() == float64);
        CHECK((ones({1}) / 3).item<float>() == 1.0F / 3.0F);
    }
    SECTION("signs of zero, ∞ and NaN follow IEEE 754") {
        CHECK(std::signbit((scalar(-0.0) * 1).item<double>()));
        CHECK(std::signbit(neg(scalar(0)).item<double>()));
        CHECK_FALSE(std::signbit((0 - scalar(0)).item<double>()));
        expect_values(1 / from_vector<float>({0, -0.0F, not_a_number}), {infinity, -infinity, not_a_number});
        expect_values(from_vector<float>({not_a_number, 1}) * 0, {not_a_number, 0});
    }
    SECTION("integers are refused") { CHECK_THROWS_AS(arange(3) + 1, dtype_error); }
}

TEST_CASE("arithmetic keeps for backward only what that needs") {
    const Tensor a = leaf(draw({1000})), constant = draw({1000});
    const auto live = [] { return BufferPool::instance().statistics().live_bytes; };
    const std::size_t before = live();
    const Tensor y = a + constant;
    CHECK(live() - before <= BufferPool::class_size(8000 + 64));
    const Tensor z = mul(a, constant * 1);  // keeps the factor of a, not a itself
    CHECK(live() - before <= 3 * BufferPool::class_size(8000 + 64));
}

TEST_CASE("two leaves never share a gradient") {
    Tensor a = leaf(ones({3})), b = leaf(ones({3}));
    backward(add(a, b), ones({3}));
    a.grad().mutable_data<float>()[0] = 7;
    expect_values(b.grad(), {1, 1, 1});
    Tensor c = leaf(ones({3}));
    backward(add(c, c), ones({3}));
    expect_values(c.grad(), {2, 2, 2});
}
