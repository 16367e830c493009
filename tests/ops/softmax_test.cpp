#include <gflow/ops/softmax.hpp>

#include <cmath>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

Tensor plain_softmax(const Tensor& x, bool logarithm) {
    const Index n = x.size(-1);
    Tensor y = empty_like(x);
    for (Index row = 0; n > 0 && row < x.numel() / n; ++row) {
        long double sum = 0;
        for (Index i = 0; i < n; ++i) sum += std::exp(static_cast<long double>(x.data<double>()[row * n + i]));
        for (Index i = 0; i < n; ++i) {
            const long double in = x.data<double>()[row * n + i];
            y.mutable_data<double>()[row * n + i] =
                static_cast<double>(logarithm ? in - std::log(sum) : std::exp(in) / sum);
        }
    }
    return y;
}

/// The gradient at x for a given gradient at y.
Tensor gradient(Tensor (*op)(const Tensor&), const Tensor& x, const Tensor& dy) {
    Tensor leaf = clone(x).set_requires_grad();
    backward(op(leaf), dy);
    return leaf.grad();
}

}  // namespace

TEST_CASE("softmax and log_softmax") {
    for (const bool logarithm : {false, true}) {
        const auto op = logarithm ? log_softmax : softmax;
        const std::string name = logarithm ? "log_softmax" : "softmax";
        DYNAMIC_SECTION(name << ": values and gradients") {
            for (const Shape& shape : {Shape{1}, {1, 1}, {3, 5}, {2, 3, 7}, {2, 40}, {0, 3}, {3, 0}, {3, 2500}}) {
                const Tensor x = randn(shape, float64, 2);
                if (x.numel() < 500) expect_grad(op, x);
                expect_value(
                    op, [&](const Tensor& in) { return plain_softmax(in, logarithm); }, x);
            }
        }
        DYNAMIC_SECTION(name << ": large and far-apart inputs do not overflow") {
            const double gap = 600;
            const std::vector<double> y =
                logarithm ? std::vector<double>{-gap, 0, -2 * gap} : std::vector<double>{0, 1, 0};
            for (const double shift : {0.0, 1e4, -1e4})
                for (const DType dtype : {float32, float64})
                    expect_values(op(to(from_vector<double>({shift, shift + gap, shift - gap}), dtype)), y,
                                  {1e-250, 1e-6});
        }
        DYNAMIC_SECTION(name << ": NaN and +inf make their row NaN, and no other") {
            for (const double bad : {std::nan(""), infinity}) {
                std::vector<double> x(80, 0.0), y(80, std::nan(""));
                x[37] = bad;
                for (std::size_t i = 40; i < 80; ++i) y[i] = logarithm ? -std::log(40.0) : 1 / 40.0;
                for (const DType dtype : {float32, float64}) expect_values(op(to(from_vector(x, {2, 40}), dtype)), y);
            }
        }
        DYNAMIC_SECTION(name << ": NaN among masked elements is not taken for a masked row") {
            for (const DType dtype : {float32, float64}) {
                for (std::size_t at = 0; at < 21; ++at) {
                    std::vector<double> x(21, -infinity);
                    x[at] = std::nan("");
                    expect_values(op(to(from_vector(x), dtype)), std::vector<double>(21, std::nan("")));
                }
            }
        }
        DYNAMIC_SECTION(name << ": any number of threads gives the same bits") {
            expect_same_on_any_thread_count(op, randn({400, 251}));
            expect_same_on_any_thread_count(op, randn({3, 40'000}));
        }
        DYNAMIC_SECTION(name << ": bad input") {
            CHECK_THROWS_AS(op(zeros({})), shape_error);
            CHECK_THROWS_WITH(op(zeros({})), "gflow::" + name + ": at least one axis is needed; got x=float32 []");
            CHECK_THROWS_WITH(op(arange(3)), "gflow::" + name + ": float32 or float64 is needed; got x=int64 [3]");
            CHECK_THROWS_WITH(op(Tensor()), contains("must be defined"));
        }
    }
    SECTION("masked elements are exactly 0 (−inf), in vectors and beside them, and pass no gradient on") {
        for (const DType dtype : {float32, float64}) {
            std::vector<double> masked(37, -infinity), y(37, 0.0), log_y(37, -infinity), dy(37);
            for (const std::size_t i : {3U, 36U}) {
                masked[i] = 1;
                y[i] = 0.5;
                log_y[i] = -std::log(2.0);
            }
            for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = static_cast<double>(i);
            const Tensor x = to(from_vector(masked, {1, 37}), dtype), seed = to(from_vector(dy, {1, 37}), dtype);
            expect_values(softmax(x), y, {0, 1e-6});
            expect_values(log_softmax(x), log_y);
            std::vector<double> dx(37, 0.0);
            dx[3] = 0.25 * (3 - 36);
            dx[36] = -dx[3];
            expect_values(gradient(softmax, x, seed), dx);
        }
    }
    SECTION("a row that is masked throughout gives 0 (−inf), and no gradient") {
        for (const DType dtype : {float32, float64}) {
            std::vector<double> rows(60, -infinity);
            std::fill(rows.begin() + 20, rows.begin() + 40, 2.0);
            const Tensor x = to(from_vector(rows, {3, 20}), dtype), dy = full({3, 20}, 3, dtype);
            std::vector<double> y(60, 0.0), log_y(60, -infinity);
            std::fill(y.begin() + 20, y.begin() + 40, 1 / 20.0);
            std::fill(log_y.begin() + 20, log_y.begin() + 40, -std::log(20.0));
            expect_values(softmax(x), y);
            expect_values(log_softmax(x), log_y);
            expect_values(gradient(softmax, x, dy), std::vector<double>(60, 0.0), {1e-6, 0});
            expect_values(gradient(log_softmax, x, dy), std::vector<double>(60, 0.0), {1e-5, 0});
        }
    }
    SECTION("agrees with PyTorch") {
        expect_golden("softmax", softmax);
        expect_golden("softmax_masked", softmax);
        expect_golden("log_softmax", log_softmax);
    }
}
