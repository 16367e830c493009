// Time of a training step on random ids: forward, loss, backward, clipping and AdamW, dropout on. One JSON line.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <gflow/core/random.hpp>
#include <gflow/optim/adamw.hpp>
#include <gflow/train/model_file.hpp>
#include <gflow/train/peak_memory.hpp>
#include <gflow/version.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "../examples/support/program.hpp"

using namespace gflow;

namespace {

constexpr const char* examples = R"(Examples:
  train_step --model grassmann --preset paper-6 --threads 2 --steps 10
  train_step --model transformer --preset small --batch 4 --seq-len 512

model_gflop_per_step counts 6 x tokens x weights of matrix products (the tied head included), and for the Transformer
6 x tokens x layers x (L+1) x d. bench/peers/train_step.py prints the same line for PyTorch.)";

struct Arguments {
    std::string model, preset = "paper-6", precision = "fp32";
    int threads = 0;
    Index steps = 10, seq_len = 0, batch = 0, vocab_size = 0;
};

/// Weights that take part in a matrix product: matrices, without the tables of embeddings, with the tied head.
Index matmul_weights(const LanguageModel& model) {
    Index count = model.head ? 0 : model.token_embedding.weight.numel();
    for (const auto& [name, x] : model.named_parameters())
        if (x.rank() == 2 && name.find("embedding") == std::string::npos) count += x.numel();
    return count;
}

Tensor random_ids(Index rows, Index cols, Index vocab_size, Generator& generator) {
    Tensor ids = empty({rows, cols}, int64);
    const RandomCall random = generator.next_call();
    for (Index i = 0; i < ids.numel(); ++i)
        ids.mutable_data<std::int64_t>()[i] = random.block(static_cast<std::uint64_t>(i))[0] % vocab_size;
    return ids;
}

template <class Options>
nlohmann::ordered_json config_of(const Arguments& arguments, Options options) {
    if (arguments.seq_len > 0) options.max_length = arguments.seq_len;
    if (arguments.vocab_size > 0) options.vocab_size = arguments.vocab_size;
    return {{"model", arguments.model}, {"settings", options_to_json(options)}};
}

int run(const Arguments& arguments) {
    if (arguments.precision != "fp32")
        throw usage_error("--precision must be fp32: others are not built yet; got " + arguments.precision);
    if (arguments.model != "grassmann" && arguments.model != "transformer")
        throw usage_error("--model must be grassmann or transformer; got " + arguments.model);
    if (arguments.threads > 0) set_num_threads(arguments.threads);
    manual_seed(1);
    const auto model =
        make_model(arguments.model == "grassmann" ? config_of(arguments, grassmann_preset(arguments.preset))
                                                  : config_of(arguments, transformer_preset(arguments.preset)),
                   "preset");
    const Index batch = arguments.batch > 0 ? arguments.batch : arguments.preset == "paper-6" ? 32 : 16;
    const Index length = model->max_length(), tokens = batch * length;
    Generator generator(2);
    const Tensor inputs = random_ids(batch, length, model->vocab_size(), generator);
    const Tensor targets = random_ids(batch, length, model->vocab_size(), generator);
    AdamW optimizer(decay_groups(*model, 0.01), {.lr = 3e-4});

    const auto step = [&] {
        const auto start = std::chrono::steady_clock::now();
        model->loss(inputs, targets).backward();
        optimizer.step(clip_scale(grad_norm(optimizer.parameters()), 1));
        optimizer.zero_grad();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    for (int warm = 0; warm < 2; ++warm) step();
    std::vector<double> seconds;
    for (Index i = 0; i < arguments.steps; ++i) seconds.push_back(step());
    std::sort(seconds.begin(), seconds.end());
    const double median = (seconds[seconds.size() / 2] + seconds[(seconds.size() - 1) / 2]) / 2;

    Index per_token = matmul_weights(*model);
    if (arguments.model == "transformer") per_token += model->layers() * (length + 1) * model->d_model();
    std::cout << nlohmann::ordered_json{{"program", "gflow"},
                                        {"version", version},
                                        {"model", arguments.model},
                                        {"preset", arguments.preset},
                                        {"precision", arguments.precision},
                                        {"threads", num_threads()},
                                        {"batch", batch},
                                        {"seq_len", length},
                                        {"steps", arguments.steps},
                                        {"tokens_per_s", static_cast<double>(tokens) / median},
                                        {"step_ms", 1e3 * median},
                                        {"peak_rss_mb", static_cast<double>(peak_memory()) / (1024 * 1024)},
                                        {"parameters", model->parameter_count()},
                                        {"model_gflop_per_step", 6e-9 * static_cast<double>(tokens * per_token)}}
                     .dump()
              << '\n';
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Times a training step on random ids.", "train_step");
    app.footer(examples);
    app.add_option("--model", arguments.model, "grassmann or transformer")->required();
    app.add_option("--preset", arguments.preset, "paper-6, paper-12 or small")->capture_default_str();
    app.add_option("--precision", arguments.precision, "fp32")->capture_default_str();
    app.add_option("--threads", arguments.threads, "default: GFLOW_NUM_THREADS, else all cores")
        ->check(CLI::Range(1, 1024));
    app.add_option("--steps", arguments.steps, "steps to take the median of")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--seq-len", arguments.seq_len, "default: that of the preset")->check(CLI::PositiveNumber);
    app.add_option("--batch", arguments.batch, "default: that of the preset")->check(CLI::PositiveNumber);
    app.add_option("--vocab-size", arguments.vocab_size, "default: 30,522")->check(CLI::PositiveNumber);
    return program::run(app, argc, argv, [&] { return run(arguments); });
}
