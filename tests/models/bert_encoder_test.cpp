#include <gflow/core/random.hpp>
#include <gflow/models/bert_encoder.hpp>
#include <gflow/ops/mse_loss.hpp>
#include <gflow/optim/adamw.hpp>

#include "nn/layer_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

constexpr Index words = 17, most_positions = 8;

BertEncoderOptions tiny_bert(DType dtype = float32) {
    return {.vocab_size = words,
            .max_length = most_positions,
            .token_types = 2,
            .d_model = 4,
            .layers = 2,
            .heads = 2,
            .d_ff = 6,
            .pooler = true,
            .init_std = 0.4,
            .dtype = dtype};
}
BertEncoderOptions tiny_distilbert() {
    BertEncoderOptions o = tiny_bert();
    o.token_types = 0;
    o.pooler = false;
    o.mixed_dropout = 0;
    return o;
}

/// [1, 2, 3 … ] modulo the vocabulary.
Tensor counted_ids(Index batch, Index length) {
    std::vector<Index> ids;
    for (Index i = 0; i < batch * length; ++i) ids.push_back((3 * i + 1) % words);
    return from_vector(ids, {batch, length});
}

/// The encoder on a padded batch, then its pooler: a function of the ids alone, for gradients of all weights.
struct PaddedBert : nn::Module {
    BertEncoder encoder;
    Tensor mask = mask_of_lengths({3, 1, 0}, 3),
           types = from_vector(std::vector<Index>{0, 1, 1, 1, 0, 0, 0, 0, 0}, {3, 3});

    explicit PaddedBert(const BertEncoderOptions& o) : encoder(o) { register_module("encoder", encoder); }
    Tensor operator()(const Tensor& ids) const {
        const Tensor states = encoder(ids, mask, types);
        return concat({reshape(states, {-1}), reshape(encoder.pooled(states), {-1})}, 0);
    }
};

}  // namespace

TEST_CASE("BertEncoder has the public numbers of parameters") {
    const nn::NoInitialWeights quick;
    CHECK(BertEncoder(BertEncoder::distilbert_base()).parameter_count() == 66'362'880);
    CHECK(BertEncoder(BertEncoder::bert_base()).parameter_count() == 109'482'240);
}

TEST_CASE("BertEncoder: gradients of every weight, in a padded batch with types and a text of no token") {
    PaddedBert model(tiny_bert(float64));
    model.eval();
    expect_layer_grad(model, counted_ids(3, 3));
}

TEST_CASE("BertEncoder: padding changes nothing") {
    for (const BertEncoderOptions& options : {tiny_bert(), tiny_distilbert()}) {
        BertEncoder encoder(options);
        encoder.eval();
        const std::vector<Index> lengths{5, 1, 0, 8};
        Tensor ids = counted_ids(4, 8);
        for (Index i = 0; i < 32; ++i)
            if (i % 8 >= lengths[static_cast<std::size_t>(i / 8)])
                ids.mutable_data<Index>()[i] = -1;  // never looked at
        const Tensor all = encoder(ids, mask_of_lengths(lengths, 8));
        for (Index text = 0; text < 4; ++text) {
            const Index length = lengths[static_cast<std::size_t>(text)];
            const Tensor row = select(all, 0, text);
            const Tensor alone = encoder(slice(slice(ids, 0, text, text + 1), 1, 0, length));
            expect_close(slice(row, 0, 0, length), select(alone, 0, 0), {1e-6, 1e-6});
            expect_same_bits(clone(slice(row, 0, length, 8)), zeros({8 - length, 4}));
        }
    }
}

TEST_CASE("BertEncoder: a token keeps its position behind padding, and NaN that only padding knows stays there") {
    BertEncoder encoder(tiny_distilbert());
    encoder.eval();
    const Tensor ids = from_vector(std::vector<Index>{0, 0, 3, 5}, {1, 4});
    const Tensor mask = from_vector(std::vector<Index>{0, 0, 1, 1}, {1, 4});
    const Tensor before = encoder(ids, mask);
    Tensor table = encoder.token_embedding.weight.detach(), places = encoder.position_embedding.weight.detach();
    for (Index i = 0; i < 4; ++i)
        table.mutable_data<float>()[i] = places.mutable_data<float>()[i] = std::numeric_limits<float>::quiet_NaN();
    expect_same_bits(encoder(ids, mask), before);
    Tensor moved = from_vector(std::vector<Index>{3, 5}, {1, 2});
    for (Index i = 0; i < 4; ++i) places.mutable_data<float>()[i] = 0;
    REQUIRE(norm_of(select(encoder(moved), 1, 0) - select(before, 1, 2)) > 0);
}

TEST_CASE("BertEncoder: types default to 0, ids may be int32, hidden_states end in the result") {
    BertEncoder encoder(tiny_bert());
    encoder.eval();
    const Tensor ids = counted_ids(2, 5), expected = encoder(ids);
    expect_close(encoder(ids, {}, zeros({2, 5}, int64)), expected, {1e-6, 1e-6});
    expect_same_bits(encoder(to(ids, int32), ones({2, 5}, int32)), expected);
    const std::vector<Tensor> states = encoder.hidden_states(ids);
    REQUIRE(states.size() == 3);
    expect_same_bits(states.back(), expected);
    REQUIRE(norm_of(encoder(ids, {}, ones({2, 5}, int64)) - expected) > 0);
    REQUIRE(encoder.pooled(expected).shape() == Shape{2, 4});
}

