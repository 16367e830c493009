// Trains GrassmannLM and TransformerLM (`small`) with one recipe for the same number of steps, prints a table, and
// writes a report. What ./gflow quickstart runs.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <gflow/train/generate.hpp>
#include <gflow/train/interrupt.hpp>
#include <gflow/train/lm_run.hpp>
#include <gflow/train/replaced_run.hpp>
#include <gflow/train/run_summary.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/repository_text.hpp"

namespace fs = std::filesystem;
using namespace gflow;

namespace {

constexpr const char* examples = R"(Examples:
  quickstart
  quickstart --minutes 2 --out runs/try

Text: the folder wikitext-2 in GFLOW_DATA, else in data/downloads (what ./gflow data fetched), else this repository's own
headers and docs. Exit status: 0 done, 1 failure, 2 usage, 130 stopped by Ctrl-C.)";

struct Arguments {
    double minutes = 5.5;
    std::string out = "runs/quickstart", root = ".";
    Index seed = 1;
    int threads = 0;
};

/// The text to train on, and what to call it.
struct Text {
    Corpus corpus;
    std::string name, prompt;
    Index pieces = 0;
    bool unk_as_token = false;
};

Text find_text(const Arguments& arguments) {
    const auto wikitext = [](const fs::path& folder, const std::string& from) {
        return Text{read_corpus_folder(folder), "Wikitext-2 (with <unk>, as one id) from " + from, "The city of", 4000,
                    true};
    };
    if (const char* data = std::getenv("GFLOW_DATA"); data != nullptr && *data != '\0') {
        const fs::path folder = fs::path(data) / "wikitext-2";
        if (!fs::is_directory(folder))
            throw io_error("GFLOW_DATA is set, but there is no " + folder.string() +
                           ": unset it, or put Wikitext-2 there");
        return wikitext(folder, "GFLOW_DATA");
    }
    const fs::path fetched = fs::path(arguments.root) / "data" / "downloads" / "wikitext-2";
    if (detail::path_exists(fetched / "wiki.train.tokens")) return wikitext(fetched, "data/downloads");
    return {split_corpus(program::repository_text(arguments.root)), "this repository's headers and docs",
            "/// The number of", 1000, false};
}

/// The whole lines among the first `bytes` of a text.
std::string_view first_lines(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return text;
    const std::size_t end = text.rfind('\n', bytes);
    return text.substr(0, end == std::string_view::npos ? text.size() : end + 1);
}

/// One of the two models with its run.
struct Contestant {
    std::string name, title;
    LmSettings settings{};
    std::unique_ptr<LanguageModel> model{};
    RunTiming timing{};
    RunResult result{};
    std::string sample{};
};

LmSettings recipe(const std::string& model, const Arguments& arguments, const Text& text) {
    GivenSettings given;
    given.values.model = model;
    given.values.preset = "small";
    given.values.seed = arguments.seed;
    given.values.steps = 1;
    given.values.unk_as_token = text.unk_as_token;
    given.values.tokenizer = "train:" + std::to_string(text.pieces);
    given.names = {"model", "preset", "seed", "steps", "unk_as_token", "tokenizer"};
    return resolve_settings({}, given);
}

void make_model(Contestant& one, const Tokenizer& tokenizer) {
    manual_seed(static_cast<std::uint64_t>(one.settings.seed));
    one.model = gflow::make_model(model_config(one.settings, tokenizer.vocab_size()), "recipe");
}

/// Steps and evaluations that the slower model can do in `seconds`: about a sixth of the time goes into evaluation, and
/// two points make a curve.
void fix_steps(std::vector<Contestant>& all, double seconds, Index batches_per_epoch) {
    const auto slower = std::max_element(
        all.begin(), all.end(), [](const Contestant& a, const Contestant& b) { return a.timing.step < b.timing.step; });
    RunTiming timing = slower->timing;
    timing.spent = 0;
    const auto evaluations = std::clamp<Index>(static_cast<Index>(seconds / 6 / timing.evaluation) - 2, 2, 12);
    const double for_steps = seconds - timing.evaluation * static_cast<double>(evaluations + 2);
    const Index steps = std::max<Index>(1, static_cast<Index>(for_steps / timing.step));
    for (Contestant& one : all) {
        one.settings.steps = steps;
        one.settings.eval_every = std::max<Index>(1, (steps + evaluations - 1) / evaluations);
    }
    std::cout << format_count(steps) << " steps for each, as many as the slower (" << slower->title
              << ") can do: " << format_number(static_cast<double>(steps) / static_cast<double>(batches_per_epoch))
              << " epochs" << std::endl;
    if (steps < 100)
        std::cout << "so few steps teach a model nothing: for a comparison give --minutes 5 or more" << std::endl;
}

/// False if Ctrl-C came.
bool train(Contestant& one, const fs::path& folder, const Tokenizer& tokenizer, const LmCorpus& corpus,
           const Text& text, const InterruptGuard& interrupt) {
    std::cout << '\n' << one.title << ": " << format_count(one.model->parameter_count()) << " parameters" << std::endl;
    make_directory(folder);
    const FolderClaim claim(folder);
    ReplacedRun earlier(folder);
    make_model(one, tokenizer);
    forget_peak_memory();
    LmRun run = LmRun::begin(folder, one.settings, plan_run(one.settings, *one.model, corpus), tokenizer, *one.model,
                             corpus, {{"name", text.name}, {"unk_as_token", text.unk_as_token}});
    earlier.drop();
    Progress progress(std::cout, is_terminal(1));
    if (run.train(progress, [&] { return interrupt.raised(); }) == LmRun::Outcome::stopped) return false;
    one.result = run.result();
    load_weights(folder / "best", *one.model);
    one.model->eval();
    one.sample = generate(*one.model, tokenizer, text.prompt,
                          {.max_tokens = 80, .sampler = {.temperature = 0.8, .top_k = 40, .seed = 1}});
    return true;
}

