#include <gflow/train/lm_trainer.hpp>
#include <gflow/train/model_file.hpp>
#include <gflow/train/time_budget.hpp>

#include <limits>

#include "support/catch.hpp"

using namespace gflow;
using gflow::test::Approx;
using gflow::test::contains;

namespace {

LmText cyclic_text(Index tokens) {
    LmText text;
    for (Index i = 0; i < tokens; ++i) text.ids.push_back(static_cast<std::int32_t>((i * 7 + (i / 5) % 3) % 17));
    text.words = tokens / 2;
    text.bytes = 4 * tokens;
    return text;
}

std::unique_ptr<LanguageModel> tiny(const std::string& kind, double dropout = 0.1) {
    manual_seed(3);
    if (kind == "grassmann") {
        GrassmannLMOptions options{.vocab_size = 17,
                                   .max_length = 8,
                                   .d_model = 16,
                                   .layers = 2,
                                   .d_ff = 32,
                                   .rank = 4,
                                   .offsets = {{1}, {2}}};
        options.dropout = dropout;
        return std::make_unique<GrassmannLM>(options);
    }
    TransformerLMOptions options{.vocab_size = 17, .max_length = 8, .d_model = 16, .layers = 2, .d_ff = 32, .heads = 2};
    options.dropout = dropout;
    return std::make_unique<TransformerLM>(options);
}

LmTrainerOptions options(Index steps) {
    LmTrainerOptions o;
    o.length = 8, o.batch = 4;
    o.schedule = {.decay = Decay::cosine, .peak = 1e-2, .floor = 1e-3, .warmup = 3, .steps = steps};
    return o;
}

bool same_weights(const LanguageModel& a, const LanguageModel& b) {
    const TensorMap x = a.state_dict(), y = b.state_dict();
    for (const auto& [name, weight] : x)
        if (weight.to_vector<float>() != y.at(name).to_vector<float>()) return false;
    return x.size() == y.size();
}

}  // namespace

TEST_CASE("LmTrainer lowers the loss and reports each step") {
    for (const char* kind : {"grassmann", "transformer"}) {
        const LmText text = cyclic_text(400);
        const auto model = tiny(kind, 0);
        LmTrainer trainer(*model, text, options(60));
        const StepMetrics first = trainer.step();
        CHECK(first.step == 1);
        CHECK(first.tokens == 32);
        CHECK(first.lr == Approx(1e-2 / 3));
        CHECK(first.loss == Approx(std::log(17.0)).margin(0.2));
        CHECK(first.grad_norm > 0);
        CHECK(first.tokens_per_s > 0);
        StepMetrics m = first;
        while (trainer.step_count() < 60) m = trainer.step();
        CHECK(m.loss < first.loss - 1);
        CHECK(m.lr == Approx(1e-3));
        CHECK(m.tokens == trainer.tokens());
        CHECK(trainer.batches_per_epoch() == 13);  // 49 chunks in batches of 4
        CHECK(trainer.epoch() == Approx(60.0 / 13));
    }
}

TEST_CASE("LmTrainer goes on exactly from a stored state") {
    const LmText text = cyclic_text(200);
    const auto whole = tiny("grassmann"), part = tiny("grassmann");
    default_generator().set_state({9, 0, 0});
    LmTrainer a(*whole, text, options(12));
    for (int i = 0; i < 12; ++i) a.step();

    default_generator().set_state({9, 0, 0});
    TrainingState state;
    TensorMap moments;
    {
        LmTrainer b(*part, text, options(12));
        for (int i = 0; i < 7; ++i) b.step();
        b.store(state);
        for (const auto& [name, x] : b.optimizer().state()) moments.emplace(name, clone(x));
    }
    manual_seed(12345);
    LmTrainer b(*part, text, options(12));
    b.restore(state, moments);
    CHECK(b.step_count() == 7);
    for (int i = 7; i < 12; ++i) b.step();
    CHECK(same_weights(*whole, *part));
    CHECK(a.tokens() == b.tokens());
}

