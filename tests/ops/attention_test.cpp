#include <gflow/core/random.hpp>
#include <gflow/ops/attention.hpp>
#include <gflow/ops/attention_reference.hpp>
#include <gflow/ops/slice.hpp>

#include <cmath>
#include <numeric>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

using Lengths = std::vector<Index>;

Index sum_of(const Lengths& lengths) { return std::accumulate(lengths.begin(), lengths.end(), Index{0}); }
Tensor random_qkv(const Lengths& lengths, Index d, DType dtype = float64) {
    return randn({sum_of(lengths), 3 * d}, dtype);
}

auto within(const Lengths& lengths, Index heads) {
    return [=](const Tensor& qkv) { return attention(qkv, lengths, {.heads = heads}); };
}

/// softmax(q·kᵀ/√n)·v within each sequence, by its definition.  qkv: [tokens, 3·d]
Tensor plain(const Tensor& qkv, const Lengths& lengths, Index heads) {
    const Index d = qkv.size(1) / 3, n = d / heads;
    Tensor out = zeros({qkv.size(0), d}, float64);
    const double* in = qkv.data<double>();
    double* to = out.mutable_data<double>();
    Index begin = 0;
    for (const Index length : lengths) {
        for (Index head = 0; head < heads; ++head)
            for (Index t = begin; t < begin + length; ++t) {
                const auto at = [&](Index row, Index part, Index i) {
                    return in[row * 3 * d + part * d + head * n + i];
                };
                std::vector<double> weights;
                for (Index s = begin; s < begin + length; ++s) {
                    double score = 0;
                    for (Index i = 0; i < n; ++i) score += at(t, 0, i) * at(s, 1, i);
                    weights.push_back(std::exp(score / std::sqrt(static_cast<double>(n))));
                }
                const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
                for (Index s = 0; s < length; ++s)
                    for (Index i = 0; i < n; ++i)
                        to[t * d + head * n + i] += weights[static_cast<std::size_t>(s)] / all * at(begin + s, 2, i);
            }
        begin += length;
    }
    return out;
}

/// Value and gradient for a fixed cotangent.
std::vector<Tensor> value_and_gradient(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
    Tensor leaf = clone(x.detach());
    leaf.set_requires_grad();
    const Tensor value = f(leaf);
    Generator fixed(3);
    backward(value, randn(value.shape(), value.dtype(), 1, fixed));
    return {value.detach(), leaf.grad()};
}

}  // namespace

TEST_CASE("attention: values and gradients") {
    for (const Index heads : {1, 2})
        for (const Lengths& lengths : {Lengths{1}, {2, 1, 3}, {0, 4, 0, 0, 1}, {5}, {3, 9, 2}}) {
            const Tensor qkv = random_qkv(lengths, 4);
            expect_close(attention(qkv, lengths, {.heads = heads}), plain(qkv, lengths, heads), {1e-12, 1e-12});
            expect_grad(within(lengths, heads), qkv);
        }
    expect_grad(within({129, 2}, 1), random_qkv({129, 2}, 1));  // more than one tile of queries
}

TEST_CASE("attention is the reference that basic ops make, around the edges of tiles") {
    for (const Lengths& lengths : {Lengths{20, 1, 0, 31}, {127, 128, 129}, {511, 3, 512}, {513, 64, 1100}}) {
        INFO("first length " << lengths[0]);
        const Tensor qkv = random_qkv(lengths, 6);
        const auto actual = value_and_gradient(within(lengths, 2), qkv);
        const auto expected =
            value_and_gradient([&](const Tensor& x) { return attention_reference(x, lengths, {.heads = 2}); }, qkv);
        expect_close(actual[0], expected[0], {1e-12, 1e-12});
        expect_close(actual[1], expected[1], {1e-11, 1e-11});
    }
}

TEST_CASE("attention agrees with PyTorch") {
    expect_golden("attention", [](const Tensor& qkv) { return attention(qkv, {5, 1, 3}, {.heads = 2}); });
}

TEST_CASE("attention: a sequence is the same alone and among others, and NaN stays in its own") {
    const Lengths lengths{7, 1, 40, 130};
    Tensor qkv = random_qkv(lengths, 8, float32);
    const Tensor all = attention(qkv, lengths, {.heads = 2});
    Index begin = 0;
    for (const Index length : lengths) {
        const Tensor alone = attention(clone(slice(qkv, 0, begin, begin + length)), {length}, {.heads = 2});
        expect_same_bits(clone(slice(all, 0, begin, begin + length)), alone);
        begin += length;
    }
    qkv.mutable_data<float>()[7 * 24] = std::numeric_limits<float>::quiet_NaN();  // the one token of the second
    const auto broken = value_and_gradient(within(lengths, 2), qkv);
    for (const Tensor& x : broken) {
        const Index width = x.size(1);
        REQUIRE(std::isnan(x.data<float>()[7 * width]));
        for (Index i = 0; i < x.numel(); ++i)
            if (i / width != 7) REQUIRE(std::isfinite(x.data<float>()[i]));
    }
    expect_same_bits(clone(slice(broken[0], 0, 8, 178)), clone(slice(all, 0, 8, 178)));
}

