#include <gflow/core/random.hpp>
#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/causal_attention.hpp>
#include <gflow/ops/concat.hpp>
#include <gflow/ops/matmul.hpp>
#include <gflow/ops/slice.hpp>
#include <gflow/ops/softmax.hpp>
#include <gflow/ops/transpose.hpp>
#include <gflow/ops/where.hpp>

#include <cmath>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

auto attention(Index heads) {
    return [=](const Tensor& qkv) { return causal_attention(qkv, {.heads = heads}); };
}

/// softmax(q·kᵀ/√h, causal)·v by its definition.
Tensor plain_attention(const Tensor& qkv, Index heads) {
    const Index batch = qkv.size(0), length = qkv.size(1), d = qkv.size(2) / 3, h = d / heads;
    Tensor out = zeros({batch, length, d}, float64);
    const double* in = qkv.data<double>();
    const auto at = [&](Index b, Index t, Index part, Index head, Index i) {
        return in[(b * length + t) * 3 * d + part * d + head * h + i];
    };
    for (Index b = 0; b < batch; ++b)
        for (Index head = 0; head < heads; ++head)
            for (Index t = 0; t < length; ++t) {
                std::vector<double> weight;
                double sum = 0;
                for (Index s = 0; s <= t; ++s) {
                    double score = 0;
                    for (Index i = 0; i < h; ++i) score += at(b, t, 0, head, i) * at(b, s, 1, head, i);
                    weight.push_back(std::exp(score / std::sqrt(static_cast<double>(h))));
                    sum += weight.back();
                }
                for (Index s = 0; s <= t; ++s)
                    for (Index i = 0; i < h; ++i)
                        out.mutable_data<double>()[(b * length + t) * d + head * h + i] +=
                            weight[static_cast<std::size_t>(s)] / sum * at(b, s, 2, head, i);
            }
    return out;
}

/// The same, composed of other ops; each weight is multiplied by its element of `kept`: [batch, heads, length, length].
Tensor composed_attention(const Tensor& qkv, Index heads, const Tensor& kept) {
    const Index batch = qkv.size(0), length = qkv.size(1), d = qkv.size(2) / 3, h = d / heads;
    const auto part = [&](Index i) {
        return transpose(reshape(slice(qkv, 2, i * d, (i + 1) * d), {batch, length, heads, h}), 1, 2);
    };
    Tensor seen = zeros({length, length}, uint8);
    for (Index t = 0; t < length; ++t)
        for (Index s = 0; s <= t; ++s) seen.mutable_data<std::uint8_t>()[t * length + s] = 1;
    const Tensor scores = matmul(part(0), part(1), {.transpose_b = true}) * (1 / std::sqrt(static_cast<double>(h)));
    const Tensor weights =
        softmax(where(seen, scores, full(scores.shape(), -std::numeric_limits<double>::infinity(), float64)));
    return reshape(transpose(matmul(weights * kept, part(2)), 1, 2), {batch, length, d});
}

/// 1/(1−p) where the word of the weight's place in [batch, heads, length, length] is at least p, else 0.
Tensor kept_weights(const Shape& shape, double p, const RandomCall& random) {
    Tensor kept = zeros(shape, float64);
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(kept.numel()); ++i)
        if (uniform(random.block(i / 4)[i % 4]) >= static_cast<float>(p)) kept.mutable_data<double>()[i] = 1 / (1 - p);
    return kept;
}

struct ValueAndGradient {
    Tensor value, gradient;
};
template <class F>
ValueAndGradient value_and_gradient(F f, const Tensor& x, const Tensor& d_value) {
    Tensor leaf = clone(x.detach());
    leaf.set_requires_grad();
    const Tensor value = f(leaf);
    backward(value, d_value);
    return {value.detach(), leaf.grad()};
}
template <class F, class G>
void expect_same_op(F f, G reference, const Tensor& qkv) {
    const Tensor d_out = randn({qkv.size(0), qkv.size(1), qkv.size(2) / 3}, float64);
    const ValueAndGradient actual = value_and_gradient(f, qkv, d_out),
                           expected = value_and_gradient(reference, qkv, d_out);
    expect_close(actual.value, expected.value, {1e-12, 1e-12});
    expect_close(actual.gradient, expected.gradient, {1e-11, 1e-11});
}

}  // namespace

