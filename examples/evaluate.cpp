// Evaluates a checkpoint on a text file: perplexity, nats per word, bits per byte.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <gflow/train/evaluate.hpp>
#include <gflow/train/format.hpp>
#include <gflow/train/progress.hpp>
#include <gflow/train/run_folder.hpp>
#include <iostream>
#include <string>

#include "support/program.hpp"

using namespace gflow;

namespace {

constexpr const char* examples = R"(Examples:
  evaluate --checkpoint runs/book book.txt
  evaluate --checkpoint runs/wikitext --which last --json wiki.valid.tokens

The text is one stream of tokens, cut into chunks of the model's length; the last, partial chunk counts, so that each
token but the first is predicted once.

Exit status: 0 done, 1 failure, 2 usage.)";

struct Arguments {
    std::string checkpoint, which = "best", text;
    Index seq_len = 0, batch = 16;
    int threads = 0;
    bool json = false;
};

/// The progress goes to standard error, so that the result can be piped.
Evaluation evaluate_with_progress(LanguageModel& model, const LmText& text, Index length, Index batch) {
    Progress progress(std::cerr, is_terminal(2));
    return *evaluate(model, text, length, batch, [&](double done) {
        progress.activity("evaluating", done);
        return false;
    });
}

int run(const Arguments& arguments) {
    if (arguments.threads > 0) set_num_threads(arguments.threads);
    const LoadedModel loaded = load_run(arguments.checkpoint, arguments.which);
    const Index length = arguments.seq_len > 0 ? arguments.seq_len : loaded.model->max_length();
    if (length > loaded.model->max_length())
        throw usage_error("--seq-len must be at most " + std::to_string(loaded.model->max_length()) +
                          ", the model's number of positions; got " + std::to_string(length));
    const LmText text = encode_text(*loaded.tokenizer, read_text(arguments.text));
    if (text.ids.size() < 2) throw io_error(arguments.text + " has fewer than 2 tokens: give more text");
    const Evaluation e = evaluate_with_progress(*loaded.model, text, length, arguments.batch);
    if (arguments.json) {
        std::cout << nlohmann::ordered_json{{"checkpoint", loaded.folder.string()},
                                            {"text", arguments.text},
                                            {"tokens", text.ids.size()},
                                            {"targets", e.targets},
                                            {"words", e.words},
                                            {"bytes", e.bytes},
                                            {"loss", e.loss()},
                                            {"perplexity", e.perplexity()},
                                            {"nats_per_word", e.nats_per_word()},
                                            {"bits_per_byte", e.bits_per_byte()}}
                         .dump()
                  << '\n';
    } else {
        char line[200];
        std::snprintf(line, sizeof line,
                      "perplexity %.3f (%.5f nats per token), %.4f nats per word, %.4f bits per byte", e.perplexity(),
                      e.loss(), e.nats_per_word(), e.bits_per_byte());
        std::cout << arguments.text << ": " << line << "; " << format_count(e.targets) << " targets\n";
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Evaluates a checkpoint on a text file.", "evaluate");
    app.footer(examples);
    app.add_option("--checkpoint", arguments.checkpoint, "the --out folder of a training run")->required();
    app.add_option("--which", arguments.which, "best or last")->capture_default_str();
    app.add_option("--seq-len", arguments.seq_len, "tokens per chunk (default: the model's length)")
        ->check(program::positive);
    app.add_option("--batch", arguments.batch, "chunks at once")->check(program::positive)->capture_default_str();
    app.add_option("--threads", arguments.threads, "default: GFLOW_NUM_THREADS, else all cores")
        ->check(CLI::Range(1, 1024));
    app.add_flag("--json", arguments.json, "print one JSON line");
    app.add_option("text", arguments.text, "text file (UTF-8)")->required();
    return program::run(app, argc, argv, [&] { return run(arguments); });
}
