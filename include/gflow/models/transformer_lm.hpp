#pragma once
#include <gflow/models/stacked_lm.hpp>
#include <gflow/nn/causal_self_attention.hpp>

namespace gflow {

/// Defaults are those of the preset paper-6.
struct TransformerLMOptions {
    Index vocab_size = 30522;
    Index max_length = 128;
    Index d_model = 256;
    Index layers = 6;
    Index d_ff = 1024;
    Index heads = 4;
    double dropout = 0.1;
    double attention_dropout = 0;
    NormPlacement norm = NormPlacement::post;
    bool tie_embedding = true;
    bool final_norm = true;
    double init_std = 0.02;
    bool recompute = false;
    DType dtype = float32;
};

/// The rival: the same model with causal self-attention as its mixer (Vaswani et al. 2017).
class TransformerLM : public StackedLM<nn::CausalSelfAttention, nn::CausalSelfAttentionOptions> {
public:
    explicit TransformerLM(const TransformerLMOptions& o)
        : StackedLM(shared(o), mixers(o), o.d_ff, o.norm), options_(o) {}

    /// 6 layers, 128 positions, 12,585,472 parameters.
    static TransformerLMOptions paper_6() { return {}; }
    /// 12 layers, 256 positions, 17,356,800 parameters.
    static TransformerLMOptions paper_12() { return {.max_length = 256, .layers = 12}; }
    /// 4 layers, d 128, 128 positions: trains in minutes.
    static TransformerLMOptions small() { return {.d_model = 128, .layers = 4, .d_ff = 512}; }

    const TransformerLMOptions& options() const { return options_; }

private:
    static LanguageModelOptions shared(const TransformerLMOptions& o) {
        return {o.vocab_size,    o.max_length, o.d_model,  o.layers,    o.dropout,
                o.tie_embedding, o.final_norm, o.init_std, o.recompute, o.dtype};
    }
    static std::vector<nn::CausalSelfAttentionOptions> mixers(const TransformerLMOptions& o) {
        return std::vector<nn::CausalSelfAttentionOptions>(static_cast<std::size_t>(std::max<Index>(o.layers, 0)),
                                                           {.d_model = o.d_model,
                                                            .heads = o.heads,
                                                            .dropout = o.attention_dropout,
                                                            .init_std = o.init_std,
                                                            .dtype = o.dtype});
    }

    TransformerLMOptions options_;
};

}  // namespace gflow