TEST_CASE("BertEncoder: batches of nothing") {
    const BertEncoder encoder(tiny_bert());
    REQUIRE(encoder(zeros({0, 3}, int64)).shape() == Shape{0, 3, 4});
    REQUIRE(encoder(zeros({2, 0}, int64)).shape() == Shape{2, 0, 4});
    const Tensor out = encoder(zeros({2, 3}, int64), zeros({2, 3}, int64));
    expect_same_bits(out.detach(), zeros({2, 3, 4}));
}

TEST_CASE("BertEncoder: frozen under NoGrad, and trained without") {
    manual_seed(3);
    BertEncoder encoder(tiny_distilbert());
    const Tensor ids = counted_ids(2, 4);
    {
        const NoGrad plain;
        REQUIRE_FALSE(encoder(ids).requires_grad());
    }
    encoder.eval();
    const Tensor target = randn({2, 4, 4});
    AdamW optimizer(parameters(encoder), {.lr = 1e-2});
    const auto loss_of = [&] { return mse_loss(encoder(ids), target); };
    const double before = loss_of().item();
    for (int step = 0; step < 100; ++step) {
        loss_of().backward();
        optimizer.step();
        optimizer.zero_grad();
    }
    REQUIRE(loss_of().item() < before / 2);
}

TEST_CASE("BertEncoder: dropout acts in training alone") {
    BertEncoder encoder(tiny_bert());
    const Tensor ids = counted_ids(2, 4);
    REQUIRE(norm_of(encoder(ids) - encoder(ids)) > 0);
    encoder.eval();
    const std::uint64_t before = default_generator().state().calls;
    expect_same_bits(encoder(ids), encoder(ids));
    REQUIRE(default_generator().state().calls == before);
}

TEST_CASE("BertEncoder has the same bits on any number of threads") {
    const auto run = [](int threads) {
        const int before = num_threads();
        set_num_threads(threads);
        manual_seed(9);
        BertEncoder encoder(tiny_bert());
        const Tensor out = encoder(counted_ids(40, 8), mask_of_lengths(std::vector<Index>(40, 7), 8));
        backward(out, ones(out.shape()));
        std::vector<Tensor> all{out.detach()};
        for (const Tensor& parameter : encoder.parameters())
            if (parameter.grad().defined()) all.push_back(parameter.grad());
        set_num_threads(before);
        return all;
    };
    const std::vector<Tensor> one = run(1), three = run(3);
    for (std::size_t i = 0; i < one.size(); ++i) expect_same_bits(three[i], one[i]);
}

TEST_CASE("BertEncoder names the id, type or position that it has not, and where it stands") {
    const BertEncoder encoder(tiny_bert());
    Tensor ids = counted_ids(2, 4);
    ids.mutable_data<Index>()[6] = words;
    const auto refuses = [&](const Tensor& id, const Tensor& mask, const Tensor& types, const char* message) {
        REQUIRE_THROWS_WITH(encoder(id, mask, types), contains(message));
    };
    refuses(ids, mask_of_lengths({1, 3}, 4), {}, "one of the vocabulary; got number=17, at=[1, 2], limit=17");
    ids.mutable_data<Index>()[6] = -2;
    refuses(ids, {}, {}, "number=-2, at=[1, 2]");
    refuses(counted_ids(1, 9), {}, {}, "one of the positions; got number=8, at=[0, 8], limit=8");
    REQUIRE(encoder(counted_ids(1, 9), mask_of_lengths({8}, 9)).shape() == Shape{1, 9, 4});  // padding needs none
    refuses(counted_ids(1, 2), {}, full({1, 2}, 2, int64), "one of the token types; got number=2, at=[0, 0], limit=2");
    refuses(counted_ids(1, 2), ones({1, 3}, int64), {}, "mask=[1, 3]");
    refuses(counted_ids(1, 2), full({1, 2}, 3, int64), {}, "element=3");
    refuses(counted_ids(1, 2), {}, zeros({2, 2}, int64), "x=int64 [2, 2]");
    REQUIRE_THROWS_AS(encoder(zeros({4}, int64)), shape_error);
    REQUIRE_THROWS_AS(encoder(zeros({1, 4})), dtype_error);
    REQUIRE_THROWS_WITH(BertEncoder(tiny_distilbert())(counted_ids(1, 2), {}, zeros({1, 2}, int64)),
                        contains("knows no token types"));
    REQUIRE_THROWS_WITH(BertEncoder(tiny_distilbert()).pooled(zeros({1, 2, 4})), contains("no pooler"));
}

TEST_CASE("BertEncoder refuses sizes that make no encoder, and another vocabulary") {
    BertEncoderOptions o = tiny_bert();
    o.heads = 3;
    REQUIRE_THROWS_WITH(BertEncoder(o), contains("d_model=4, heads=3"));
    o = tiny_bert();
    o.vocab_size = 0;
    REQUIRE_THROWS_WITH(BertEncoder(o), contains("vocab_size=0"));
    o = tiny_bert();
    o.token_types = -1;
    REQUIRE_THROWS_AS(BertEncoder(o), usage_error);
    o = tiny_bert();
    o.dropout = 1;
    REQUIRE_THROWS_AS(BertEncoder(o), usage_error);
    const BertEncoder encoder(tiny_bert());
    REQUIRE_NOTHROW(encoder.require_vocabulary(words));
    REQUIRE_THROWS_WITH(encoder.require_vocabulary(30522), contains("tokenizer=30522, weights=17"));
}
