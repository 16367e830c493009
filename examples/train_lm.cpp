// Trains a language model on a text: GrassmannLM or TransformerLM, any tokenizer, checkpoints that can be resumed.
#include <CLI/CLI.hpp>
#include <cmath>
#include <gflow/train/interrupt.hpp>
#include <gflow/train/lm_run.hpp>
#include <gflow/train/precision.hpp>
#include <gflow/train/replaced_run.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "support/program.hpp"
#include "support/setting_options.hpp"

namespace fs = std::filesystem;
using namespace gflow;

namespace {

constexpr const char* examples = R"(Examples:
  train_lm --data book.txt --preset small --minutes 5 --out runs/book
  train_lm --model transformer --preset paper-6 --data wikitext-2 --tokenizer wordpiece:vocab.txt --epochs 10
           --out runs/transformer
  train_lm --resume runs/transformer
  train_lm --config recipe.json --model grassmann --out runs/grassmann

A JSON file holds settings by the same names ({"lr": 3e-4, "batch": 16}); the command line overrules it.
--out gets config.json, the tokenizer, metrics.jsonl (a line for each step and evaluation), the checkpoints best and
last (each replaced as a whole), and at the end result.json. Ctrl-C saves and stops; --resume goes on exactly where the
run stopped.

Exit status: 0 done, 1 failure, 2 usage, 130 stopped by Ctrl-C.)";

struct Arguments {
    std::string out, resume, config;
    bool overwrite = false;
};

/// Everything that a run is made of; the run refers to the other parts.
struct Parts {
    std::optional<FolderClaim> claim;
    LmSettings settings;
    std::unique_ptr<Tokenizer> tokenizer;
    LmCorpus corpus;
    std::unique_ptr<LanguageModel> model;
    std::optional<LmRun> run;
};

Corpus read_data(const LmSettings& settings) {
    const std::vector<fs::path> paths(settings.data.begin(), settings.data.end());
    return read_corpus(paths);
}

