#include <gflow/autograd/backward.hpp>
#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/reduce.hpp>
#include <gflow/ops/reshape.hpp>
#include <gflow/ops/unary.hpp>

#include <thread>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

Tensor leaf(const std::vector<double>& values) { return from_vector(values).set_requires_grad(); }
std::size_t live() { return BufferPool::instance().statistics().live_bytes; }

/// y = x, whose backward throws after it has given a gradient.
Tensor throws_in_backward(const Tensor& x, const Tensor& other) {
    return record("broken", {x, other}, clone(x.detach()), {}, [](const Saved&, const Tensor& dy, Gradients& d) {
        d.add(0, clone(dy));
        fail("broken", "this backward throws");
    });
}

}  // namespace

TEST_CASE("gradients of a small graph") {
    Tensor x = leaf({1, 2, 3}), y = leaf({4, 5, 6});
    const Tensor loss = sum(x * y + x);
    CHECK(loss.requires_grad());
    CHECK_FALSE(loss.is_leaf());
    loss.backward();
    expect_values(x.grad(), {5, 6, 7});
    expect_values(y.grad(), {1, 2, 3});
    CHECK(x.is_leaf());
    CHECK(x.grad().dtype() == float64);
    CHECK_FALSE(x.grad().requires_grad());
}

TEST_CASE("a tensor used many times, in many places") {
    Tensor x = leaf({2});
    const Tensor a = x * x;      // x²
    const Tensor b = a * x + a;  // x³ + x²
    const Tensor c = b * a - x;  // x⁵ + x⁴ − x
    backward(c);
    expect_values(x.grad(), {5 * 16 + 4 * 8 - 1});
}

TEST_CASE("gradients add up over backwards until they are cleared") {
    Tensor x = leaf({1, 2});
    sum(x * 3).backward();
    sum(x * x).backward();
    expect_values(x.grad(), {5, 7});
    x.zero_grad();
    CHECK_FALSE(x.grad().defined());
    sum(x).backward();
    expect_values(x.grad(), {1, 1});
}

TEST_CASE("a seed weighs the elements of the root") {
    Tensor x = leaf({1, 2, 3});
    backward(x * x, from_vector<double>({1, 0, -1}));
    expect_values(x.grad(), {2, 0, -6});
    CHECK_THROWS_WITH(backward(x * x), contains("gflow::backward: a tensor of several elements needs a seed"));
    CHECK_THROWS_WITH(backward(x * x, zeros({3})), contains("the seed must have the tensor's shape and dtype"));
    CHECK_THROWS_AS(backward(x * x, zeros({2}, float64)), shape_error);
}

TEST_CASE("the root may be a leaf itself") {
    Tensor x = leaf({4});
    x.backward();
    x.backward();
    expect_values(x.grad(), {2});
}

TEST_CASE("the seed is not taken for a gradient") {
    Tensor x = leaf({1, 2});
    Tensor seed = from_vector<double>({1, 1});
    backward(reshape(x, {2}), seed);
    seed.mutable_data<double>()[0] = 99;
    expect_values(x.grad(), {1, 1});
    Tensor y = leaf({1});
    Tensor one = from_vector<double>({1});
    backward(y, one);
    one.mutable_data<double>()[0] = 99;
    expect_values(y.grad(), {1});
}

TEST_CASE("two leaves never share a gradient, nor a leaf and an inner tensor") {
    Tensor x = leaf({1}), y = leaf({1}), z = leaf({1});
    const Tensor sum_of_all = reshape(reshape(x + y, {1}) + z, {1});
    backward(sum_of_all);
    x.grad().mutable_data<double>()[0] = 5;
    expect_values(y.grad(), {1});
    expect_values(z.grad(), {1});
    backward(x + y);
    expect_values(x.grad(), {6});
    expect_values(y.grad(), {2});
}

TEST_CASE("the graph is released by backward, unless it is to be kept") {
    Tensor x = leaf({3});
    const Tensor y = x * x;
    backward(y, {}, {.retain_graph = true});
    backward(y, {}, {.retain_graph = true});
    backward(y);
    expect_values(x.grad(), {18});
    CHECK_THROWS_AS(backward(y), autograd_error);
    CHECK_THROWS_WITH(backward(y), contains("the graph was released by an earlier backward; use retain_graph to keep "
                                            "it; got op=mul"));
    expect_values(x.grad(), {18});
    // A part of the graph that another loss shares is gone as well.
    const Tensor shared = x * 2;
    backward(shared * 1);
    CHECK_THROWS_AS(backward(shared * 1), autograd_error);
    expect_values(x.grad(), {20});
}

TEST_CASE("what needs no gradient cannot be differentiated") {
    CHECK_THROWS_WITH(zeros({1}).backward(), contains("must come from one that requires a gradient"));
    CHECK_THROWS_AS(backward(zeros({1}) * 2), autograd_error);
    CHECK_THROWS_AS(Tensor().backward(), autograd_error);
    Tensor x = leaf({1});
    CHECK_THROWS_AS((x * 2).detach().backward(), autograd_error);
}

TEST_CASE("only floating leaves can require a gradient") {
    Tensor ids = arange(3);
    CHECK_THROWS_WITH(ids.set_requires_grad(), contains("gradients exist for float32 and float64"));
    Tensor y = leaf({1}) * 2;
    CHECK_THROWS_WITH(y.set_requires_grad(false), contains("only a leaf can be switched"));
    Tensor x = leaf({1});
    CHECK_FALSE(x.set_requires_grad(false).requires_grad());
}