TEST_CASE("causal attention: values and gradients") {
    for (const Index heads : {1, 2})
        for (const Index length : {1, 2, 5, 67}) {  // 67: more than one tile of queries
            const Tensor qkv = randn({2, length, 3 * 4}, float64);
            expect_close(causal_attention(qkv, {.heads = heads}), plain_attention(qkv, heads), {1e-12, 1e-12});
            if (length < 10) expect_grad(attention(heads), qkv);
        }
    expect_grad(attention(1), randn({1, 67, 6}, float64));
    expect_grad(attention(1), randn({1, 193, 3}, float64));  // several tiles of queries and of keys
}

TEST_CASE("causal attention: lengths around the edges of tiles") {
    for (const Index length : {1, 63, 64, 65, 127, 128, 129, 200, 385, 1025, 1300}) {
        INFO("length " << length);
        const Index batch = length < 1000 ? 2 : 1;
        const Tensor all = full({batch, 2, length, length}, 1, float64);
        expect_same_op(
            attention(2), [&](const Tensor& x) { return composed_attention(x, 2, all); },
            randn({batch, length, 3 * 6}, float64));
    }
}

TEST_CASE("causal attention agrees with PyTorch") {
    expect_golden("causal_attention", [](const Tensor& q, const Tensor& k, const Tensor& v) {
        return causal_attention(concat({q, k, v}, -1), {.heads = 2});
    });
}

TEST_CASE("causal attention: what comes later changes nothing, to the bit") {
    const Tensor qkv = randn({1, 130, 24});
    const Tensor before = causal_attention(qkv, {.heads = 2});
    for (const Index changed : {0, 1, 63, 64, 65, 129}) {
        Tensor other = clone(qkv);
        for (Index i = 0; i < 24; ++i) other.mutable_data<float>()[changed * 24 + i] += 1;
        const Tensor after = causal_attention(other, {.heads = 2});
        expect_same_bits(clone(slice(after, 1, 0, changed)), clone(slice(before, 1, 0, changed)));
        REQUIRE(after.data<float>()[changed * 8] != before.data<float>()[changed * 8]);
    }
}

TEST_CASE("causal attention: dropout keeps the mean and replays its mask in backward") {
    const auto dropped = [](const Tensor& qkv) {
        manual_seed(5);
        return causal_attention(qkv, {.heads = 2, .dropout = 0.4});
    };
    const auto result =
        gradcheck([&](const std::vector<Tensor>& in) { return dropped(in[0]); }, {randn({1, 70, 12}, float64)});
    INFO(result.message);
    REQUIRE(result.ok);

    // All values are 1, so an output is the sum of the kept weights over 1 − p: 1 on average.
    Tensor qkv = zeros({8, 64, 3});
    for (Index i = 2; i < qkv.numel(); i += 3) qkv.mutable_data<float>()[i] = 1;
    const Tensor out = dropped(concat({qkv, qkv}, -1));
    REQUIRE(out.numel() > 0);
    manual_seed(5);
    const Tensor once = causal_attention(qkv, {.dropout = 0.4});
    double mean = 0;
    for (const float x : once.to_vector<float>()) mean += x / static_cast<double>(once.numel());
    REQUIRE(std::abs(mean - 1) < 0.1);
}

TEST_CASE("causal attention: dropout takes the word of each weight's place") {
    for (const Index length : {5, 64, 66, 131, 259}) {  // rows of weights that begin anywhere in a block of four words
        INFO("length " << length);
        manual_seed(9);
        const RandomCall random = Generator(9).next_call();
        const Tensor kept = kept_weights({2, 2, length, length}, 0.1, random);
        const Tensor qkv = randn({2, length, 3 * 4}, float64);
        const auto dropped = [](const Tensor& x) {
            manual_seed(9);
            return causal_attention(x, {.heads = 2, .dropout = 0.1});
        };
        expect_same_op(
            dropped, [&](const Tensor& x) { return composed_attention(x, 2, kept); }, qkv);
    }
}

