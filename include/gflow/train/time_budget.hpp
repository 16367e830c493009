#pragma once
#include <gflow/ops/clone.hpp>
#include <gflow/train/lm_trainer.hpp>

#include <algorithm>
#include <chrono>

namespace gflow {

/// How long the parts of a run take on this machine.
struct RunTiming {
    double step = 0;        ///< seconds of an update
    double evaluation = 0;  ///< seconds of an evaluation on the validation text
    double spent = 0;       ///< seconds that measuring took
};

/// Measures `steps` updates and a part of an evaluation. The model's weights and the random numbers are put back, so
/// that the run afterwards is the same as without.
inline RunTiming measure_run(LanguageModel& model, const LmCorpus& corpus, LmTrainerOptions options, Index steps = 20) {
    using Clock = std::chrono::steady_clock;
    const auto seconds_since = [](Clock::time_point start) {
        return std::chrono::duration<double>(Clock::now() - start).count();
    };
    const Clock::time_point start = Clock::now();
    TensorMap before;
    for (const auto& [name, weight] : model.state_dict()) before.emplace(name, clone(weight));
    const Generator::State random = default_generator().state();

    options.schedule.steps = std::max<Index>(steps, 1000);
    options.schedule.warmup = options.schedule.steps;  // small updates: the loss stays finite
    RunTiming timing;
    {
        LmTrainer trainer(model, corpus.train, options);
        const Index warm = std::min<Index>(3, steps - 1);  // the first steps still fetch memory from the system
        Clock::time_point warm_end = start;
        for (Index i = 0; i < steps; ++i) {
            if (i == warm) warm_end = Clock::now();
            trainer.step();
        }
        timing.step = seconds_since(warm_end) / static_cast<double>(steps - warm);
    }
    // The first batch still fetches memory from the system: it is not timed.
    const auto sample = [&](Index batches) {
        LmText text = corpus.valid;
        const Index tokens =
            std::min<Index>(static_cast<Index>(text.ids.size()), batches * options.batch * options.length + 1);
        text.ids.resize(static_cast<std::size_t>(tokens));
        const Clock::time_point begin = Clock::now();
        evaluate(model, text, options.length, options.batch);
        return seconds_since(begin) / static_cast<double>(tokens);
    };
    sample(1);
    timing.evaluation = sample(8) * static_cast<double>(corpus.valid.ids.size());

    model.load_state_dict(before);
    default_generator().set_state(random);
    timing.spent = seconds_since(start);
    return timing;
}

/// The steps that fit into `seconds`, with an evaluation every `eval_every` steps, one at the end, and two of the test
/// text, which is taken to be as long as the validation text. At least 1.
inline Index steps_within(double seconds, const RunTiming& timing, Index eval_every) {
    const double for_steps = seconds - timing.spent - 3 * timing.evaluation;
    const double per_step = timing.step + timing.evaluation / static_cast<double>(std::max<Index>(eval_every, 1));
    return std::max<Index>(1, static_cast<Index>(for_steps / per_step));
}

}  // namespace gflow
