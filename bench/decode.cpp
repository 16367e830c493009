// Speed of a decoder by position: tokens per second in each window of positions. One JSON line for each window.
#include <CLI/CLI.hpp>
#include <gflow/train/peak_memory.hpp>
#include <gflow/version.hpp>
#include <iostream>
#include <string>

#include "../examples/support/program.hpp"
#include "models.hpp"
#include "timing.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

constexpr const char* examples = R"(Examples:
  decode --model grassmann --preset paper-6 --max-length 4096 --threads 2
  decode --model transformer --max-length 4096 --vocab-size 1000

Random ids go through the decoder one by one, with the logits of each. A large vocabulary hides the rest: its head reads
d_model numbers for every word.)";

struct Arguments {
    ModelChoice choice;
    int threads = 0;
    Index window = 256, repeats = 3;
};

int run(Arguments arguments) {
    if (arguments.choice.seq_len % arguments.window != 0)
        throw usage_error("--max-length must be a multiple of --window; got " +
                          std::to_string(arguments.choice.seq_len) + " and " + std::to_string(arguments.window));
    if (arguments.threads > 0) set_num_threads(arguments.threads);
    manual_seed(1);
    const auto model = bench::make_model(arguments.choice);
    model->eval();
    Generator generator(2);
    const Tensor ids = random_ids(1, model->max_length(), model->vocab_size(), generator);
    const auto decode = [&](Decoder& decoder) {
        for (Index i = 0; i < arguments.window; ++i)
            decoder.step(ids.data<std::int64_t>()[static_cast<std::size_t>(decoder.position())]);
    };
    decode(*model->decoder());  // warms up

    std::vector<std::vector<double>> seconds(static_cast<std::size_t>(model->max_length() / arguments.window));
    for (Index repeat = 0; repeat < arguments.repeats; ++repeat) {
        const auto decoder = model->decoder();
        for (auto& window : seconds) window.push_back(seconds_of([&] { decode(*decoder); }));
    }
    Index position = 0;
    for (const auto& window : seconds) {
        const double time = median(window);
        std::cout << nlohmann::ordered_json{{"program", "gflow"},
                                            {"version", version},
                                            {"model", arguments.choice.model},
                                            {"preset", arguments.choice.preset},
                                            {"offsets", offsets_of(arguments.choice)},
                                            {"vocab_size", model->vocab_size()},
                                            {"threads", num_threads()},
                                            {"repeats", arguments.repeats},
                                            {"position", position},
                                            {"window", arguments.window},
                                            {"tokens_per_s", static_cast<double>(arguments.window) / time},
                                            {"ms_per_token", 1e3 * time / static_cast<double>(arguments.window)},
                                            {"peak_rss_mb", static_cast<double>(peak_memory()) / (1024 * 1024)}}
                         .dump()
                  << '\n';
        position += arguments.window;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    arguments.choice.seq_len = 4096;
    CLI::App app("Measures the speed of a decoder by position.", "decode");
    app.footer(examples);
    add_options(app, arguments.choice);
    app.add_option("--max-length", arguments.choice.seq_len, "positions of the model, all of which are decoded")
        ->check(program::positive)
        ->capture_default_str();
    app.add_option("--window", arguments.window, "positions that are timed together")
        ->check(program::positive)
        ->capture_default_str();
    app.add_option("--threads", arguments.threads, "default: GFLOW_NUM_THREADS, else all cores")
        ->check(CLI::Range(1, 1024));
    app.add_option("--repeats", arguments.repeats, "texts to take the median of")
        ->check(program::positive)
        ->capture_default_str();
    return program::run(app, argc, argv, [&] { return run(arguments); });
}
