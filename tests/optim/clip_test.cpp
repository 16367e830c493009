#include <gflow/core/random.hpp>
#include <gflow/ops/clone.hpp>
#include <gflow/optim/clip.hpp>

#include <limits>

#include "support/catch.hpp"

using namespace gflow;
using gflow::test::Approx;
using gflow::test::contains;

namespace {

Tensor with_grad(const Tensor& gradient) {
    Tensor x = zeros_like(gradient);
    x.set_requires_grad();
    x.node()->gradient() = clone(gradient);
    return x;
}

}  // namespace

TEST_CASE("clip_grad_norm takes the norm over all parameters together") {
    const Tensor a = with_grad(from_vector<double>({3, 0})), b = with_grad(from_vector<double>({4}));
    Tensor without = zeros({5}, float64);
    without.set_requires_grad();
    CHECK(clip_grad_norm({a, b, without}, 1) == 5);
    const double scale = 1 / (5 + 1e-6);  // PyTorch's formula
    CHECK(a.grad().data<double>()[0] == 3 * scale);
    CHECK(b.grad().item() == 4 * scale);
    CHECK_FALSE(without.grad().defined());
}

TEST_CASE("clip_grad_norm leaves small gradients alone") {
    const Tensor a = with_grad(from_vector<float>({0.3F, 0.4F}));
    CHECK(clip_grad_norm({a}, 1) == Approx(0.5));
    CHECK(a.grad().to_vector<float>() == std::vector<float>{0.3F, 0.4F});
    CHECK(clip_grad_norm({}, 1) == 0);
}

TEST_CASE("clip_grad_norm: 0 means no limit") {
    const Tensor a = with_grad(from_vector<double>({300}));
    CHECK(clip_grad_norm({a}, 0) == 300);
    CHECK(a.grad().item() == 300);
}

TEST_CASE("clip_grad_norm: a gradient that is not finite is reported, not hidden") {
    const double bad = GENERATE(std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN());
    const Tensor a = with_grad(from_vector<double>({1, bad, 3}));
    CHECK_FALSE(std::isfinite(clip_grad_norm({a}, 1)));
    CHECK(a.grad().data<double>()[0] == 1);
    CHECK_FALSE(std::isfinite(a.grad().data<double>()[1]));
}

TEST_CASE("grad_norm sums in double: float32 squares neither overflow nor drown") {
    CHECK(grad_norm({with_grad(full({4}, 1e30, float32))}) == Approx(2e30));
    CHECK(grad_norm({with_grad(full({4}, 1e-30, float32))}) == Approx(2e-30));
    CHECK(grad_norm({with_grad(full({1 << 24}, 1, float32))}) == 4096);
}

TEST_CASE("grad_norm has the same bits on any number of threads") {
    Generator generator(3);
    std::vector<Tensor> parameters;
    for (const Index n : {0, 1, 1000, 16385, 100003})
        parameters.push_back(with_grad(randn({n}, float32, 1, generator)));
    const int before = num_threads();
    set_num_threads(1);
    const double one = grad_norm(parameters);
    set_num_threads(3);
    CHECK(grad_norm(parameters) == one);
    set_num_threads(before);
}

TEST_CASE("clip_scale refuses a limit below 0") {
    CHECK_THROWS_WITH(clip_scale(1, -1), contains("max_norm=-1"));
    CHECK_THROWS_WITH(clip_scale(1, std::nan("")), contains("max_norm=nan"));
    CHECK(clip_scale(2, 1) == 1 / (2 + 1e-6));
    CHECK(clip_scale(0, 1) == 1);
}