TEST_CASE("causal attention: scores of −∞ weigh nothing, whole tiles of them too") {
    const Index length = 400, ruled_out = 300;
    Tensor qkv = randn({1, length, 3}), rest = clone(slice(qkv, 1, ruled_out, length));
    for (Index i = 0; i < length; ++i) qkv.mutable_data<float>()[3 * i] = 1;
    for (Index i = 0; i < length - ruled_out; ++i) rest.mutable_data<float>()[3 * i] = 1;
    for (Index i = 0; i < ruled_out; ++i)
        qkv.mutable_data<float>()[3 * i + 1] = -std::numeric_limits<float>::infinity();
    const Tensor out = causal_attention(qkv, {});
    for (Index i = 0; i < ruled_out; ++i) REQUIRE(std::isnan(out.data<float>()[i]));  // it sees nothing
    expect_close(clone(slice(out, 1, ruled_out, length)), causal_attention(rest, {}));

    // A score that is NaN stays visible, whatever else is −∞ or comes later.
    qkv.mutable_data<float>()[1] = std::numeric_limits<float>::quiet_NaN();
    for (const float x : causal_attention(qkv, {}).to_vector<float>()) REQUIRE(std::isnan(x));
}

TEST_CASE("causal attention: large scores do not overflow, NaN stays visible, size 0 works") {
    Tensor large = full({1, 3, 3}, 1e4);
    expect_close(causal_attention(large, {}), full({1, 3, 1}, 1e4), {1e-1, 1e-5});
    Tensor broken = ones({1, 4, 3});
    broken.mutable_data<float>()[3 * 2] = std::numeric_limits<float>::quiet_NaN();
    const Tensor out = causal_attention(broken, {});
    REQUIRE(out.data<float>()[1] == 1.0F);
    REQUIRE(std::isnan(out.data<float>()[2]));
    REQUIRE(causal_attention(empty({0, 4, 6}), {}).shape() == Shape{0, 4, 2});
    REQUIRE(causal_attention(empty({2, 0, 6}), {}).shape() == Shape{2, 0, 2});
}

TEST_CASE("causal attention never holds length × length weights") {
    const Index batch = 2, heads = 2, length = 1024;
    const Tensor qkv = randn({batch, length, 3 * 16}).set_requires_grad();
    BufferPool::instance().reset_peak();
    const std::size_t before = BufferPool::instance().statistics().live_bytes;
    const Tensor out = causal_attention(qkv, {.heads = heads});
    backward(out, full(out.shape(), 1));
    const std::size_t used = BufferPool::instance().statistics().peak_bytes - before;
    REQUIRE(used < static_cast<std::size_t>(batch * heads * length * length) * sizeof(float));
}

TEST_CASE("causal attention has the same bits on any number of threads") {
    expect_same_on_any_thread_count(attention(4), randn({3, 80, 48}, float64));
    const Tensor qkv = randn({1, 2500, 3 * 16}), d_out = randn({1, 2500, 16});  // one head, in several blocks
    const auto dropped = [](const Tensor& x) {
        manual_seed(3);
        return causal_attention(x, {.dropout = 0.1});
    };
    const int before = num_threads();
    set_num_threads(1);
    const ValueAndGradient one = value_and_gradient(dropped, qkv, d_out);
    for (const int threads : {2, 3}) {
        set_num_threads(threads);
        const ValueAndGradient several = value_and_gradient(dropped, qkv, d_out);
        expect_same_bits(several.value, one.value);
        expect_same_bits(several.gradient, one.gradient);
    }
    set_num_threads(before);
}

TEST_CASE("causal attention names what does not fit") {
    REQUIRE_THROWS_WITH(causal_attention(zeros({2, 4, 7}), {}), Catch::Contains("qkv=float32 [2, 4, 7]"));
    REQUIRE_THROWS_WITH(causal_attention(zeros({2, 4, 12}), {.heads = 3}), Catch::Contains("heads=3"));
    REQUIRE_THROWS_AS(causal_attention(zeros({2, 4, 12}), {.dropout = 1}), usage_error);
    REQUIRE_THROWS_AS(causal_attention(zeros({4, 12}), {}), shape_error);
}