TEST_CASE("attention: the order of the other tokens does not matter, the token itself does") {
    const Tensor qkv = random_qkv({3}, 4);
    const Tensor rows[] = {slice(qkv, 0, 0, 1), slice(qkv, 0, 1, 2), slice(qkv, 0, 2, 3)};
    const Tensor swapped = attention(concat({rows[2], rows[1], rows[0]}, 0), {3}, {.heads = 2});
    const Tensor out = attention(qkv, {3}, {.heads = 2});
    expect_close(slice(swapped, 0, 2, 3), slice(out, 0, 0, 1), {1e-14, 1e-14});
    expect_close(slice(swapped, 0, 1, 2), slice(out, 0, 1, 2), {1e-14, 1e-14});
}

TEST_CASE("attention: dropout keeps the mean and replays its mask in backward") {
    const Lengths lengths{3, 0, 70, 5};
    const auto dropped = [&](const Tensor& qkv) {
        manual_seed(5);
        return attention(qkv, lengths, {.heads = 2, .dropout = 0.4});
    };
    const auto result =
        gradcheck([&](const std::vector<Tensor>& in) { return dropped(in[0]); }, {random_qkv(lengths, 4)});
    INFO(result.message);
    REQUIRE(result.ok);

    // All values are 1, so an output is the sum of the kept weights over 1 − p: 1 on average.
    Tensor qkv = zeros({512, 3});
    for (Index i = 2; i < qkv.numel(); i += 3) qkv.mutable_data<float>()[i] = 1;
    double mean = 0;
    for (const float x : attention(qkv, Lengths(8, 64), {.dropout = 0.4}).to_vector<float>()) mean += x / 512;
    REQUIRE(std::abs(mean - 1) < 0.1);
}

TEST_CASE("attention: dropout takes a word of its own for each weight of each head and sequence") {
    // Without dropout each weight is 1/64 here, so each kept one shows as ±2⁻ⁱ·(1/64)/(1−p) in its value's column.
    const auto kept = [](Index sequence, Index head) {
        Tensor qkv = zeros({128, 3 * 128});
        for (Index i = 0; i < 128; ++i) qkv.mutable_data<float>()[i * 384 + 256 + i % 64 + 64 * (head == 1)] = 1;
        manual_seed(2);
        const Tensor out = attention(qkv, {64, 64}, {.heads = 2, .dropout = 0.5});
        const Tensor rows = slice(out, 0, 64 * sequence, 64 * (sequence + 1));
        return slice(rows, 1, 64 * head, 64 * (head + 1)).to_vector<float>();
    };
    const std::vector<float> masks[] = {kept(0, 0), kept(0, 1), kept(1, 0), kept(1, 1)};
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < i; ++j) {
            int alike = 0;
            for (std::size_t k = 0; k < 4096; ++k) alike += masks[i][k] == masks[j][k];
            INFO("masks " << i << " and " << j);
            REQUIRE(std::abs(alike - 2048) < 200);
        }
}

TEST_CASE("attention: large scores do not overflow, size 0 works") {
    expect_close(attention(full({3, 3}, 1e4), {3}), full({3, 1}, 1e4), {1e-1, 1e-5});
    REQUIRE(attention(empty({0, 6}), {}).shape() == Shape{0, 2});
    REQUIRE(attention(empty({0, 6}), {0, 0}).shape() == Shape{0, 2});
    REQUIRE(value_and_gradient(within({0}, 1), empty({0, 6}))[1].shape() == Shape{0, 6});
    REQUIRE(attention(empty({4, 0}), {4}).shape() == Shape{4, 0});
}

TEST_CASE("attention never holds length × length weights") {
    const Index heads = 2, length = 2048;
    const Tensor qkv = randn({length, 3 * 16}).set_requires_grad();
    BufferPool::instance().reset_peak();
    const std::size_t before = BufferPool::instance().statistics().live_bytes;
    backward(attention(qkv, {length}, {.heads = heads}), full({length, 16}, 1));
    const std::size_t used = BufferPool::instance().statistics().peak_bytes - before;
    REQUIRE(used < static_cast<std::size_t>(heads * length * length) * sizeof(float));
}

TEST_CASE("attention has the same bits on any number of threads") {
    expect_same_on_any_thread_count(within({80, 3, 200, 1}, 4), random_qkv({80, 3, 200, 1}, 48));
}

TEST_CASE("attention names what does not fit") {
    REQUIRE_THROWS_WITH(attention(zeros({4, 7}), {4}), contains("qkv=float32 [4, 7]"));
    REQUIRE_THROWS_WITH(attention(zeros({4, 12}), {4}, {.heads = 3}), contains("width=4, heads=3"));
    REQUIRE_THROWS_WITH(attention(zeros({4, 12}), {1, 2}), contains("sum of the lengths=3, rows=4"));
    REQUIRE_THROWS_WITH(attention(zeros({4, 12}), {2, 3}), contains("length=3, rows before it=2, rows=4"));
    REQUIRE_THROWS_AS(attention(zeros({4, 12}), {5, -1}), shape_error);
    REQUIRE_THROWS_AS(attention(zeros({4, 12}), {4}, {.dropout = 1}), usage_error);
    REQUIRE_THROWS_AS(attention(zeros({1, 4, 12}), {4}), shape_error);
    REQUIRE_THROWS_AS(attention(zeros({4, 12}, int64), {4}), dtype_error);
}
