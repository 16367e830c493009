#include <gflow/models/grassmann_lm.hpp>
#include <gflow/models/transformer_lm.hpp>

#include <functional>

#include "support/tensor_checks.hpp"

using namespace gflow;
using namespace gflow::test;

namespace {

constexpr Index vocab = 23, longest = 10;

TransformerLMOptions tiny_transformer() {
    return {.vocab_size = vocab, .max_length = longest, .d_model = 8, .layers = 2, .d_ff = 12, .heads = 2};
}
GrassmannLMOptions tiny_grassmann() {
    return {.vocab_size = vocab,
            .max_length = longest,
            .d_model = 8,
            .layers = 2,
            .d_ff = 12,
            .rank = 4,
            .offsets = {{1}, {3}}};
}

/// Every configuration whose choices change how positions meet.
std::vector<std::pair<std::string, std::unique_ptr<LanguageModel>>> all_models() {
    std::vector<std::pair<std::string, std::unique_ptr<LanguageModel>>> models;
    const auto grassmann = [&](const std::string& name, const std::function<void(GrassmannLMOptions&)>& change) {
        GrassmannLMOptions o = tiny_grassmann();
        o.init_std = 0.3;
        change(o);
        models.emplace_back("grassmann, " + name, std::make_unique<GrassmannLM>(o));
        models.back().second->eval();
    };
    grassmann("paper", [](auto&) {});
    grassmann("all offsets", [](auto& o) { o.offsets = {{1, 2, 4, 4}, {1, 2, 4}}; });
    grassmann("two heads", [](auto& o) { o.heads = 2; });
    grassmann("sum, not normalised", [](auto& o) {
        o.aggregate = Aggregate::sum;
        o.normalize = Normalize::none;
    });
    grassmann("learned weights", [](auto& o) {
        o.offset_weights = nn::OffsetWeights::learned;
        o.offsets = {{1, 3, 2}, {2, 5}};
    });
    grassmann("token weights", [](auto& o) {
        o.offset_weights = nn::OffsetWeights::token;
        o.offsets = {{1, 3, 2}, {2, 5}};
    });
    grassmann("pre-norm, linear output", [](auto& o) {
        o.norm = NormPlacement::pre;
        o.mixer_output = nn::MixerOutput::linear;
    });
    grassmann("mlp, untied, no final norm", [](auto& o) {
        o.mixer_output = nn::MixerOutput::mlp;
        o.tie_embedding = o.final_norm = false;
    });
    for (const NormPlacement norm : {NormPlacement::post, NormPlacement::pre}) {
        TransformerLMOptions o = tiny_transformer();
        o.init_std = 0.3;
        o.norm = norm;
        models.emplace_back(norm == NormPlacement::post ? "transformer, post" : "transformer, pre",
                            std::make_unique<TransformerLM>(o));
        models.back().second->eval();
    }
    return models;
}

Tensor some_ids(Index batch, Index length) {
    std::vector<Index> ids;
    for (Index i = 0; i < batch * length; ++i) ids.push_back((i * i + 3 * i + 1) % vocab);
    return from_vector(ids, {batch, length});
}

}  // namespace

TEST_CASE("parameter counts are those of the paper's text, to the digit") {
    const auto grassmann = [](GrassmannLMOptions o) { return GrassmannLM(o).parameter_count(); };
    CHECK(TransformerLM(TransformerLM::paper_6()).parameter_count() == 12'585'472);
    CHECK(grassmann(GrassmannLM::paper_6()) == 12'607'168);
    CHECK(TransformerLM(TransformerLM::paper_12()).parameter_count() == 17'356'800);
    CHECK(grassmann(GrassmannLM::paper_12()) == 17'400'192);

    // The published 13.00 and 18.16 million hold one more biased 256×256 map per layer.
    for (const nn::MixerOutput extra : {nn::MixerOutput::linear, nn::MixerOutput::mlp}) {
        GrassmannLMOptions six = GrassmannLM::paper_6(), twelve = GrassmannLM::paper_12();
        six.mixer_output = twelve.mixer_output = extra;
        CHECK(grassmann(six) == 13'001'920);
        CHECK(grassmann(twelve) == 18'189'696);
        twelve.max_length = 128;
        CHECK(grassmann(twelve) == 18'156'928);
    }
    GrassmannLMOptions short_grassmann = GrassmannLM::paper_12();
    TransformerLMOptions short_transformer = TransformerLM::paper_12();
    short_grassmann.max_length = short_transformer.max_length = 128;
    CHECK(grassmann(short_grassmann) == 17'367'424);
    CHECK(TransformerLM(short_transformer).parameter_count() == 17'324'032);
}

