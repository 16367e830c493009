#pragma once
// The models that the programs measure, as their command lines name them, and ids to feed them.

#include <CLI/CLI.hpp>
#include <gflow/core/random.hpp>
#include <gflow/train/model_file.hpp>
#include <gflow/train/offsets.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../examples/support/program.hpp"

namespace gflow::bench {

struct ModelChoice {
    std::string model, preset = "paper-6", offsets;
    Index seq_len = 0, vocab_size = 0;  ///< 0: those of the preset
    bool recompute = false;             ///< compute blocks again in backward
};

inline void add_options(CLI::App& app, ModelChoice& choice) {
    app.add_option("--model", choice.model, "grassmann or transformer")->required();
    app.add_option("--preset", choice.preset, "paper-6, paper-12 or small")->capture_default_str();
    app.add_option("--offsets", choice.offsets,
                   "of grassmann: all (every offset of the preset in each layer), or as 1,2,4 or 1,2;4 for the layers; "
                   "default: those of the preset");
    app.add_option("--vocab-size", choice.vocab_size, "default: 30,522")->check(program::positive);
}

/// Texts in a step of the paper's recipe.
inline Index default_batch(const std::string& preset) { return preset == "paper-6" ? 32 : 16; }

/// Every offset that a layer of the model has, once, in rising order.
inline std::vector<Index> all_offsets(const GrassmannLMOptions& options) {
    std::set<Index> all;
    for (const std::vector<Index>& layer : options.offsets) all.insert(layer.begin(), layer.end());
    return {all.begin(), all.end()};
}

/// The options of the preset with what the command line changes.
/// @throws usage_error for an unknown preset or offsets that cannot be read
inline GrassmannLMOptions grassmann_options(const ModelChoice& choice) {
    GrassmannLMOptions options = grassmann_preset(choice.preset);
    if (choice.offsets == "all")
        options.offsets.assign(options.offsets.size(), all_offsets(options));
    else if (!choice.offsets.empty())
        options.offsets = parse_offsets(choice.offsets);
    return options;
}

namespace detail {

template <class Options>
nlohmann::ordered_json config_of(const ModelChoice& choice, Options options) {
    if (choice.seq_len > 0) options.max_length = choice.seq_len;
    if (choice.vocab_size > 0) options.vocab_size = choice.vocab_size;
    return {{"model", choice.model}, {"settings", options_to_json(options)}};
}

}  // namespace detail

/// A model with fresh weights.
/// @throws usage_error for an unknown model, preset or offsets, or offsets for a model that has none
inline std::unique_ptr<LanguageModel> make_model(const ModelChoice& choice) {
    if (choice.model != "grassmann" && choice.model != "transformer")
        throw usage_error("--model must be grassmann or transformer; got " + choice.model);
    if (choice.model == "transformer" && !choice.offsets.empty())
        throw usage_error("--offsets belong to --model grassmann; got " + choice.offsets);
    return gflow::make_model(choice.model == "grassmann" ? detail::config_of(choice, grassmann_options(choice))
                                                         : detail::config_of(choice, transformer_preset(choice.preset)),
                             "preset", choice.recompute);
}

/// The offsets of each layer; null for a Transformer.
inline nlohmann::ordered_json offsets_of(const ModelChoice& choice) {
    if (choice.model != "grassmann") return nullptr;
    return grassmann_options(choice).offsets;
}

inline Tensor random_ids(Index rows, Index cols, Index vocab_size, Generator& generator) {
    Tensor ids = empty({rows, cols}, int64);
    const RandomCall random = generator.next_call();
    for (Index i = 0; i < ids.numel(); ++i)
        ids.mutable_data<std::int64_t>()[i] = random.block(static_cast<std::uint64_t>(i))[0] % vocab_size;
    return ids;
}

}  // namespace gflow::bench
