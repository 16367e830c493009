#pragma once
#include <gflow/models/language_model.hpp>
#include <gflow/optim/adamw.hpp>
#include <gflow/optim/schedule.hpp>
#include <gflow/train/checkpoint_folder.hpp>
#include <gflow/train/evaluate.hpp>
#include <gflow/train/lm_corpus.hpp>

#include <chrono>
#include <cmath>

namespace gflow {

/// The loss or the gradient is no number any more. The weights are those of before the step.
struct diverged_error : error {
    using error::error;
};

struct LmTrainerOptions {
    Index length = 128;  ///< tokens per chunk
    Index batch = 32;    ///< chunks per step
    ScheduleOptions schedule{};
    AdamWOptions adamw{};  ///< lr is set by the schedule
    double clip = 1;       ///< limit of the gradients' common norm; 0: none
    std::uint64_t seed = 1;
};

/// What one step has to tell.
struct StepMetrics {
    Index step = 0;    ///< counted from 1
    Index tokens = 0;  ///< targets seen in all steps so far
    double loss = 0;   ///< of the batch, in nats per token, before the update
    double lr = 0;
    double grad_norm = 0;  ///< before clipping
    double tokens_per_s = 0;
};

/// Trains a language model on one long text, step by step. No files, no output: see LmRun for those.
class LmTrainer {
public:
    /// @param model, text  must outlive the trainer
    LmTrainer(LanguageModel& model, const LmText& text, const LmTrainerOptions& options)
        : model_(model),
          options_(options),
          schedule_(options.schedule),
          optimizer_(decay_groups(model, options.adamw.weight_decay), options.adamw),
          chunks_(text.ids, options.length, options.batch, options.seed) {
        require(options.length <= model.max_length(), "LmTrainer", "chunks must fit the model's positions",
                {{"length", options.length}, {"max_length", model.max_length()}});
    }

    const LmTrainerOptions& options() const { return options_; }
    const AdamW& optimizer() const { return optimizer_; }
    Index step_count() const { return step_; }
    Index steps() const { return options_.schedule.steps; }
    Index tokens() const { return tokens_; }
    Index batches_per_epoch() const { return chunks_.batches_per_epoch(); }
    /// Epochs done, as a fraction.
    double epoch() const { return static_cast<double>(step_) / static_cast<double>(batches_per_epoch()); }

    /// One update. @throws diverged_error if the loss or the gradient is not finite; then nothing has been updated
    StepMetrics step() {
        const auto start = std::chrono::steady_clock::now();
        const ChunkBatch rows = chunks_.next();
        model_.train();
        const Tensor loss = model_.loss(inputs_of(rows), targets_of(rows));
        loss.backward();
        StepMetrics m;
        m.step = step_ + 1;
        m.loss = loss.item();
        m.grad_norm = grad_norm(optimizer_.parameters());
        m.lr = schedule_(m.step);
        if (!std::isfinite(m.loss) || !std::isfinite(m.grad_norm)) {
            optimizer_.zero_grad();
            throw diverged_error("the loss is no finite number any more at step " + std::to_string(m.step) + " (loss " +
                                 describe(m.loss) + ", gradient norm " + describe(m.grad_norm) + ", learning rate " +
                                 describe(m.lr) + ")");
        }
        optimizer_.set_lr(m.lr);
        optimizer_.step(clip_scale(m.grad_norm, options_.clip));
        optimizer_.zero_grad();
        step_ = m.step;
        const auto seen = static_cast<Index>(rows.targets.size());
        m.tokens = tokens_ += seen;
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        m.tokens_per_s = static_cast<double>(seen) / elapsed.count();
        return m;
    }

    /// Fills in what belongs to the trainer: step, tokens, position, random numbers.
    void store(TrainingState& state) const {
        state.step = step_;
        state.tokens = tokens_;
        state.position = chunks_.position();
        state.random = default_generator().state();
    }
    /// Goes on where `state` was stored; the model's weights must be those of that moment, too.
    /// @throws io_error, index_error if the moments or the position do not fit this model and text
    void restore(const TrainingState& state, const TensorMap& moments) {
        optimizer_.load_state(moments);
        chunks_.seek(state.position);
        default_generator().set_state(state.random);
        step_ = state.step;
        tokens_ = state.tokens;
    }

private:
    LanguageModel& model_;
    LmTrainerOptions options_;
    Schedule schedule_;
    AdamW optimizer_;
    TrainingChunks chunks_;
    Index step_ = 0, tokens_ = 0;
};

}  // namespace gflow