TEST_CASE("no logit depends on a later token: changing it leaves them bit-identical") {
    for (const auto& [name, model] : all_models()) {
        INFO(name);
        const Tensor ids = some_ids(1, longest);
        const Tensor before = model->logits(ids);
        for (Index s = 0; s < longest; ++s) {
            Tensor changed = clone(ids);
            changed.mutable_data<Index>()[s] = (changed.data<Index>()[s] + 1) % vocab;
            const Tensor after = model->logits(changed);
            INFO("token " << s);
            expect_same_bits(clone(slice(after, 1, 0, s)), clone(slice(before, 1, 0, s)));
            REQUIRE(after.data<float>()[s * vocab] != before.data<float>()[s * vocab]);
        }
    }
}

TEST_CASE("a later token does depend on an earlier one, as far as the offsets reach") {
    GrassmannLMOptions o = tiny_grassmann();  // offsets 1, then 3: position 4 sees 0 … 1 and 3 … 4
    o.init_std = 0.3;
    GrassmannLM model(o);
    model.eval();
    const Tensor ids = some_ids(1, longest);
    const Tensor before = model.logits(ids);
    for (const Index s : {0, 1, 2, 3}) {
        Tensor changed = clone(ids);
        changed.mutable_data<Index>()[s] = (changed.data<Index>()[s] + 1) % vocab;
        const Tensor after = model.logits(changed);
        const bool differs = after.data<float>()[4 * vocab] != before.data<float>()[4 * vocab];
        INFO("token " << s);
        REQUIRE(differs == (s != 2));
    }
}

TEST_CASE("decoding token by token gives the logits of the whole forward") {
    for (const auto& [name, model] : all_models()) {
        INFO(name);
        const Tensor ids = some_ids(1, longest);
        const Tensor whole = model->logits(ids);
        const auto decoder = model->decoder();
        for (Index t = 0; t < longest; ++t) {
            const Tensor logits = decoder->step(ids.data<Index>()[t]);
            expect_close(logits, reshape(slice(whole, 1, t, t + 1), {vocab}), {1e-5, 1e-5});
            REQUIRE(decoder->position() == t + 1);
        }
        REQUIRE_THROWS_AS(decoder->step(0), index_error);
    }
    const GrassmannLM model(tiny_grassmann());
    REQUIRE_THROWS_AS(model.decoder()->step(vocab), index_error);
}

TEST_CASE("the loss is the mean cross-entropy of the logits") {
    for (const auto& [name, model] : all_models()) {
        INFO(name);
        const Tensor ids = some_ids(2, 7);
        Tensor targets = clone(ids);
        targets.mutable_data<Index>()[3] = -100;
        expect_close(model->loss(ids, targets), cross_entropy(model->logits(ids), targets), {1e-6, 1e-6});
    }
}

TEST_CASE("recompute gives the same loss and gradients, dropout included") {
    const auto run = [](bool recompute) {
        GrassmannLMOptions o = tiny_grassmann();
        o.recompute = recompute;
        manual_seed(4);
        GrassmannLM model(o);
        const Tensor loss = model.loss(some_ids(2, 8), some_ids(2, 8));
        loss.backward();
        std::vector<Tensor> all{loss.detach()};
        for (const Tensor& parameter : model.parameters()) all.push_back(parameter.grad());
        return all;
    };
    const std::vector<Tensor> kept = run(false), again = run(true);
    for (std::size_t i = 0; i < kept.size(); ++i) expect_close(again[i], kept[i], {1e-7, 1e-6});
}

TEST_CASE("a model has the same bits on any number of threads") {
    const auto run = [](auto make) {
        manual_seed(9);
        auto model = make();
        const Tensor loss = model->loss(some_ids(3, longest), some_ids(3, longest));
        loss.backward();
        std::vector<Tensor> all{loss.detach()};
        for (const Tensor& parameter : model->parameters()) all.push_back(parameter.grad());
        return all;
    };
    const auto on = [&](int threads, auto make) {
        const int before = num_threads();
        set_num_threads(threads);
        auto all = run(make);
        set_num_threads(before);
        return all;
    };
    const auto compare = [&](auto make) {
        const std::vector<Tensor> one = on(1, make), three = on(3, make);
        for (std::size_t i = 0; i < one.size(); ++i) expect_same_bits(three[i], one[i]);
    };
    compare([] { return std::make_unique<GrassmannLM>(tiny_grassmann()); });
    compare([] { return std::make_unique<TransformerLM>(tiny_transformer()); });
}

