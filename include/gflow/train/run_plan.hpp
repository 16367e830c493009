#pragma once
#include <gflow/train/resolve_settings.hpp>
#include <gflow/train/time_budget.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace gflow {

/// Steps, warm-up and evaluations once the size of the text (and with --minutes, the speed) is known.
struct RunPlan {
    Index steps = 0, warmup = 0, eval_every = 0, batches_per_epoch = 0;
};

/// The trainer's options for a plan.
inline LmTrainerOptions trainer_options(const LmSettings& s, const RunPlan& plan) {
    LmTrainerOptions options;
    options.length = s.seq_len;
    options.batch = s.batch;
    options.schedule = {parse_decay(s.schedule), s.lr, s.min_lr, plan.warmup, plan.steps};
    options.adamw = {s.lr, s.beta1, s.beta2, s.eps, s.weight_decay};
    options.clip = s.clip;
    options.seed = static_cast<std::uint64_t>(s.seed);
    return options;
}

namespace detail {

inline RunPlan plan_of(const LmSettings& s, Index steps, Index batches_per_epoch) {
    RunPlan plan{steps, s.warmup, s.eval_every, batches_per_epoch};
    if (plan.warmup < 0) plan.warmup = std::min<Index>(steps / 10, 2000);
    if (plan.warmup > steps)
        throw usage_error("--warmup " + std::to_string(plan.warmup) + " must be at most the number of steps, " +
                          std::to_string(steps));
    if (plan.eval_every == 0) plan.eval_every = batches_per_epoch;
    return plan;
}

}  // namespace detail

/// Fixes the number of steps: given, from epochs, or from minutes by measuring the model.
inline RunPlan plan_run(const LmSettings& s, LanguageModel& model, const LmCorpus& corpus) {
    const Index batches = TrainingChunks(corpus.train.ids, s.seq_len, s.batch, 0).batches_per_epoch();
    if (s.steps > 0) return detail::plan_of(s, s.steps, batches);
    if (s.epochs > 0)
        return detail::plan_of(s, std::max<Index>(1, std::llround(s.epochs * static_cast<double>(batches))), batches);
    LmSettings any = s;
    any.warmup = -1;
    const RunTiming timing = measure_run(model, corpus, trainer_options(s, detail::plan_of(any, 1000, batches)));
    return detail::plan_of(s, steps_within(60 * s.minutes, timing, s.eval_every > 0 ? s.eval_every : batches), batches);
}

}  // namespace gflow