TEST_CASE("LmTrainer stops before an update when the loss is no number") {
    const LmText text = cyclic_text(100);
    const auto model = tiny("transformer"), before = tiny("transformer");
    model->token_embedding.weight.mutable_data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
    LmTrainer trainer(*model, text, options(5));
    CHECK_THROWS_AS(trainer.step(), diverged_error);
    CHECK(trainer.step_count() == 0);
    model->token_embedding.weight.mutable_data<float>()[0] = before->token_embedding.weight.data<float>()[0];
    CHECK(same_weights(*model, *before));
    CHECK_FALSE(model->head_weight().grad().defined());
}

TEST_CASE("LmTrainer refuses chunks that are longer than the model or the text") {
    const auto model = tiny("grassmann");
    const LmText text = cyclic_text(100), few = cyclic_text(8);
    LmTrainerOptions o = options(5);
    CHECK_THROWS_WITH(LmTrainer(*model, few, o), contains("tokens=8"));
    o.length = 9;
    CHECK_THROWS_WITH(LmTrainer(*model, text, o), contains("length=9, max_length=8"));
}

TEST_CASE("measure_run leaves the model and the random numbers as they were") {
    LmCorpus corpus{cyclic_text(300), cyclic_text(60), cyclic_text(60)};
    const auto model = tiny("grassmann"), untouched = tiny("grassmann");
    const Generator::State random = default_generator().state();
    const RunTiming timing = measure_run(*model, corpus, options(1), 4);
    CHECK(same_weights(*model, *untouched));
    CHECK(default_generator().state() == random);
    CHECK((timing.step > 0 && timing.evaluation > 0 && timing.spent >= timing.step));
    for (const Tensor& parameter : model->parameters()) CHECK_FALSE(parameter.grad().defined());
}

TEST_CASE("steps_within fills the time with steps and evaluations") {
    const RunTiming timing{.step = 0.5, .evaluation = 10, .spent = 20};
    CHECK(steps_within(1050, timing, 100) == static_cast<Index>((1050 - 20 - 30) / (0.5 + 0.1)));
    CHECK(steps_within(1, timing, 100) == 1);
}

TEST_CASE("a steady step asks the system for no memory, and leaves none behind") {
    const int before = num_threads();
    set_num_threads(1);  // on more, which of them need room at the same time is a matter of chance
    for (const char* kind : {"grassmann", "transformer"}) {
        INFO(kind);
        const LmText text = cyclic_text(4000);
        const auto model = tiny(kind);
        LmTrainer trainer(*model, text, options(20));
        for (int warm = 0; warm < 3; ++warm) trainer.step();
        const PoolStatistics steady = BufferPool::instance().statistics();
        for (int i = 0; i < 10; ++i) trainer.step();
        const PoolStatistics after = BufferPool::instance().statistics();
        REQUIRE(after.system_allocations == steady.system_allocations);
        REQUIRE(after.live_bytes == steady.live_bytes);
    }
    set_num_threads(before);
}

TEST_CASE("in bfloat16 the losses of 200 steps stay within a hundredth of float32's") {
    for (const char* kind : {"grassmann", "transformer"}) {
        INFO(kind);
        const LmText text = cyclic_text(400);
        const auto losses = [&](DType precision) {
            set_float32_matmul_precision(precision);
            const auto model = tiny(kind);
            LmTrainerOptions o = options(200);
            o.schedule.peak = 1e-3;
            LmTrainer trainer(*model, text, o);
            std::vector<double> all;
            for (Index i = 0; i < 200; ++i) all.push_back(trainer.step().loss);
            set_float32_matmul_precision(float32);
            return all;
        };
        const std::vector<double> wide = losses(float32), narrow = losses(bfloat16);
        REQUIRE(wide != narrow);
        REQUIRE(wide.back() < 0.8 * wide.front());
        for (std::size_t i = 0; i < wide.size(); ++i) {
            INFO("step " << i);
            REQUIRE(narrow[i] == Approx(wide[i]).epsilon(0.01));
        }
    }
}
