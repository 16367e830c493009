// Time of a training step on random ids: forward, loss, backward, clipping and AdamW, dropout on. One JSON line.
#include <CLI/CLI.hpp>
#include <gflow/optim/adamw.hpp>
#include <gflow/train/peak_memory.hpp>
#include <gflow/train/precision.hpp>
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
  train_step --model grassmann --preset paper-6 --threads 2 --steps 10
  train_step --model grassmann --offsets all
  train_step --model transformer --preset small --batch 4 --seq-len 512
  train_step --model transformer --preset paper-12 --recompute

model_gflop_per_step counts 6 x tokens x weights of matrix products (the tied head included), and for the Transformer
6 x tokens x layers x (L+1) x d. bench/peers/train_step.py prints the same line for PyTorch.)";

struct Arguments {
    ModelChoice choice;
    std::string precision = "fp32";
    int threads = 0;
    Index steps = 10, batch = 0;
};

/// Weights that take part in a matrix product: matrices, without the tables of embeddings, with the tied head.
Index matmul_weights(const LanguageModel& model) {
    Index count = model.head ? 0 : model.token_embedding.weight.numel();
    for (const auto& [name, x] : model.named_parameters())
        if (x.rank() == 2 && name.find("embedding") == std::string::npos) count += x.numel();
    return count;
}

int run(const Arguments& arguments) {
    if (const std::string note = use_precision("--precision", arguments.precision); !note.empty())
        std::cerr << note << std::endl;
    if (arguments.threads > 0) set_num_threads(arguments.threads);
    manual_seed(1);
    const auto model = bench::make_model(arguments.choice);
    const Index batch = arguments.batch > 0 ? arguments.batch : default_batch(arguments.choice.preset);
    const Index length = model->max_length(), tokens = batch * length;
    Generator generator(2);
    const Tensor inputs = random_ids(batch, length, model->vocab_size(), generator);
    const Tensor targets = random_ids(batch, length, model->vocab_size(), generator);
    AdamW optimizer(decay_groups(*model, 0.01), {.lr = 3e-4});

    const auto step = [&] {
        model->loss(inputs, targets).backward();
        optimizer.step(clip_scale(grad_norm(optimizer.parameters()), 1));
        optimizer.zero_grad();
    };
    step();  // and another that time_of does not count: the first two are slower
    const double seconds = time_of(step, arguments.steps).seconds;

    Index per_token = matmul_weights(*model);
    if (arguments.choice.model == "transformer") per_token += model->layers() * (length + 1) * model->d_model();
    std::cout << nlohmann::ordered_json{{"program", "gflow"},
                                        {"version", version},
                                        {"model", arguments.choice.model},
                                        {"preset", arguments.choice.preset},
                                        {"offsets", offsets_of(arguments.choice)},
                                        {"precision", arguments.precision},
                                        {"recompute", arguments.choice.recompute},
                                        {"threads", num_threads()},
                                        {"batch", batch},
                                        {"seq_len", length},
                                        {"steps", arguments.steps},
                                        {"tokens_per_s", static_cast<double>(tokens) / seconds},
                                        {"step_ms", 1e3 * seconds},
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
    add_options(app, arguments.choice);
    app.add_option("--precision", arguments.precision, "fp32 or bf16")->capture_default_str();
    app.add_flag("--recompute", arguments.choice.recompute,
                 "compute blocks again in backward: less memory, more time (not counted in model_gflop_per_step)");
    app.add_option("--threads", arguments.threads, "default: GFLOW_NUM_THREADS, else all cores")
        ->check(CLI::Range(1, 1024));
    app.add_option("--steps", arguments.steps, "steps to take the median of")
        ->check(program::positive)
        ->capture_default_str();
    app.add_option("--seq-len", arguments.choice.seq_len, "default: that of the preset")->check(program::positive);
    app.add_option("--batch", arguments.batch, "default: that of the preset")->check(program::positive);
    return program::run(app, argc, argv, [&] { return run(arguments); });
}
