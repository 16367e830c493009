// Time of one mixing layer alone, forward and backward, over the length of the sequence at the same number of tokens.
// One JSON line for each length.
#include <CLI/CLI.hpp>
#include <functional>
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
  mixing_layer --layer grassmann --offsets all --threads 2
  mixing_layer --layer attention --lengths 128,1024,65536 --budget 60

The layers are those of the preset paper-6 (d_model 256; rank 32, or 4 heads). A call is the forward and the gradients of
the input and of all parameters. bench/peers/mixing_layer.py prints the same lines for PyTorch.)";

struct Arguments {
    std::string layer, offsets, precision = "fp32";
    std::vector<Index> lengths = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
    Index tokens = 65536, repeats = 7;
    int threads = 0;
    double budget = 0;
};

std::vector<Index> offsets_of_layer(const std::string& text) {
    const GrassmannLMOptions preset = GrassmannLM::paper_6();
    if (text.empty()) return preset.offsets.front();
    if (text == "all") return all_offsets(preset);
    return parse_offsets_for_all(text, 1).front();
}

/// The layer under a common face.
struct Layer {
    std::unique_ptr<nn::Module> module;
    std::function<Tensor(const Tensor&)> forward;
    Index width;
};

template <class Mixer, class Options>
Layer layer_of(const Options& options) {
    auto mixer = std::make_unique<Mixer>(options);
    const Mixer& call = *mixer;
    return {std::move(mixer), [&call](const Tensor& h) { return call(h); }, options.d_model};
}

Layer make_layer(const Arguments& arguments) {
    if (arguments.layer == "grassmann") {
        const GrassmannLMOptions preset = GrassmannLM::paper_6();
        return layer_of<nn::GrassmannMixing>(nn::GrassmannMixingOptions{.d_model = preset.d_model,
                                                                        .rank = preset.rank,
                                                                        .heads = preset.heads,
                                                                        .offsets = offsets_of_layer(arguments.offsets),
                                                                        .aggregate = preset.aggregate,
                                                                        .normalize = preset.normalize,
                                                                        .gate_bias = preset.gate_bias,
                                                                        .init_std = preset.init_std});
    }
    const TransformerLMOptions preset = TransformerLM::paper_6();
    return layer_of<nn::CausalSelfAttention>(
        nn::CausalSelfAttentionOptions{.d_model = preset.d_model, .heads = preset.heads, .init_std = preset.init_std});
}

void check(const Arguments& arguments) {
    if (const std::string note = use_precision("--precision", arguments.precision); !note.empty())
        std::cerr << note << std::endl;
    if (arguments.layer != "grassmann" && arguments.layer != "attention")
        throw usage_error("--layer must be grassmann or attention; got " + arguments.layer);
    if (arguments.layer == "attention" && !arguments.offsets.empty())
        throw usage_error("--offsets belong to --layer grassmann; got " + arguments.offsets);
    for (const Index length : arguments.lengths)
        if (length > arguments.tokens)
            throw usage_error("--lengths must not exceed --tokens " + std::to_string(arguments.tokens) + "; got " +
                              std::to_string(length));
}

nlohmann::ordered_json measure(const Arguments& arguments, const Layer& layer, Index length) {
    forget_peak_memory();
    const Index batch = arguments.tokens / length;
    Tensor h = randn({batch, length, layer.width});
    const Tensor dy = randn(h.shape());
    h.set_requires_grad();
    const Timing timing = time_of(
        [&] {
            backward(layer.forward(h), dy);
            h.zero_grad();
            layer.module->zero_grad();
        },
        arguments.repeats, arguments.budget);
    nlohmann::ordered_json line{{"program", "gflow"}, {"version", version}, {"layer", arguments.layer}};
    if (arguments.layer == "grassmann") line["offsets"] = offsets_of_layer(arguments.offsets);
    line.update({{"precision", arguments.precision},
                 {"length", length},
                 {"batch", batch},
                 {"threads", num_threads()},
                 {"repeats", timing.repeats},
                 {"warm", timing.warm},
                 {"tokens_per_s", static_cast<double>(batch * length) / timing.seconds},
                 {"ms", 1e3 * timing.seconds},
                 {"peak_rss_mb", static_cast<double>(peak_memory()) / (1024 * 1024)}});
    return line;
}

int run(const Arguments& arguments) {
    check(arguments);
    if (arguments.threads > 0) set_num_threads(arguments.threads);
    manual_seed(1);
    const Layer layer = make_layer(arguments);
    for (const Index length : arguments.lengths)
        std::cout << measure(arguments, layer, length).dump() << std::endl;  // at once: a long length takes minutes
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Times one mixing layer, forward and backward, over the length of the sequence.", "mixing_layer");
    app.footer(examples);
    app.add_option("--layer", arguments.layer, "grassmann or attention")->required();
    app.add_option("--offsets", arguments.offsets,
                   "of grassmann: all (every offset of the preset), or as 1,2,4; default: those of the first layer, 1");
    app.add_option("--precision", arguments.precision, "fp32 or bf16")->capture_default_str();
    app.add_option("--lengths", arguments.lengths, "tokens per sequence, default: 64,128,...,65536")
        ->delimiter(',')
        ->check(program::positive);
    app.add_option("--tokens", arguments.tokens, "in all sequences together: the batch is tokens / length")
        ->check(program::positive)
        ->capture_default_str();
    app.add_option("--threads", arguments.threads, "default: GFLOW_NUM_THREADS, else all cores")
        ->check(CLI::Range(1, 1024));
    app.add_option("--repeats", arguments.repeats, "calls to take the median of")
        ->check(program::positive)
        ->capture_default_str();
    app.add_option("--budget", arguments.budget, "seconds for a length: fewer repeats, where they would take longer")
        ->check(program::positive);
    return program::run(app, argc, argv, [&] { return run(arguments); });
}
