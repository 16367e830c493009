#include <gflow/autograd/grad_mode.hpp>
#include <gflow/ops/arithmetic.hpp>

#include <thread>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

TEST_CASE("recording is on, off inside NoGrad, and as before after it") {
    Tensor x = ones({2}).set_requires_grad();
    CHECK(is_grad_enabled());
    {
        const NoGrad outer;
        CHECK_FALSE(is_grad_enabled());
        CHECK_FALSE((x * 2).requires_grad());
        {
            const GradMode inner(true);
            CHECK((x * 2).requires_grad());
        }
        CHECK_FALSE(is_grad_enabled());
    }
    CHECK(is_grad_enabled());
    CHECK((x * 2).requires_grad());
    try {
        const NoGrad scope;
        throw 1;
    } catch (int) {
    }
    CHECK(is_grad_enabled());
}

TEST_CASE("each thread has its own mode") {
    const NoGrad here;
    bool there = false;
    std::thread([&] { there = is_grad_enabled(); }).join();
    CHECK(there);
}

TEST_CASE("NoGrad leaves nothing behind: no node, no saved tensor") {
    Tensor x = randn({1000}).set_requires_grad();
    const NoGrad scope;
    const std::size_t before = BufferPool::instance().statistics().live_bytes;
    Tensor y = x;
    for (int i = 0; i < 100; ++i) y = y * x;
    CHECK(BufferPool::instance().statistics().live_bytes - before <= 2 * BufferPool::class_size(4000));
    CHECK(y.is_leaf());
}

TEST_CASE("detach cuts the graph and shares the memory") {
    Tensor x = ones({2}).set_requires_grad();
    const Tensor y = x * 3;
    CHECK_FALSE(y.detach().requires_grad());
    CHECK(y.detach().raw() == y.raw());
    backward(x * y.detach(), ones({2}));
    expect_values(x.grad(), {3, 3});
}
