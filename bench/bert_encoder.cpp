// Speed of an encoder on padded batches: real tokens per second, padding not counted. One JSON line.
#include <CLI/CLI.hpp>
#include <gflow/core/random.hpp>
#include <gflow/train/bert_file.hpp>
#include <gflow/train/peak_memory.hpp>
#include <gflow/train/precision.hpp>
#include <gflow/version.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "../examples/support/program.hpp"
#include "models.hpp"
#include "timing.hpp"

using namespace gflow;
using namespace gflow::bench;

namespace {

constexpr const char* examples = R"(Examples:
  bert_encoder --model distilbert-base --threads 1
  bert_encoder --load DIR --batch 64 --length 128

Each batch has texts of every length from --shortest to --length in turn, padded to --length, with random ids. Without --load
the weights are random: the time is the same.)";

struct Arguments {
    std::string model = "distilbert-base", folder, precision = "fp32";
    Index batch = 32, shortest = 6, length = 48, repeats = 5;
    int threads = 0;
};

std::unique_ptr<BertEncoder> make_encoder(const Arguments& arguments) {
    if (!arguments.folder.empty()) return load_bert_encoder(arguments.folder);
    if (arguments.model != "distilbert-base" && arguments.model != "bert-base")
        throw usage_error("--model must be distilbert-base or bert-base; got " + arguments.model);
    auto encoder = std::make_unique<BertEncoder>(arguments.model == "bert-base" ? BertEncoder::bert_base()
                                                                                : BertEncoder::distilbert_base());
    encoder->eval();
    return encoder;
}

/// shortest … longest in turn, in steps that mix them.
std::vector<Index> lengths_of(const Arguments& arguments) {
    const Index span = arguments.length - arguments.shortest + 1;
    std::vector<Index> lengths;
    for (Index i = 0; i < arguments.batch; ++i) lengths.push_back(arguments.shortest + i * 17 % span);
    return lengths;
}

/// Operations of the matrix products for one token, attention between tokens not counted.
Index flops_per_token(const BertEncoderOptions& o) { return 2 * o.layers * (4 * o.d_model + 2 * o.d_ff) * o.d_model; }

int run(const Arguments& arguments) {
    if (arguments.shortest > arguments.length)
        throw usage_error("--shortest must not exceed --length; got " + std::to_string(arguments.shortest) + " and " +
                          std::to_string(arguments.length));
    if (arguments.threads > 0) set_num_threads(arguments.threads);
    if (const std::string note = use_precision("--precision", arguments.precision); !note.empty())
        std::cerr << note << std::endl;
    manual_seed(1);
    const auto encoder = make_encoder(arguments);
    const PackedBatch batch(mask_of_lengths(lengths_of(arguments), arguments.length));
    Generator generator(2);
    const Tensor ids = random_ids(arguments.batch, arguments.length, encoder->options().vocab_size, generator);
    const NoGrad frozen;
    const double seconds = time_of([&] { batch.unpack(encoder->packed(batch, ids)); }, arguments.repeats).seconds;
    const double per_second = static_cast<double>(batch.tokens()) / seconds;
    std::cout << nlohmann::ordered_json{{"program", "gflow"},
                                        {"version", version},
                                        {"model", arguments.folder.empty() ? arguments.model : arguments.folder},
                                        {"parameters", encoder->parameter_count()},
                                        {"precision", arguments.precision},
                                        {"threads", num_threads()},
                                        {"batch", arguments.batch},
                                        {"length", arguments.length},
                                        {"tokens", batch.tokens()},
                                        {"ms", 1e3 * seconds},
                                        {"tokens_per_s", per_second},
                                        {"gflop_per_s",
                                         1e-9 * per_second * static_cast<double>(flops_per_token(encoder->options()))},
                                        {"peak_rss_mb", static_cast<double>(peak_memory()) / (1024 * 1024)}}
                     .dump()
              << '\n';
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Measures the speed of BERT and DistilBERT on padded batches.", "bert_encoder");
    app.footer(examples);
    app.add_option("--model", arguments.model, "distilbert-base or bert-base, with random weights")
        ->capture_default_str();
    app.add_option("--load", arguments.folder, "a folder with config.json and model.safetensors instead");
    app.add_option("--batch", arguments.batch, "texts in a batch")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--shortest", arguments.shortest, "tokens of the shortest text")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--length", arguments.length, "tokens of the longest text")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--precision", arguments.precision, "fp32 or bf16")->capture_default_str();
    app.add_option("--threads", arguments.threads, "default: GFLOW_NUM_THREADS, else all cores")
        ->check(CLI::Range(1, 1024));
    app.add_option("--repeats", arguments.repeats, "batches to take the median of")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    return program::run(app, argc, argv, [&] { return run(arguments); });
}
