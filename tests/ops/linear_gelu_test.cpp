#include <gflow/core/random.hpp>
#include <gflow/ops/gelu.hpp>
#include <gflow/ops/linear_gelu.hpp>

#include <cmath>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

const auto fused_gelu = [](const Tensor& x, const Tensor& w, const Tensor& b) { return linear_gelu(x, w, b); };
const auto unbiased_gelu = [](const Tensor& x, const Tensor& w) { return linear_gelu(x, w); };
const auto composed_gelu = [](const Tensor& x, const Tensor& w, const Tensor& b) { return gelu(linear(x, w, b)); };

/// Value and gradients of f at x, w, b, under a fixed seed.
template <class F>
std::vector<Tensor> run(F f, std::vector<Tensor> in) {
    for (Tensor& x : in) x = clone(x).set_requires_grad();
    const Tensor y = f(in[0], in[1], in[2]);
    Generator fixed(3);
    backward(y, randn(y.shape(), y.dtype(), 1, fixed));
    return {y.detach(), in[0].grad(), in[1].grad(), in[2].grad()};
}

}  // namespace

TEST_CASE("linear_gelu: values and gradients") {
    for (const Shape& shape : {Shape{3}, {1, 3}, {5, 3}, {2, 4, 3}, {0, 3}}) {
        expect_grad(fused_gelu, randn(shape, float64), randn({4, 3}, float64), randn({4}, float64));
        expect_grad(unbiased_gelu, randn(shape, float64), randn({9, 3}, float64));
    }
}

TEST_CASE("linear_gelu is the GELU of linear, over several tiles and blocks, in value and gradients") {
    for (const DType dtype : {float64, float32})
        for (const Index rows : {1, 63, 700}) {
            INFO(rows << " rows, " << name_of(dtype));
            const std::vector<Tensor> in{randn({rows, 40}, dtype), randn({531, 40}, dtype, 0.2), randn({531}, dtype)};
            const std::vector<Tensor> one = run(fused_gelu, in), two = run(composed_gelu, in);
            for (std::size_t i = 0; i < one.size(); ++i)
                expect_close_in_norm("value, dx, dw, db", one[i], two[i], dtype == float64 ? 1e-14 : 1e-6);
        }
}

TEST_CASE("linear_gelu gives the same value with and without a graph") {
    Tensor x = randn({70, 12}), w = randn({21, 12}), b = randn({21});
    const Tensor plain = linear_gelu(x, w, b);
    x.set_requires_grad();
    expect_same_bits(linear_gelu(x, w, b).detach(), plain);
}

TEST_CASE("linear_gelu keeps one tensor of the result's size for backward, and none without a graph") {
    Tensor x = randn({512, 16}), w = randn({256, 16});
    // Measured, not computed: a size class may be larger than the tensor, by slack and by a sanitizer's red zone.
    const auto live_bytes_of = [](const auto& make) {
        const BufferPool& pool = BufferPool::instance();
        const std::size_t before = pool.statistics().live_bytes;
        const Tensor kept = make();
        return pool.statistics().live_bytes - before;
    };
    const std::size_t size = live_bytes_of([] { return zeros({512, 256}); });
    CHECK(live_bytes_of([&] { return linear_gelu(x, w); }) == size);
    x.set_requires_grad();
    CHECK(live_bytes_of([&] { return linear_gelu(x, w); }) == 2 * size);
}

TEST_CASE("linear_gelu shows NaN, and has the limits of GELU") {
    for (const DType dtype : {float32, float64}) {
        Tensor x = full({20, 1}, 1, dtype).set_requires_grad();
        const Tensor w = to(from_vector<double>({not_a_number, infinity, -infinity, 0, -1000, 1000}, {6, 1}), dtype);
        const Tensor y = linear_gelu(x, w);
        std::vector<double> expected;
        for (int row = 0; row < 20; ++row) expected.insert(expected.end(), {not_a_number, infinity, 0, 0, 0, 1000});
        expect_values(y.detach(), expected, {1e-30, 0});
    }
}

TEST_CASE("linear_gelu has the same bits on any number of threads") {
    expect_same_on_any_thread_count(fused_gelu, randn({900, 64}), randn({600, 64}), randn({600}));
}

TEST_CASE("linear_gelu names what does not fit") {
    REQUIRE_THROWS_WITH(linear_gelu(zeros({2, 3}), zeros({4, 5})),
                        "gflow::linear_gelu: x must end in the weight's input size; got x=float32 [2, 3], "
                        "weight=float32 [4, 5]");
    REQUIRE_THROWS_AS(linear_gelu(zeros({2, 3}), zeros({4, 3}), zeros({3})), shape_error);
    REQUIRE_THROWS_AS(linear_gelu(zeros({2, 3}), zeros({4, 3}, float64)), dtype_error);
    REQUIRE_THROWS_AS(linear_gelu(scalar(1), zeros({4, 1})), shape_error);
}
