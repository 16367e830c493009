#include "support/tensor_checks.hpp"

#include <gflow/autograd/record.hpp>
#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/reshape.hpp>

// A harness that cannot fail proves nothing: every case tagged [!shouldfail] must fail.

using namespace gflow;
using namespace gflow::test;

namespace {

/// x², whose backward is the given function of x, dy and d.
template <class Backward>
Tensor square(const Tensor& x, Backward backward) {
    Tensor y;
    {
        const NoGrad plain;
        y = x * x;
    }
    return record("square", {x}, y, {x},
                  [backward](const Saved& saved, const Tensor& dy, Gradients& d) { backward(saved[0], dy, d); });
}
const auto right = [](const Tensor& x, const Tensor& dy, Gradients& d) { d.add(0, 2 * x * dy); };

const Tensor x = reshape(to(arange(6), float64) + 1, {2, 3});

}  // namespace

TEST_CASE("a right op passes") {
    expect_grad([](const Tensor& u) { return square(u, right); }, x);
    expect_close(full({2}, 0.1), full({2}, 0.1, float64));
    expect_values(from_vector<float>({static_cast<float>(not_a_number), -static_cast<float>(infinity)}),
                  {not_a_number, -infinity}, exactly);
    expect_same_on_any_thread_count([](const Tensor& u) { return square(u, right); }, randn({50'000}));
}

TEST_CASE("a wrong value fails", "[!shouldfail]") { expect_values(x, {1, 2, 3, 4, 5, 6.0001}); }
TEST_CASE("another shape fails", "[!shouldfail]") { expect_close(x, reshape(x, {3, 2})); }
TEST_CASE("NaN is not a number", "[!shouldfail]") { expect_values(scalar(not_a_number), {0}, {1, 1}); }
TEST_CASE("a number is not NaN", "[!shouldfail]") { expect_values(scalar(0), {not_a_number}, {1, 1}); }
TEST_CASE("∞ is not large", "[!shouldfail]") { expect_values(scalar(infinity), {1e300}, {1, 1}); }
TEST_CASE("NaN is far in norm", "[!shouldfail]") { expect_close_in_norm("x", scalar(not_a_number), scalar(0), 1, 1); }
TEST_CASE("other bits fail", "[!shouldfail]") { expect_same_bits(scalar(0.0), scalar(-0.0)); }
TEST_CASE("a wrong loop fails", "[!shouldfail]") {
    expect_value([](const Tensor& u) { return u * u; }, [](const Tensor& u) { return u; }, x);
}
TEST_CASE("a wrong gradient fails", "[!shouldfail]") {
    expect_grad(
        [](const Tensor& u) {
            return square(u, [](const Tensor& v, const Tensor& dy, Gradients& d) { d.add(0, 2.001 * v * dy); });
        },
        x);
}
TEST_CASE("a gradient that overwrites what came before fails", "[!shouldfail]") {
    expect_grad(
        [](const Tensor& u) {
            return square(u, [](const Tensor& v, const Tensor& dy, Gradients& d) {
                auto target = d.target(0);
                copy_into(target.first, 2 * v * dy);
            });
        },
        x);
}
TEST_CASE("an op that writes to its input fails", "[!shouldfail]") {
    expect_grad(
        [](const Tensor& u) {
            Tensor same = u.detach();
            const Tensor y = u * 2;
            if (u.requires_grad() && is_grad_enabled())
                visit_floating("write", u.dtype(), [&]<class T>(T) { *same.mutable_data<T>() = T(5); });
            return y;
        },
        x);
}
TEST_CASE("an op that is another in float32 fails", "[!shouldfail]") {
    expect_grad([](const Tensor& u) { return u * (u.dtype() == float32 ? 2.001 : 2.0); }, x);
}
TEST_CASE("an op that depends on the number of threads fails", "[!shouldfail]") {
    expect_same_on_any_thread_count([](const Tensor& u) { return u * static_cast<double>(num_threads()); }, x);
}
TEST_CASE("a wrong golden op fails", "[!shouldfail]") {
    expect_golden("neg", [](const Tensor& u) { return u * -1.001; });
}
TEST_CASE("a golden case that is not there fails", "[!shouldfail]") {
    expect_golden("no such op", [](const Tensor& u) { return u; });
}