Report report_of(const std::vector<Contestant>& all, const Text& text, const LmCorpus& corpus,
                 const std::vector<RunSummary>& runs) {
    const LmSettings& s = all[0].settings;
    Report report;
    report.title = "gflow quickstart: two language models, one recipe";
    report.paragraphs = {
        "GrassmannLM mixes tokens through the planes that pairs of reduced states span (arXiv 2512.19428); "
        "TransformerLM is the same model with causal self-attention. Text, tokenizer, recipe, seed and "
        "number of steps are the same for both."};
    report.tables = {table_of(runs)};
    report.tables[0].note =
        "One seed, one short run: which of the two is ahead here says little about longer training.";
    report.charts = {chart_of(runs)};
    for (const Contestant& one : all) report.texts.push_back({one.title, text.prompt, one.sample});
    const auto count = [](const LmText& part) { return format_count(static_cast<Index>(part.ids.size())); };
    report.facts = {{"text", text.name},
                    {"tokenizer", "SentencePiece, " + format_count(text.pieces) +
                                      " pieces, trained on the first 2 MB of the training text"},
                    {"tokens", count(corpus.train) + " training, " + count(corpus.valid) + " validation, " +
                                   count(corpus.test) + " test"},
                    {"steps", format_count(s.steps) + " of " + std::to_string(s.batch) + " x " +
                                  std::to_string(s.seq_len) + " tokens"},
                    {"recipe", "AdamW, peak learning rate " + format_number(s.lr) +
                                   ", warm-up over a tenth of the steps, cosine to a tenth, weight decay " +
                                   format_number(s.weight_decay) + ", dropout " + format_number(s.dropout) +
                                   ", clipping at " + format_number(s.clip)},
                    {"seed", std::to_string(s.seed)},
                    {"threads", std::to_string(num_threads())},
                    {"gflow", version}};
    for (const Contestant& one : all)
        report.facts.push_back({one.title, "best at step " + format_count(one.result.best_step) + "; test perplexity " +
                                               detail::shown(one.result.best_test.perplexity(), "%.2f") + " (best), " +
                                               detail::shown(one.result.last_test.perplexity(), "%.2f") + " (last)"});
    return report;
}

int run(const Arguments& arguments) {
    if (!(arguments.minutes > 0 && arguments.minutes < 1e6)) throw usage_error("--minutes must be above 0");
    if (arguments.threads > 0) set_num_threads(arguments.threads);
    const fs::path out = arguments.out;
    make_directory(out);
    const auto start = std::chrono::steady_clock::now();
    Text text = find_text(arguments);
    std::cout << "text: " << text.name << std::endl;
    // A part of a long text is enough to learn pieces from, and saves half a minute.
    const auto tokenizer =
        make_tokenizer({.kind = "train", .file = {}, .size = text.pieces}, first_lines(text.corpus.train, 2'000'000),
                       {.unk_as_token = text.unk_as_token});
    std::vector<Contestant> all(2);
    all[0].name = "grassmann", all[0].title = "GrassmannLM";
    all[1].name = "transformer", all[1].title = "TransformerLM";
    for (Contestant& one : all) one.settings = recipe(one.name, arguments, text);
    const LmCorpus corpus = encode_corpus(*tokenizer, text.corpus, all[0].settings.seq_len);
    std::cout << format_count(static_cast<Index>(corpus.train.ids.size())) << " training tokens, "
              << format_count(text.pieces) << " pieces; measuring" << std::endl;
    const RunPlan any = detail::plan_of(all[0].settings, 1000, 1);
    for (Contestant& one : all) {
        make_model(one, *tokenizer);
        one.timing = measure_run(*one.model, corpus, trainer_options(one.settings, any));
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    fix_steps(all, (60 * arguments.minutes - spent.count()) / 2,
              TrainingChunks(corpus.train.ids, all[0].settings.seq_len, all[0].settings.batch, 0).batches_per_epoch());

    const InterruptGuard interrupt;
    for (Contestant& one : all)
        if (!train(one, out / one.name, *tokenizer, corpus, text, interrupt))
            return program::complain("quickstart", "stopped; run it again for the comparison", 130);
    std::vector<RunSummary> runs;
    for (const Contestant& one : all) runs.push_back(read_run_summary(out / one.name, one.title));
    std::cout << '\n' << to_text(table_of(runs));
    write_report(out / "report.html", report_of(all, text, corpus, runs));
    std::cout << "\ncurves and samples: " << (out / "report.html").string()
              << "\nlet a model write:   ./gflow build generate && build/bin/generate --checkpoint "
              << (out / "grassmann").string() << " --prompt \"" << text.prompt << "\"" << std::endl;
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Trains a Grassmann and a Transformer model with one recipe and compares them.", "quickstart");
    app.footer(examples);
    app.add_option("--minutes", arguments.minutes, "for both models together, evaluations included")
        ->capture_default_str();
    app.add_option("--out", arguments.out, "folder for both runs and report.html")->capture_default_str();
    app.add_option("--root", arguments.root, "the repository, for its text and data/downloads")->capture_default_str();
    app.add_option("--seed", arguments.seed, "of weights, order of the text, dropout")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--threads", arguments.threads, "default: GFLOW_NUM_THREADS, else all cores")
        ->check(CLI::Range(1, 1024));
    return program::run(app, argc, argv, [&] { return run(arguments); });
}
