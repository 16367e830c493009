#include <gflow/train/run_plan.hpp>

#include "support/catch.hpp"

using namespace gflow;
using gflow::test::contains;

namespace {

LmText counting_text(Index tokens) {
    LmText text;
    for (Index i = 0; i < tokens; ++i) text.ids.push_back(static_cast<std::int32_t>(i % 5));
    return text;
}

struct Parts {
    LmSettings settings{};
    LmCorpus corpus{counting_text(329), counting_text(20), counting_text(20)};  // 41 chunks of 8, 11 batches of 4
    TransformerLM model{{.vocab_size = 5, .max_length = 8, .d_model = 8, .layers = 1, .d_ff = 8, .heads = 2}};
    Parts() {
        settings.seq_len = 8, settings.batch = 4;
        settings.min_lr = settings.lr / 10;
    }
    RunPlan plan() { return plan_run(settings, model, corpus); }
};

}  // namespace

TEST_CASE("plan_run: steps as given, or from epochs; one evaluation an epoch") {
    Parts parts;
    parts.settings.steps = 7;
    CHECK((parts.plan().steps == 7 && parts.plan().eval_every == 11 && parts.plan().batches_per_epoch == 11));
    parts.settings.steps = 0;
    parts.settings.epochs = 3;
    CHECK(parts.plan().steps == 33);
    parts.settings.epochs = 0.5;
    CHECK(parts.plan().steps == 6);
    parts.settings.epochs = 1e-6;
    CHECK(parts.plan().steps == 1);
    parts.settings.eval_every = 4;
    CHECK(parts.plan().eval_every == 4);
}

TEST_CASE("plan_run: warm-up is a tenth of the steps, at most 2,000, unless given") {
    Parts parts;
    const auto warmup = [&](Index steps) {
        parts.settings.steps = steps;
        return parts.plan().warmup;
    };
    CHECK(warmup(100) == 10);
    CHECK(warmup(9) == 0);
    CHECK(warmup(1'000'000) == 2000);
    parts.settings.warmup = 50;
    CHECK(warmup(100) == 50);
    CHECK_THROWS_WITH(warmup(49), contains("--warmup 50 must be at most the number of steps, 49"));
}

TEST_CASE("plan_run: minutes are turned into steps by measuring") {
    Parts parts;
    parts.settings.minutes = 0.02;
    const RunPlan plan = parts.plan();
    CHECK(plan.steps >= 1);
    CHECK(plan.warmup == std::min<Index>(plan.steps / 10, 2000));
}

TEST_CASE("trainer_options hand on every setting of a step") {
    Parts parts;
    LmSettings& s = parts.settings;
    s.schedule = "linear", s.lr = 0.5, s.min_lr = 0.25, s.beta1 = 0.1, s.beta2 = 0.2, s.eps = 0.3, s.weight_decay = 0.4;
    s.clip = 7, s.seed = 8;
    const LmTrainerOptions o = trainer_options(s, {.steps = 100, .warmup = 9});
    CHECK((o.length == 8 && o.batch == 4 && o.clip == 7 && o.seed == 8));
    CHECK((o.schedule.decay == Decay::linear && o.schedule.peak == 0.5 && o.schedule.floor == 0.25));
    CHECK((o.schedule.warmup == 9 && o.schedule.steps == 100));
    CHECK((o.adamw.beta1 == 0.1 && o.adamw.beta2 == 0.2 && o.adamw.eps == 0.3 && o.adamw.weight_decay == 0.4));
}
