#pragma once
#include <gflow/ops/clone.hpp>
#include <gflow/train/lm_trainer.hpp>
#include <gflow/train/metrics_log.hpp>
#include <gflow/train/peak_memory.hpp>
#include <gflow/train/progress.hpp>
#include <gflow/train/resolve_settings.hpp>
#include <gflow/train/run_folder.hpp>
#include <gflow/train/run_plan.hpp>
#include <gflow/version.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace gflow {

/// What a finished run has reached.
struct RunResult {
    Evaluation best_valid{}, last_valid{}, best_test{}, last_test{};
    Index best_step = 0, steps = 0, tokens = 0, parameters = 0;
    double seconds = 0;     ///< in all sessions, evaluations included
    Index peak_memory = 0;  ///< the highest of all sessions
};

/// A training run with its folder: config.json, the tokenizer, metrics.jsonl, the checkpoints best and last, and at
/// the end result.json. Can be stopped after any step and resumed exactly.
class LmRun {
public:
    enum class Outcome { finished, stopped };
    using Stop = std::function<bool()>;

    /// Begins a run: writes everything that a resume needs before the first step.
    /// @param settings  resolved;  @param data  what config.json shall say about the text
    /// @throws io_error naming path, reason and remedy
    static LmRun begin(const std::filesystem::path& folder, LmSettings settings, const RunPlan& plan,
                       const Tokenizer& tokenizer, LanguageModel& model, const LmCorpus& corpus,
                       nlohmann::ordered_json data) {
        settings.steps = plan.steps;
        settings.warmup = plan.warmup;
        settings.eval_every = plan.eval_every;
        nlohmann::ordered_json config{{"format", "gflow"}, {"version", version}};
        config.update(model_config(settings, tokenizer.vocab_size()));
        data["train_tokens"] = corpus.train.ids.size();
        data["valid_tokens"] = corpus.valid.ids.size();
        data["test_tokens"] = corpus.test.ids.size();
        data["fingerprint"] = fingerprint(corpus);
        config["data"] = std::move(data);
        config["training"] = to_json(settings);
        config["training"]["stop_after"] = 0;  // concerns this session alone
        try {
            const std::string name = tokenizer_file_name(tokenizer.kind());
            tokenizer.save(folder / name);
            config["tokenizer"] = {{"kind", tokenizer.kind()},
                                   {"file", name},
                                   {"unk_as_token", tokenizer.unk_as_token()},
                                   {"fingerprint", fingerprint(read_file(folder / name, "train_lm"))}};
            write_json(folder / "config.json", config, "train_lm");
            LmRun run(folder, settings, plan, config, model, corpus, MetricsLog::create(folder / "metrics.jsonl"));
            run.save_last();
            return run;
        } catch (...) {
            remove_run(folder);  // a part of a run is no use to anybody
            throw;
        }
    }

    /// Continues a run from its checkpoint "last".
    /// @throws io_error if the checkpoint or the text is not the run's
    static LmRun resume(const std::filesystem::path& folder, LmSettings settings, const nlohmann::ordered_json& config,
                        LanguageModel& model, const LmCorpus& corpus) {
        const std::filesystem::path last = recover_directory(folder / "last");
        const std::string where = (last / "state.json").string();
        const TrainingState state = training_state_from_json(read_json(last / "state.json", "resume"), where);
        if (config.at("data").value("fingerprint", "") != fingerprint(corpus))
            throw io_error("the text is not the one that the run in " + folder.string() +
                           " was trained on: give the same --data");
        const Index batches = TrainingChunks(corpus.train.ids, settings.seq_len, settings.batch, 0).batches_per_epoch();
        const RunPlan plan = detail::plan_of(settings, settings.steps, batches);
        load_weights(last, model);
        LmRun run(folder, settings, plan, config, model, corpus,
                  MetricsLog::resume(folder / "metrics.jsonl", state.step));
        run.state_ = state;
        run.trainer_.restore(state, load_safetensors(last / "optimizer.safetensors"));
        return run;
    }