TEST_CASE("a saved tensor that was changed in place is an error, never a wrong gradient") {
    SECTION("an input") {
        Tensor x = leaf({1, 2}), w = from_vector<double>({3, 4});
        const Tensor y = sum(x * w);
        w.mutable_data<double>()[0] = 9;
        CHECK_THROWS_WITH(y.backward(), contains("gflow::mul: a tensor that backward needs was changed in place"));
        CHECK_FALSE(x.grad().defined());
    }
    SECTION("an output") {
        Tensor x = leaf({1, 2});
        Tensor y = exp(x);
        const Tensor z = sum(y);
        y.mutable_data<double>()[0] = 0;
        CHECK_THROWS_AS(z.backward(), autograd_error);
    }
    SECTION("through a view, or through copy_into") {
        Tensor x = leaf({1, 2}), w = from_vector<double>({3, 4});
        const Tensor y = sum(x * w);
        Tensor view = w.viewed_as({2, 1});
        copy_into(view, zeros({2, 1}, float64));
        CHECK_THROWS_AS(y.backward(), autograd_error);
    }
    SECTION("what is not saved may change") {
        Tensor x = leaf({1, 2}), w = from_vector<double>({3, 4});
        const Tensor y = sum(x + w);
        w.mutable_data<double>()[0] = 9;
        y.backward();
        expect_values(x.grad(), {1, 1});
    }
    SECTION("after backward it may change") {
        Tensor x = leaf({1, 2});
        sum(x * x).backward();
        x.mutable_data<double>()[0] = 5;
        sum(x * x).backward();
        expect_values(x.grad(), {12, 8});
    }
}

TEST_CASE("an exception inside backward leaves no half gradients in the graph") {
    Tensor x = leaf({1}), other = leaf({1});
    const Tensor a = x * 2;
    const Tensor b = a * other;
    const Tensor loss = throws_in_backward(a, b) + b;
    CHECK_THROWS_WITH(backward(loss, {}, {.retain_graph = true}), contains("this backward throws"));
    CHECK_FALSE(x.grad().defined());
    CHECK_FALSE(other.grad().defined());
    CHECK_FALSE(a.grad().defined());
    CHECK_FALSE(b.grad().defined());
    backward(b);  // the part below is whole
    expect_values(x.grad(), {2});
    expect_values(other.grad(), {2});
}

TEST_CASE("a graph of a million nodes is differentiated and freed without recursion") {
    Tensor x = leaf({1});
    SECTION("a chain, through backward") {
        Tensor y = x;
        for (int i = 0; i < 1'000'000; ++i) y = y + 1;
        backward(y);
        expect_values(x.grad(), {1});
    }
    SECTION("a chain that is thrown away") {
        const std::size_t before = live();
        {
            Tensor y = x;
            for (int i = 0; i < 1'000'000; ++i) y = y * 1.0;
        }
        CHECK(live() == before);
    }
    SECTION("a chain in which every node is used twice: 2ⁿ ways, n visits") {
        Tensor y = x * 0x1p-60;
        for (int i = 0; i < 60; ++i) y = y + y;
        for (int i = 0; i < 100'000; ++i) y = y + y * 0;
        backward(y);
        expect_values(x.grad(), {1});
    }
    SECTION("a wide graph") {
        Tensor y = zeros({1}, float64);
        for (int i = 0; i < 200'000; ++i) y = y + x;
        backward(y);
        expect_values(x.grad(), {200'000});
    }
}

TEST_CASE("backward frees what it has passed, and a forward that is never differentiated leaves nothing") {
    Tensor x = randn({100'000}, float64).set_requires_grad();
    const std::size_t before = live();
    {
        const Tensor y = sum(exp(tanh(x * x)));
        CHECK(live() > before);
    }
    CHECK(live() == before);
    BufferPool::instance().reset_peak();
    Tensor y = x;
    for (int i = 0; i < 20; ++i) y = tanh(y);
    const std::size_t forward = live();
    sum(y).backward();
    CHECK(BufferPool::instance().statistics().peak_bytes < forward + 5 * 8 * 100'000);
    y = Tensor();
    x.zero_grad();
    CHECK(live() == before);
}

TEST_CASE("backward may run on another thread, and several at once") {
    Tensor x = leaf({2});
    const Tensor y = x * x;
    std::thread([&] { backward(y); }).join();
    expect_values(x.grad(), {4});

    const Tensor shared = from_vector<double>(std::vector<double>(50'000, 1.5));
    std::vector<std::thread> threads;
    std::vector<double> results(4);
    for (std::size_t id = 0; id < results.size(); ++id)
        threads.emplace_back([&, id] {
            for (int repeat = 0; repeat < 10; ++repeat) {
                Tensor w = full(shared.shape(), static_cast<double>(id), float64).set_requires_grad();
                sum(w * w * shared).backward();
                results[id] = w.grad().data<double>()[49'999];
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t id = 0; id < results.size(); ++id) CHECK(results[id] == 3.0 * static_cast<double>(id));
}

TEST_CASE("a leaf that only one of two branches reaches gets that one's gradient alone") {
    Tensor x = leaf({1}), unused = leaf({1});
    const Tensor side = unused * 2;
    backward(x * 3);
    CHECK_FALSE(unused.grad().defined());
    expect_values(x.grad(), {3});
    backward(side);
    expect_values(unused.grad(), {2});
}
