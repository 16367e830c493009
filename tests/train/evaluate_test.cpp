#include <gflow/models/grassmann_lm.hpp>
#include <gflow/models/transformer_lm.hpp>
#include <gflow/train/evaluate.hpp>

#include "support/catch.hpp"

using namespace gflow;
using gflow::test::Approx;

namespace {

LmText text_of(Index tokens) {
    LmText text;
    for (Index i = 0; i < tokens; ++i) text.ids.push_back(static_cast<std::int32_t>((i * i + 3 * i) % 11));
    text.words = 5;
    text.bytes = 100;
    return text;
}

/// −Σ log p of each token but the first, one chunk at a time, from the logits.
double nats_by_hand(const LanguageModel& model, const std::vector<std::int32_t>& ids, Index length) {
    const NoGrad plain;
    double nats = 0;
    for (std::size_t begin = 0; begin + 1 < ids.size(); begin += static_cast<std::size_t>(length)) {
        const std::size_t end = std::min(begin + static_cast<std::size_t>(length), ids.size() - 1);
        const Tensor inputs = from_vector(std::vector<std::int32_t>(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                                                                    ids.begin() + static_cast<std::ptrdiff_t>(end)),
                                          {1, static_cast<Index>(end - begin)});
        const Tensor logits = model.logits(inputs);
        for (std::size_t t = begin; t < end; ++t) {
            const float* row = logits.data<float>() + static_cast<Index>(t - begin) * model.vocab_size();
            double sum = 0;
            for (Index v = 0; v < model.vocab_size(); ++v) sum += std::exp(static_cast<double>(row[v]));
            nats += std::log(sum) - row[ids[t + 1]];
        }
    }
    return nats;
}

}  // namespace

TEST_CASE("evaluate counts each token but the first once, the last, partial chunk included") {
    manual_seed(1);
    GrassmannLM model({.vocab_size = 11,
                       .max_length = 6,
                       .d_model = 8,
                       .layers = 2,
                       .d_ff = 16,
                       .rank = 4,
                       .offsets = {{1}, {2}},
                       .dropout = 0.5,
                       .init_std = 0.5});
    for (const Index tokens : {2, 6, 7, 8, 13, 50}) {
        CAPTURE(tokens);
        const LmText text = text_of(tokens);
        const Evaluation e = *evaluate(model, text, 6, 3);
        CHECK(model.training());  // as before
        model.eval();
        CHECK(e.targets == tokens - 1);
        CHECK(e.nats == Approx(nats_by_hand(model, text.ids, 6)).epsilon(1e-5));
        model.train();
        CHECK(evaluate(model, text, 6, 1)->nats == Approx(e.nats).epsilon(1e-6));
    }
}

TEST_CASE("Evaluation divides by targets, words and bytes") {
    const Evaluation e{.nats = 20, .targets = 10, .words = 4, .bytes = 50};
    CHECK(e.loss() == 2);
    CHECK(e.perplexity() == Approx(std::exp(2.0)));
    CHECK(e.nats_per_word() == 5);
    CHECK(e.bits_per_byte() == Approx(20 / std::log(2.0) / 50));
}

TEST_CASE("evaluate of a model that knows nothing finds the size of the vocabulary") {
    manual_seed(1);
    TransformerLM model(
        {.vocab_size = 11, .max_length = 6, .d_model = 8, .layers = 1, .d_ff = 16, .heads = 2, .init_std = 0});
    CHECK(evaluate(model, text_of(20), 6, 4)->perplexity() == Approx(11).epsilon(1e-5));
}

TEST_CASE("evaluate stops when asked, and leaves nothing recorded") {
    manual_seed(1);
    TransformerLM model({.vocab_size = 11, .max_length = 6, .d_model = 8, .layers = 1, .d_ff = 16, .heads = 2});
    std::vector<double> done;
    const auto stop = [&](double part) {
        done.push_back(part);
        return done.size() == 3;
    };
    CHECK_FALSE(evaluate(model, text_of(50), 6, 1, stop).has_value());
    CHECK(done == std::vector<double>{0, 1.0 / 9, 2.0 / 9});
    CHECK(model.training());
    CHECK_THROWS_AS(evaluate(model, text_of(1), 6, 1), usage_error);
}