    const LmTrainer& trainer() const { return trainer_; }
    const RunPlan& plan() const { return plan_; }
    const TrainingState& state() const { return state_; }
    const std::filesystem::path& folder() const { return folder_; }
    /// After Outcome::finished.
    const RunResult& result() const { return result_; }

    /// Trains to the end, unless `stop` says yes or settings.stop_after is reached; then all is saved.
    /// @throws diverged_error if the loss is no number any more: the checkpoint of before stays;  io_error
    Outcome train(Progress& progress, const Stop& stop) {
        started_ = std::chrono::steady_clock::now();
        seconds_before_ = state_.seconds;
        progress.start(progress_state(std::nan("")));
        if (evaluation_due() && !evaluate_now(progress, stop)) return save_and_stop();
        while (trainer_.step_count() < plan_.steps) {
            if (stop() || (settings_.stop_after > 0 && trainer_.step_count() >= settings_.stop_after))
                return save_and_stop();
            const StepMetrics m = trainer_.step();
            log_step(m);
            progress.update(progress_state(m.loss));
            if (evaluation_due()) {
                if (!evaluate_now(progress, stop)) return save_and_stop();
                save_last();
                progress.skip_time();
            } else if (m.step % settings_.checkpoint_every == 0 || seconds() - state_.seconds > longest_gap) {
                save_last();
                progress.skip_time();
            }
        }
        return finish(progress, stop) ? Outcome::finished : save_and_stop();
    }

private:
    static constexpr double longest_gap = 600;  // seconds without a checkpoint, however slow the steps are

    LmRun(std::filesystem::path folder, LmSettings settings, const RunPlan& plan, nlohmann::ordered_json config,
          LanguageModel& model, const LmCorpus& corpus, MetricsLog log)
        : folder_(std::move(folder)),
          settings_(std::move(settings)),
          plan_(plan),
          config_(std::move(config)),
          model_(model),
          corpus_(corpus),
          log_(std::move(log)),
          trainer_(model, corpus.train, trainer_options(settings_, plan)) {}

    double seconds() const {
        return seconds_before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
    }
    ProgressState progress_state(double loss) const {
        ProgressState p;
        p.step = trainer_.step_count();
        p.total_steps = plan_.steps;
        p.tokens = trainer_.tokens();
        p.epoch = trainer_.epoch();
        p.total_epochs =
            std::round(100.0 * static_cast<double>(plan_.steps) / static_cast<double>(plan_.batches_per_epoch)) / 100;
        p.loss = loss;
        return p;
    }

    void log_step(const StepMetrics& m) {
        log_.append({{"step", m.step},
                     {"tokens", m.tokens},
                     {"epoch", trainer_.epoch()},
                     {"loss", m.loss},
                     {"lr", m.lr},
                     {"grad_norm", m.grad_norm},
                     {"tokens_per_s", m.tokens_per_s}});
    }

    bool evaluation_due() const {
        const Index step = trainer_.step_count();
        return step > state_.evaluated_at && (step % plan_.eval_every == 0 || step == plan_.steps);
    }

    std::optional<Evaluation> evaluate_on(const LmText& text, const char* what, Progress& progress, const Stop& stop) {
        return evaluate(model_, text, settings_.seq_len, settings_.batch, [&](double done) {
            progress.activity(what, done);
            return stop();
        });
    }

    /// Evaluates on the validation text and keeps the weights if they are the best so far. False if stopped.
    bool evaluate_now(Progress& progress, const Stop& stop) {
        const auto valid = evaluate_on(corpus_.valid, "validating", progress, stop);
        if (!valid) return false;
        if (!std::isfinite(valid->loss()))
            throw diverged_error("the validation loss is no finite number at step " +
                                 std::to_string(trainer_.step_count()));
        state_.evaluated_at = trainer_.step_count();
        state_.last_loss = valid->loss();
        const bool best = state_.best_step == 0 || valid->loss() < state_.best_loss;
        if (best) {
            save_checkpoint(folder_ / "best", model_, config_);
            state_.best_loss = valid->loss();
            state_.best_step = state_.evaluated_at;
        }
        log_.append({{"step", state_.evaluated_at},
                     {"tokens", trainer_.tokens()},
                     {"epoch", trainer_.epoch()},
                     {"valid_loss", valid->loss()},
                     {"valid_perplexity", valid->perplexity()},
                     {"valid_nats_per_word", valid->nats_per_word()},
                     {"valid_bits_per_byte", valid->bits_per_byte()},
                     {"best_loss", state_.best_loss},
                     {"best_step", state_.best_step},
                     {"seconds", seconds()}});
        char line[160];
        std::snprintf(line, sizeof line, "step %s  epoch %.2f  validation perplexity %.2f  %.4f nats per word%s",
                      format_count(state_.evaluated_at).c_str(), trainer_.epoch(), valid->perplexity(),
                      valid->nats_per_word(), best ? "  best so far" : "");
        progress.message(line);
        return true;
    }

