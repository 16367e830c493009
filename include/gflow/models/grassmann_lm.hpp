#pragma once
#include <gflow/models/stacked_lm.hpp>
#include <gflow/nn/grassmann_mixing.hpp>

namespace gflow {

/// Defaults are those of the preset paper-6. Where the paper is silent, each choice is a setting.
struct GrassmannLMOptions {
    Index vocab_size = 30522;
    Index max_length = 128;
    Index d_model = 256;
    Index layers = 6;
    Index d_ff = 1024;
    Index rank = 32;
    Index heads = 1;
    /// One list for each layer. The paper's lists have one entry per layer: one offset in each.
    std::vector<std::vector<Index>> offsets = {{1}, {2}, {4}, {8}, {12}, {16}};
    Aggregate aggregate = Aggregate::mean;
    Normalize normalize = Normalize::unit;
    nn::OffsetWeights offset_weights = nn::OffsetWeights::uniform;
    nn::MixerOutput mixer_output = nn::MixerOutput::none;
    nn::Direction direction = nn::Direction::causal;  ///< lookahead is refused: it would show the model its labels
    double gate_bias = 0;
    double dropout = 0.1;
    NormPlacement norm = NormPlacement::post;
    bool tie_embedding = true;
    bool final_norm = true;
    double init_std = 0.02;
    bool recompute = false;
    DType dtype = float32;
};

/// The language model of arXiv 2512.19428: no attention; each token meets a few earlier ones through the planes that
/// their reduced states span.
class GrassmannLM : public StackedLM<nn::GrassmannMixing, nn::GrassmannMixingOptions> {
public:
    /// @throws usage_error unless there is one list of offsets for each layer, none of them empty, and all look back to
    ///         positions that a text of max_length has
    explicit GrassmannLM(const GrassmannLMOptions& o) : StackedLM(shared(o), mixers(o), o.d_ff, o.norm), options_(o) {}

    /// 6 layers, 128 positions, 12,607,168 parameters.
    static GrassmannLMOptions paper_6() { return {}; }
    /// 12 layers, 256 positions, 17,400,192 parameters.
    static GrassmannLMOptions paper_12() {
        return {.max_length = 256,
                .layers = 12,
                .offsets = {{1}, {1}, {2}, {2}, {4}, {4}, {8}, {8}, {12}, {12}, {16}, {16}}};
    }
    /// 4 layers, d 128, r 16, 128 positions: trains in minutes.
    static GrassmannLMOptions small() {
        return {.d_model = 128, .layers = 4, .d_ff = 512, .rank = 16, .offsets = {{1}, {2}, {4}, {8}}};
    }

    const GrassmannLMOptions& options() const { return options_; }

private:
    static LanguageModelOptions shared(const GrassmannLMOptions& o) {
        return {o.vocab_size,    o.max_length, o.d_model,  o.layers,    o.dropout,
                o.tie_embedding, o.final_norm, o.init_std, o.recompute, o.dtype};
    }
    static std::vector<nn::GrassmannMixingOptions> mixers(const GrassmannLMOptions& o) {
        require<usage_error>(static_cast<Index>(o.offsets.size()) == o.layers, "GrassmannLM",
                             "one list of offsets is needed for each layer",
                             {{"layers", o.layers}, {"lists", o.offsets.size()}});
        require<usage_error>(o.direction == nn::Direction::causal, "GrassmannLM",
                             "a language model must not look ahead: position t would see its own label");
        std::vector<nn::GrassmannMixingOptions> all;
        for (const std::vector<Index>& offsets : o.offsets) {
            for (Index offset : offsets)
                require<usage_error>(offset < o.max_length, "GrassmannLM",
                                     "an offset must be below max_length, or no position has a partner there",
                                     {{"offset", offset}, {"max_length", o.max_length}});
            all.push_back({.d_model = o.d_model,
                           .rank = o.rank,
                           .heads = o.heads,
                           .offsets = offsets,
                           .aggregate = o.aggregate,
                           .normalize = o.normalize,
                           .offset_weights = o.offset_weights,
                           .mixer_output = o.mixer_output,
                           .gate_bias = o.gate_bias,
                           .init_std = o.init_std,
                           .dtype = o.dtype});
        }
        return all;
    }

    GrassmannLMOptions options_;
};

}  // namespace gflow
