// Continues a text with a trained language model, token by token.
#include <CLI/CLI.hpp>
#include <gflow/train/generate.hpp>
#include <gflow/train/run_folder.hpp>
#include <iostream>
#include <string>

#include "support/program.hpp"

using namespace gflow;

namespace {

constexpr const char* examples = R"(Examples:
  generate --checkpoint runs/book --prompt "Once upon a time"
  generate --checkpoint runs/wikitext --prompt "the city of" --temperature 0.8 --top-k 40 --seed 7 --max-tokens 200
  generate --checkpoint runs/wikitext --prompt "the city of" --temperature 0

The model sees as many tokens as it has positions; when they are used up, it goes on with the last half of them.

Exit status: 0 done, 1 failure, 2 usage.)";

struct Arguments {
    std::string checkpoint, which = "best", prompt;
    GenerateOptions options;
    int threads = 0;
};

int run(const Arguments& arguments) {
    if (arguments.threads > 0) set_num_threads(arguments.threads);
    const Sampler check(arguments.options.sampler);  // refuses bad settings before the model is read
    const LoadedModel loaded = load_run(arguments.checkpoint, arguments.which);
    // Nothing is printed before it is known that the prompt can be continued.
    bool started = false;
    const auto show = [&](std::string_view text) {
        if (!started) std::cout << arguments.prompt;
        started = true;
        std::cout << text << std::flush;
    };
    generate(*loaded.model, *loaded.tokenizer, arguments.prompt, arguments.options, show);
    if (!started) show("");
    std::cout << '\n';
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    SamplerOptions& sampler = arguments.options.sampler;
    CLI::App app("Continues a text with a trained language model.", "generate");
    app.footer(examples);
    app.add_option("--checkpoint", arguments.checkpoint, "the --out folder of a training run")->required();
    app.add_option("--which", arguments.which, "best or last")->capture_default_str();
    app.add_option("--prompt", arguments.prompt, "text to continue")->required();
    app.add_option("--temperature", sampler.temperature, "above 1 bolder, below 1 safer; 0 takes the most probable")
        ->capture_default_str();
    app.add_option("--top-k", sampler.top_k, "draw from the k most probable tokens only; 0: from all")
        ->capture_default_str();
    app.add_option("--top-p", sampler.top_p, "draw from the most probable tokens that together reach p")
        ->capture_default_str();
    app.add_option("--seed", sampler.seed, "the same seed gives the same text")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--max-tokens", arguments.options.max_tokens, "tokens to add")
        ->check(CLI::Range(0, 1'000'000'000))
        ->capture_default_str();
    app.add_option("--threads", arguments.threads, "default: GFLOW_NUM_THREADS, else all cores")
        ->check(CLI::Range(1, 1024));
    return program::run(app, argc, argv, [&] { return run(arguments); });
}