    void save_last() {
        TrainingState now = state_;
        trainer_.store(now);
        now.seconds = seconds();
        now.peak_memory = std::max(now.peak_memory, peak_memory());
        save_checkpoint(folder_ / "last", model_, config_, &trainer_.optimizer(), &now);
        state_ = now;  // that of the checkpoint, also where the next one cannot be written
    }
    Outcome save_and_stop() {
        save_last();
        return Outcome::stopped;
    }

    /// Evaluates the last and the best weights on both texts and writes result.json. False if stopped.
    bool finish(Progress& progress, const Stop& stop) {
        const auto test = [&] { return evaluate_on(corpus_.test, "testing", progress, stop); };
        const auto last_test = test();
        if (!last_test) return false;
        const auto of_valid = [&](double loss) {
            const Index targets = static_cast<Index>(corpus_.valid.ids.size()) - 1;
            return Evaluation{loss * static_cast<double>(targets), targets, corpus_.valid.words, corpus_.valid.bytes};
        };
        auto best_test = last_test;
        if (state_.best_step != trainer_.step_count()) {
            TensorMap weights;
            for (const auto& [name, weight] : model_.state_dict()) weights.emplace(name, clone(weight));
            load_weights(folder_ / "best", model_);
            best_test = test();
            model_.load_state_dict(weights);
            if (!best_test) return false;
        }
        result_ = {of_valid(state_.best_loss),
                   of_valid(state_.last_loss),
                   *best_test,
                   *last_test,
                   state_.best_step,
                   trainer_.step_count(),
                   trainer_.tokens(),
                   model_.parameter_count(),
                   seconds(),
                   std::max(state_.peak_memory, peak_memory())};
        write_json(folder_ / "result.json", result_json(), "train_lm");
        return true;
    }

    nlohmann::ordered_json result_json() const {
        const auto numbers = [](const Evaluation& valid, const Evaluation& test, Index step) {
            nlohmann::ordered_json json{{"step", step}};
            for (const auto& [name, e] : {std::pair("valid", &valid), std::pair("test", &test)})
                json[name] = {{"loss", e->loss()},
                              {"perplexity", e->perplexity()},
                              {"nats_per_word", e->nats_per_word()},
                              {"bits_per_byte", e->bits_per_byte()}};
            return json;
        };
        return {{"model", settings_.model},
                {"preset", settings_.preset},
                {"unk_as_token", settings_.unk_as_token},
                {"seed", settings_.seed},
                {"parameters", result_.parameters},
                {"steps", result_.steps},
                {"tokens", result_.tokens},
                {"best", numbers(result_.best_valid, result_.best_test, result_.best_step)},
                {"last", numbers(result_.last_valid, result_.last_test, result_.steps)},
                {"seconds", result_.seconds},
                {"peak_rss_mb", static_cast<double>(result_.peak_memory) / (1024 * 1024)},
                {"device", "cpu"},
                {"threads", num_threads()}};
    }

    std::filesystem::path folder_;
    LmSettings settings_;
    RunPlan plan_;
    nlohmann::ordered_json config_;
    LanguageModel& model_;
    const LmCorpus& corpus_;
    MetricsLog log_;
    LmTrainer trainer_;
    TrainingState state_{};
    RunResult result_{};
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
    double seconds_before_ = 0;
};

}  // namespace gflow