std::string shown(double value, const char* format = "%.4g") {
    char text[40];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

void introduce(const Parts& parts, const fs::path& folder) {
    const LmSettings& s = parts.settings;
    const RunPlan& plan = parts.run->plan();
    std::cout << s.model << " " << s.preset << ": " << format_count(parts.model->parameter_count()) << " parameters, "
              << format_count(parts.tokenizer->vocab_size()) << " pieces (" << parts.tokenizer->kind()
              << (s.unk_as_token ? ", <unk> as one id" : "") << ")\n"
              << "text: " << format_count(static_cast<Index>(parts.corpus.train.ids.size())) << " training tokens, "
              << format_count(static_cast<Index>(parts.corpus.valid.ids.size())) << " validation, "
              << format_count(static_cast<Index>(parts.corpus.test.ids.size())) << " test\n"
              << "run: " << format_count(plan.steps) << " steps of " << s.batch << " x " << s.seq_len << " tokens ("
              << shown(static_cast<double>(plan.steps) / static_cast<double>(plan.batches_per_epoch), "%.2f")
              << " epochs), " << num_threads() << " threads, " << s.precision << ", into " << folder.string()
              << std::endl;
}

/// What a run sets for the whole process.
void set_up_process(const LmSettings& s) {
    if (s.threads > 0) set_num_threads(static_cast<int>(s.threads));
    if (const std::string note = use_precision("--precision", s.precision); !note.empty())
        std::cout << note << std::endl;
}

/// A new run from settings.
void begin(Parts& parts, const Arguments& arguments, GivenSettings given) {
    GivenSettings file;
    std::string out = arguments.out;
    if (!arguments.config.empty()) {
        nlohmann::json json = read_json(arguments.config, "train_lm");
        if (json.is_object() && json.contains("out") && json["out"].is_string()) {
            if (out.empty()) out = json["out"].get<std::string>();
            json.erase("out");
        }
        file = settings_from_json(json, arguments.config);
    }
    parts.settings = resolve_settings(file, given);
    LmSettings& s = parts.settings;
    if (s.data.empty()) throw usage_error("--data is missing: name a folder or text files");
    if (out.empty()) throw usage_error("--out is missing: name the folder for checkpoints and metrics");
    if (holds_run(out) && !arguments.overwrite)
        throw usage_error(out + " already holds a run: go on with --resume " + out + ", or give --overwrite");
    const TokenizerSpec spec = parse_tokenizer(s.tokenizer);
    for (std::string& path : s.data) path = fs::absolute(path).lexically_normal().string();
    set_up_process(s);

    parts.claim.emplace(out);
    {
        const Corpus corpus = read_data(s);
        if (spec.kind == "train") std::cout << "training a tokenizer of " << spec.size << " pieces" << std::endl;
        parts.tokenizer = make_tokenizer(spec, corpus.train, {.unk_as_token = s.unk_as_token});
        parts.corpus = encode_corpus(*parts.tokenizer, corpus, s.seq_len);
    }
    manual_seed(static_cast<std::uint64_t>(s.seed));
    const nlohmann::ordered_json config = model_config(s, parts.tokenizer->vocab_size());
    parts.model = make_model(config, "settings", s.recompute);
    if (s.minutes > 0) std::cout << "measuring 20 steps" << std::endl;
    const RunPlan plan = plan_run(s, *parts.model, parts.corpus);
    ReplacedRun earlier(out);
    parts.run.emplace(LmRun::begin(out, s, plan, *parts.tokenizer, *parts.model, parts.corpus,
                                   {{"paths", s.data}, {"unk_as_token", s.unk_as_token}}));
    earlier.drop();
    introduce(parts, out);
}

/// The run in a folder, where it stopped.
void resume(Parts& parts, const Arguments& arguments, const GivenSettings& given) {
    const fs::path folder = arguments.resume;
    if (!arguments.out.empty() || !arguments.config.empty() || arguments.overwrite)
        throw usage_error("--resume takes its settings from the run: leave out --out, --config and --overwrite");
    if (!holds_run(folder))
        throw usage_error(folder.string() + " holds no run: name the --out folder of one that was stopped");
    parts.claim.emplace(folder);
    ReplacedRun::recover(folder);
    const auto config = read_json<nlohmann::ordered_json>(folder / "config.json", "train_lm");
    const std::string where = (folder / "config.json").string();
    if (config != read_json<nlohmann::ordered_json>(recover_directory(folder / "last") / "config.json", "train_lm"))
        throw io_error(where + " is not that of the checkpoint in " + (folder / "last").string() +
                       ": settings cannot change when a run is resumed; put it back, or start a new run with --out");
    StrictObject reader(nlohmann::json(config), where);
    parts.settings = settings_from_json(reader.at("training"), where + ", training").values;
    LmSettings& s = parts.settings;
    for (const Setting& setting : settings_of(s))
        if (given.has(setting.name) && !setting.may_change_on_resume)
            throw usage_error(flag_of(setting.name) +
                              " cannot change when a run is resumed: start a new one with --out");
    given.overlay(s);
    set_up_process(s);
    parts.tokenizer = detail::load_run_tokenizer(nlohmann::json(config), folder, where);
    parts.corpus = encode_corpus(*parts.tokenizer, read_data(s), s.seq_len);
    manual_seed(static_cast<std::uint64_t>(s.seed));
    parts.model = make_saved_model(nlohmann::json{{"model", reader.at("model")}, {"settings", reader.at("settings")}},
                                   where, s.recompute);
    parts.run.emplace(LmRun::resume(folder, s, config, *parts.model, parts.corpus));
    introduce(parts, folder);
    std::cout << "resumed at step " << format_count(parts.run->trainer().step_count()) << std::endl;
}

void conclude(const RunResult& r, const fs::path& folder) {
    const auto line = [](const char* name, Index step, const Evaluation& valid, const Evaluation& test) {
        std::cout << name << " step " << format_count(step) << ": validation perplexity "
                  << shown(valid.perplexity(), "%.3f") << ", " << shown(valid.nats_per_word(), "%.4f")
                  << " nats per word; test perplexity " << shown(test.perplexity(), "%.3f") << ", "
                  << shown(test.nats_per_word(), "%.4f") << " nats per word\n";
    };
    line("best", r.best_step, r.best_valid, r.best_test);
    line("last", r.steps, r.last_valid, r.last_test);
    std::cout << format_count(r.tokens) << " tokens in " << format_duration(r.seconds) << ", peak memory "
              << format_count(r.peak_memory / 1'000'000) << " MB; all in " << folder.string() << std::endl;
}

int train(const Arguments& arguments, const GivenSettings& given) {
    Parts parts;
    if (arguments.resume.empty())
        begin(parts, arguments, given);
    else
        resume(parts, arguments, given);
    LmRun& run = *parts.run;
    if (run.state().step == run.plan().steps && detail::path_exists(run.folder() / "result.json")) {
        std::cout << "the run has ended: its result is in " << (run.folder() / "result.json").string() << std::endl;
        return 0;
    }
    const std::string go_on = "go on with: train_lm --resume " + run.folder().string();
    Progress progress(std::cout, is_terminal(1));
    const InterruptGuard interrupt;
    try {
        const LmRun::Outcome outcome = run.train(progress, [&] { return interrupt.raised(); });
        progress.finish();
        if (outcome == LmRun::Outcome::stopped) {
            const std::string line = "stopped at step " + format_count(run.trainer().step_count()) + " of " +
                                     format_count(run.plan().steps) + " and saved; " + go_on;
            if (interrupt.raised()) return program::complain("train_lm", line, 130);
            std::cout << line << std::endl;
            return 0;
        }
        conclude(run.result(), run.folder());
        if (const double guess = std::log(static_cast<double>(parts.tokenizer->vocab_size()));
            run.result().best_valid.loss() > guess)
            std::cerr << "train_lm: warning: a blind guess has a loss of " << shown(guess) << ", the model "
                      << shown(run.result().best_valid.loss()) << ": lower --lr, or set --clip" << std::endl;
        return 0;
    } catch (const diverged_error& problem) {
        progress.finish();
        throw error(std::string(problem.what()) + "; the checkpoint of step " + format_count(run.state().step) +
                    " is in " + (run.folder() / "last").string() +
                    ": start again with a lower --lr, a longer --warmup or a smaller --clip");
    } catch (const io_error& problem) {
        progress.finish();
        throw error(std::string(problem.what()) + "; the checkpoint of step " + format_count(run.state().step) +
                    " stays; " + go_on);
    }
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Trains a language model on a text.", "train_lm");
    app.footer(examples);
    Arguments arguments;
    program::SettingOptions settings(app);
    app.add_option("--out", arguments.out, "folder of the run");
    app.add_option("--resume", arguments.resume, "go on with the run in this folder");
    app.add_option("--config", arguments.config, "JSON file of settings; the command line overrules it");
    app.add_flag("--overwrite", arguments.overwrite, "replace the run that --out holds");
    return program::run(app, argc, argv, [&] { return train(arguments, settings.given()); });
}