TEST_CASE("the same seed gives the same weights, another seed others") {
    const auto first_weight = [](std::uint64_t seed) {
        manual_seed(seed);
        return GrassmannLM(tiny_grassmann()).token_embedding.weight.data<float>()[0];
    };
    REQUIRE(first_weight(1) == first_weight(1));
    REQUIRE(first_weight(1) != first_weight(2));
}

TEST_CASE("weights start as N(0, 0.02), biases at 0, the gate's at gate_bias") {
    GrassmannLMOptions o = GrassmannLM::small();
    o.vocab_size = 500;
    o.gate_bias = 2;
    const GrassmannLM model(o);
    for (const auto& [name, x] : model.named_parameters()) {
        INFO(name);
        double sum = 0, squares = 0;
        for (const float value : x.to_vector<float>()) {
            sum += value;
            squares += static_cast<double>(value) * static_cast<double>(value);
        }
        const auto n = static_cast<double>(x.numel());
        if (name.ends_with("gate.bias"))
            REQUIRE(sum == 2 * n);
        else if (name.ends_with("bias"))
            REQUIRE(squares == 0);
        else if (name.find("norm") != std::string::npos)
            REQUIRE(sum == n);
        else
            REQUIRE(std::sqrt(squares / n) == Approx(0.02).epsilon(0.1));
    }
}

TEST_CASE("evaluation mode takes no random numbers, training mode does") {
    GrassmannLM model(tiny_grassmann());
    model.eval();
    const std::uint64_t before = default_generator().state().calls;
    expect_same_bits(model.logits(some_ids(1, 5)), model.logits(some_ids(1, 5)));
    REQUIRE(default_generator().state().calls == before);
    model.train();
    REQUIRE(norm_of(model.logits(some_ids(1, 5)) - model.logits(some_ids(1, 5))) > 0);
}

TEST_CASE("models refuse settings that make no sense") {
    GrassmannLMOptions o = tiny_grassmann();
    o.direction = nn::Direction::lookahead;
    REQUIRE_THROWS_WITH(GrassmannLM(o), Catch::Contains("must not look ahead"));
    o = tiny_grassmann();
    o.layers = 3;
    REQUIRE_THROWS_WITH(GrassmannLM(o), Catch::Contains("layers=3, lists=2"));
    o = tiny_grassmann();
    o.rank = 1;
    REQUIRE_THROWS_AS(GrassmannLM(o), usage_error);
    o = tiny_grassmann();
    o.offsets = {{1}, {0}};
    REQUIRE_THROWS_WITH(GrassmannLM(o), Catch::Contains("offset=0"));
    o.offsets = {{1}, {}};
    REQUIRE_THROWS_WITH(GrassmannLM(o), contains("at least one offset is needed"));
    o.offsets = {{1, longest}, {2}};
    REQUIRE_THROWS_WITH(GrassmannLM(o),
                        contains("gflow::GrassmannLM: an offset must be below max_length, or no position "
                                 "has a partner there; got offset=10, max_length=10"));
    o.offsets = {{1, longest - 1}, {2}};
    REQUIRE_NOTHROW(GrassmannLM(o));
    o.init_std = -0.02;
    REQUIRE_THROWS_AS(GrassmannLM(o), usage_error);
    TransformerLMOptions t = tiny_transformer();
    t.heads = 3;
    REQUIRE_THROWS_AS(TransformerLM(t), usage_error);
    t = tiny_transformer();
    t.vocab_size = 0;
    REQUIRE_THROWS_AS(TransformerLM(t), usage_error);

    const GrassmannLM model(tiny_grassmann());
    REQUIRE_THROWS_WITH(model.logits(zeros({1, longest + 1}, int64)), Catch::Contains("max_length=10"));
    REQUIRE_THROWS_AS(model.logits(full({1, 2}, vocab, int64)), index_error);
    REQUIRE_THROWS_AS(model.logits(zeros({4}, int64)), shape_error);
}
