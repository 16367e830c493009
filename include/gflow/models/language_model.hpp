#pragma once
#include <gflow/models/block.hpp>
#include <gflow/nn/embedding.hpp>
#include <gflow/ops/linear_cross_entropy.hpp>
#include <gflow/ops/reshape.hpp>
#include <gflow/ops/slice.hpp>

#include <memory>
#include <optional>

namespace gflow {

/// What both language models share, so that a comparison differs in the mixer alone.
struct LanguageModelOptions {
    Index vocab_size = 0;
    Index max_length = 0;
    Index d_model = 0;
    Index layers = 0;
    double dropout = 0;
    bool tie_embedding = true;
    bool final_norm = true;
    double init_std = 0.02;
    bool recompute = false;
    DType dtype = float32;
};

/// Produces logits one token at a time.
class Decoder {
public:
    Decoder() = default;
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;
    virtual ~Decoder() = default;
    /// Takes the next token; returns the logits [vocab_size] of the one after it.
    /// @throws index_error when the model has no position left, or for an id outside the vocabulary
    virtual Tensor step(Index id) = 0;
    /// Number of tokens taken so far.
    virtual Index position() const = 0;
};

/// A causal language model: token and position embeddings, blocks, an optional last LayerNorm, and a head that is the
/// token embedding itself where the two are tied.
class LanguageModel : public nn::Module {
public:
    nn::Embedding token_embedding, position_embedding;
    std::optional<nn::LayerNorm> final_norm;
    std::optional<nn::Linear> head;

    /// The last hidden states.  ids: [batch, length] int32 or int64 → [batch, length, d_model]
    /// @throws shape_error if length exceeds the model's positions;  index_error for an id outside the vocabulary
    Tensor hidden(const Tensor& ids) const {
        require(ids.rank() == 2 && ids.size(1) <= max_length(), "LanguageModel",
                "ids must be [batch, length] with no more than max_length positions",
                {{"ids", ids}, {"max_length", max_length()}});
        const Tensor positions = slice(position_embedding.weight, 0, 0, ids.size(1));
        return normalized(run_blocks(dropout_(token_embedding(ids) + positions)));
    }
    /// [batch, length] → [batch, length, vocab_size]. For training use loss, which never holds them all.
    Tensor logits(const Tensor& ids) const { return linear(hidden(ids), head_weight()); }
    /// Mean cross-entropy in nats over the targets that are not ignored (−100).  ids, targets: [batch, length]
    Tensor loss(const Tensor& ids, const Tensor& targets) const {
        return linear_cross_entropy(hidden(ids), head_weight(), targets);
    }

    /// Starts a text. The decoder refers to the model, which should be in evaluation mode.
    virtual std::unique_ptr<Decoder> decoder() const = 0;

    Index vocab_size() const { return options_.vocab_size; }
    Index max_length() const { return options_.max_length; }
    Index d_model() const { return options_.d_model; }
    Index layers() const { return options_.layers; }
    const Tensor& head_weight() const { return head ? head->weight : token_embedding.weight; }

protected:
    explicit LanguageModel(const LanguageModelOptions& o)
        : token_embedding(
              {.count = checked(o).vocab_size, .size = o.d_model, .init_std = o.init_std, .dtype = o.dtype}),
          position_embedding({.count = o.max_length, .size = o.d_model, .init_std = o.init_std, .dtype = o.dtype}),
          options_(o),
          dropout_(o.dropout) {
        register_module("token_embedding", token_embedding);
        register_module("position_embedding", position_embedding);
        register_module("dropout", dropout_);
    }
    /// To be called by the constructor of a model, after its blocks.
    void add_output_layers() {
        if (options_.final_norm) {
            final_norm.emplace(nn::LayerNormOptions{.size = options_.d_model, .dtype = options_.dtype});
            register_module("final_norm", *final_norm);
        }
        if (!options_.tie_embedding) {
            head.emplace(nn::LinearOptions{.in = options_.d_model,
                                           .out = options_.vocab_size,
                                           .bias = false,
                                           .init_std = options_.init_std,
                                           .dtype = options_.dtype});
            register_module("head", *head);
        }
    }
    virtual Tensor run_blocks(Tensor h) const = 0;

    Tensor normalized(const Tensor& h) const { return final_norm ? (*final_norm)(h) : h; }
    const LanguageModelOptions& shared_options() const { return options_; }

private:
    static const LanguageModelOptions& checked(const LanguageModelOptions& o) {
        require<usage_error>(
            o.vocab_size >= 1 && o.max_length >= 1 && o.d_model >= 1 && o.layers >= 0, "LanguageModel",
            "sizes must be at least 1",
            {{"vocab_size", o.vocab_size}, {"max_length", o.max_length}, {"d_model", o.d_model}, {"layers", o.layers}});
        return o;
    }

    LanguageModelOptions options_;
    nn::Dropout dropout_;
};

}  // namespace gflow
