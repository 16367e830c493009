#include <gflow/core/random.hpp>
#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/feed_forward.hpp>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

const auto fused_net = [](const Tensor& x, const Tensor& up, const Tensor& up_bias, const Tensor& down,
                          const Tensor& down_bias) { return feed_forward(x, up, up_bias, down, down_bias); };
const auto unbiased_net = [](const Tensor& x, const Tensor& up, const Tensor& down) {
    return feed_forward(x, up, {}, down, {});
};
const auto composed_net = [](const Tensor& x, const Tensor& up, const Tensor& up_bias, const Tensor& down,
                             const Tensor& down_bias) { return linear(gelu(linear(x, up, up_bias)), down, down_bias); };

/// x of that shape, and the weights and biases of a net that is `hidden` wide and gives `out` numbers.
std::vector<Tensor> net_inputs(const Shape& shape, Index hidden, Index out, DType dtype = float64) {
    return {randn(shape, dtype), randn({hidden, shape.back()}, dtype, 0.3), randn({hidden}, dtype),
            randn({out, hidden}, dtype, 0.3), randn({out}, dtype)};
}

/// Value and gradients of f under a fixed seed.
template <class F>
std::vector<Tensor> net_results(F f, std::vector<Tensor> in) {
    for (Tensor& x : in) x = clone(x).set_requires_grad();
    const Tensor y = f(in[0], in[1], in[2], in[3], in[4]);
    Generator fixed(3);
    backward(y, randn(y.shape(), y.dtype(), 1, fixed));
    return {y.detach(), in[0].grad(), in[1].grad(), in[2].grad(), in[3].grad(), in[4].grad()};
}

/// Measured, not computed: a size class may be larger than the tensor, by slack and by a sanitizer's red zone.
template <class Make>
std::size_t live_bytes_of(const Make& make) {
    const BufferPool& pool = BufferPool::instance();
    const std::size_t before = pool.statistics().live_bytes;
    const Tensor kept = make();
    return pool.statistics().live_bytes - before;
}

}  // namespace

TEST_CASE("feed_forward: values and gradients") {
    for (const Shape& shape : {Shape{3}, {1, 3}, {5, 3}, {2, 4, 3}, {0, 3}}) {
        const auto in = net_inputs(shape, 4, 2);
        expect_grad(fused_net, in[0], in[1], in[2], in[3], in[4]);
        expect_grad(unbiased_net, in[0], in[1], in[3]);
    }
}

TEST_CASE("feed_forward is linear, GELU and linear, over several tiles and blocks, in value and gradients") {
    for (const DType dtype : {float64, float32})
        for (const Index rows : {1, 63, 700}) {
            INFO(rows << " rows, " << name_of(dtype));
            const auto in = net_inputs({rows, 40}, 531, 37, dtype);
            const auto one = net_results(fused_net, in), two = net_results(composed_net, in);
            for (std::size_t i = 0; i < one.size(); ++i)
                expect_close_in_norm("value, dx, dW1, db1, dW2, db2", one[i], two[i], dtype == float64 ? 1e-13 : 3e-6);
        }
}

TEST_CASE("feed_forward of a tensor that is used elsewhere too gathers all its gradients") {
    const auto with_skip = [](const Tensor& x, const Tensor& up, const Tensor& down) {
        return x + feed_forward(x, up, {}, down, {});
    };
    const auto tied = [](const Tensor& x, const Tensor& w, const Tensor& b) { return feed_forward(x, w, b, w, b); };
    const auto in = net_inputs({6, 3}, 5, 3);
    expect_grad(with_skip, in[0], in[1], in[3]);
    expect_grad(tied, in[0], randn({3, 3}, float64), randn({3}, float64));
    expect_grad([](const Tensor& x) { return feed_forward(x, x, {}, x, {}); }, randn({3, 3}, float64));
}

TEST_CASE("feed_forward agrees with PyTorch") {
    // Between identities it is GELU.
    expect_golden("gelu", [](const Tensor& x) {
        const Index n = x.size(-1);
        Tensor identity = zeros({n, n}, x.dtype());
        visit_floating("identity", x.dtype(), [&]<class T>(T) {
            for (Index i = 0; i < n; ++i) write_rows<T>(identity)[i][i] = 1;
        });
        return feed_forward(x, identity, {}, identity, {});
    });
}

TEST_CASE("feed_forward gives the same bits with and without a graph, and the same gradients when it is kept") {
    auto in = net_inputs({70, 12}, 21, 9, float32);
    const Tensor plain = fused_net(in[0], in[1], in[2], in[3], in[4]);
    in[0].set_requires_grad();
    const Tensor y = fused_net(in[0], in[1], in[2], in[3], in[4]), dy = randn(y.shape());
    expect_same_bits(y.detach(), plain);
    backward(y, dy, {.retain_graph = true});
    const Tensor once = clone(in[0].grad());
    in[0].zero_grad();
    backward(y, dy);
    expect_same_bits(in[0].grad(), once);
}

TEST_CASE("feed_forward keeps one tensor of the hidden layer's size for backward, and none without a graph") {
    Tensor x = randn({512, 16});
    const Tensor up = randn({256, 16}), down = randn({8, 256});
    const auto net = [&] { return feed_forward(x, up, {}, down, {}); };
    const std::size_t result = live_bytes_of([] { return zeros({512, 8}); });
    CHECK(live_bytes_of(net) == result);
    x.set_requires_grad();
    CHECK(live_bytes_of(net) == result + live_bytes_of([] { return zeros({512, 256}); }));
}

TEST_CASE("feed_forward shows NaN, and has the limits of GELU") {
    for (const DType dtype : {float32, float64})
        for (const auto& [hidden, expected] : std::vector<std::pair<double, double>>{{not_a_number, not_a_number},
                                                                                     {infinity, infinity},
                                                                                     {-infinity, 0},
                                                                                     {0, 0},
                                                                                     {-1000, 0},
                                                                                     {1000, 1000}}) {
            Tensor x = full({20, 1}, 1, dtype).set_requires_grad();
            const Tensor y = feed_forward(x, full({1, 1}, hidden, dtype), {}, full({1, 1}, 1, dtype), {});
            expect_values(y.detach(), std::vector<double>(20, expected), {1e-30, 0});
        }
}

TEST_CASE("feed_forward has the same bits on any number of threads") {
    const auto in = net_inputs({900, 64}, 600, 50, float32);
    expect_same_on_any_thread_count(fused_net, in[0], in[1], in[2], in[3], in[4]);
}

TEST_CASE("feed_forward names what does not fit") {
    REQUIRE_THROWS_WITH(feed_forward(zeros({2, 3}), zeros({4, 5}), {}, zeros({3, 4}), {}),
                        "gflow::feed_forward: x must end in the weight's input size; got x=float32 [2, 3], "
                        "weight=float32 [4, 5]");
    REQUIRE_THROWS_WITH(feed_forward(zeros({2, 3}), zeros({4, 3}), {}, zeros({3, 5}), {}),
                        "gflow::feed_forward: down_weight must take what up_weight gives; "
                        "got up_weight=float32 [4, 3], down_weight=float32 [3, 5]");
    REQUIRE_THROWS_AS(feed_forward(zeros({2, 3}), zeros({4, 3}), zeros({3}), zeros({3, 4}), {}), shape_error);
    REQUIRE_THROWS_AS(feed_forward(zeros({2, 3}), zeros({4, 3}), {}, zeros({3, 4}), zeros({4})), shape_error);
    REQUIRE_THROWS_AS(feed_forward(zeros({2, 3}), zeros({4, 3}), {}, zeros({3, 4}, float64), {}), dtype_error);
    REQUIRE_THROWS_AS(feed_forward(scalar(1), zeros({4, 1}), {}, zeros({1, 4}), {}), shape_error);
    REQUIRE_THROWS_AS(feed_forward(zeros({2, 3}), zeros({4, 3}), {}, Tensor(), {}), error);
}
