#pragma once
#include <gflow/models/bert_layer.hpp>
#include <gflow/models/packed_batch.hpp>
#include <gflow/nn/embedding.hpp>
#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/slice.hpp>
#include <gflow/ops/unary.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gflow {

/// Defaults are those of BERT base, uncased.
struct BertEncoderOptions {
    Index vocab_size = 30522;
    Index max_length = 512;
    Index token_types = 2;  ///< 0 for none
    Index d_model = 768;
    Index layers = 12;
    Index heads = 12;
    Index d_ff = 3072;
    bool pooler = false;
    double dropout = 0.1;            ///< of embeddings and of what feed-forward nets give
    double attention_dropout = 0.1;  ///< of the attention weights
    double mixed_dropout = 0.1;      ///< of what attention gives; DistilBERT drops nothing there
    double norm_eps = 1e-12;
    double init_std = 0.02;
    DType dtype = float32;
};

/// The encoder of BERT (Devlin et al. 2019) and DistilBERT (Sanh et al. 2019): from the ids of sentences to a state for
/// each token. Only tokens are computed, not the padding; gradients reach every weight. train/bert_file.hpp loads
/// public weights into it. A frozen encoder is one that is called while a NoGrad lives.
class BertEncoder : public nn::Module {
public:
    nn::Embedding token_embedding, position_embedding;
    std::optional<nn::Embedding> type_embedding;
    nn::LayerNorm embedding_norm;
    std::vector<std::unique_ptr<BertLayer>> layers;
    std::optional<nn::Linear> pooler;

    /// @throws usage_error for sizes that make no encoder, naming them
    explicit BertEncoder(const BertEncoderOptions& o)
        : token_embedding(
              {.count = checked(o).vocab_size, .size = o.d_model, .init_std = o.init_std, .dtype = o.dtype}),
          position_embedding({.count = o.max_length, .size = o.d_model, .init_std = o.init_std, .dtype = o.dtype}),
          embedding_norm({.size = o.d_model, .eps = o.norm_eps, .dtype = o.dtype}),
          options_(o),
          dropout_(o.dropout) {
        register_module("token_embedding", token_embedding);
        register_module("position_embedding", position_embedding);
        register_module("embedding_norm", embedding_norm);
        register_module("dropout", dropout_);
        add_types();
        add_layers();
        add_pooler();
    }

    /// 12 layers of 768, 109,482,240 parameters with the pooler.
    static BertEncoderOptions bert_base() { return {.pooler = true}; }
    /// 6 layers of 768, 66,362,880 parameters.
    static BertEncoderOptions distilbert_base() { return {.token_types = 0, .layers = 6, .mixed_dropout = 0}; }

    /// The last hidden states.
    /// @param ids    [batch, length], int32 or int64; in the padding, any
    /// @param mask   [batch, length], uint8, int32 or int64: 1 for a token, 0 for padding; undefined: no padding
    /// @param types  like ids: the part of the text that a token belongs to; undefined: 0 for all
    /// @return       [batch, length, d_model]; zeros in the padding
    /// @throws       index_error naming an id, type or position that the encoder has not, and where it stands;
    ///               usage_error for types where it knows none, or a mask of other numbers;  shape_error, dtype_error
    Tensor operator()(const Tensor& ids, const Tensor& mask = {}, const Tensor& types = {}) const {
        const PackedBatch batch = packing(ids, mask);
        return batch.unpack(packed(batch, ids, types));
    }
    /// The same, but of the tokens alone, end to end.  → [batch.tokens(), d_model]
    Tensor packed(const PackedBatch& batch, const Tensor& ids, const Tensor& types = {}) const {
        return run(batch, ids, types, [](const Tensor&) {});
    }
    /// All hidden states: what goes into the first layer, and what each layer gives.  layers + 1 of [batch, length,
    /// d_model]
    std::vector<Tensor> hidden_states(const Tensor& ids, const Tensor& mask = {}, const Tensor& types = {}) const {
        const PackedBatch batch = packing(ids, mask);
        std::vector<Tensor> all;
        run(batch, ids, types, [&](const Tensor& h) { all.push_back(batch.unpack(h)); });
        return all;
    }
    /// What BERT makes of the first state to classify a text, tanh(W h₀ + b).  [batch, length, d_model] → [batch,
    /// d_model]
    /// @throws usage_error if the encoder has no pooler;  shape_error
    Tensor pooled(const Tensor& states) const {
        require<usage_error>(pooler.has_value(), "BertEncoder", "this encoder has no pooler");
        require(states.rank() == 3 && states.size(1) >= 1, "BertEncoder", "states must be [batch, length, d_model]",
                {{"states", states}});
        return tanh((*pooler)(select(states, 1, 0)));
    }

    /// Checks that a tokenizer is that of these weights, as far as its size can tell.
    /// @throws usage_error if it has not as many ids as the encoder
    void require_vocabulary(Index size) const {
        require<usage_error>(size == options_.vocab_size, "BertEncoder",
                             "the tokenizer must have the vocabulary of the weights",
                             {{"tokenizer", size}, {"weights", options_.vocab_size}});
    }

    const BertEncoderOptions& options() const { return options_; }

private:
    static const BertEncoderOptions& checked(const BertEncoderOptions& o) {
        require<usage_error>(o.vocab_size >= 1 && o.max_length >= 1 && o.token_types >= 0 && o.d_model >= 1 &&
                                 o.layers >= 0 && o.d_ff >= 1,
                             "BertEncoder", "sizes must be at least 1, layers and token_types at least 0",
                             {{"vocab_size", o.vocab_size},
                              {"max_length", o.max_length},
                              {"token_types", o.token_types},
                              {"d_model", o.d_model},
                              {"layers", o.layers},
                              {"d_ff", o.d_ff}});
        return o;
    }
    void add_types() {
        if (options_.token_types == 0) return;
        type_embedding.emplace(nn::EmbeddingOptions{.count = options_.token_types,
                                                    .size = options_.d_model,
                                                    .init_std = options_.init_std,
                                                    .dtype = options_.dtype});
        register_module("type_embedding", *type_embedding);
    }
    void add_layers() {
        const BertEncoderOptions& o = options_;
        const BertLayerOptions layer{o.d_model,       o.heads,    o.d_ff,     o.dropout, o.attention_dropout,
                                     o.mixed_dropout, o.norm_eps, o.init_std, o.dtype};
        for (Index i = 0; i < o.layers; ++i) {
            layers.push_back(std::make_unique<BertLayer>(layer));
            register_module("layers." + std::to_string(i), *layers.back());
        }
    }
    void add_pooler() {
        if (!options_.pooler) return;
        pooler.emplace(nn::LinearOptions{
            .in = options_.d_model, .out = options_.d_model, .init_std = options_.init_std, .dtype = options_.dtype});
        register_module("pooler", *pooler);
    }

    static PackedBatch packing(const Tensor& ids, const Tensor& mask) {
        require(ids.rank() == 2, "BertEncoder", "ids must be [batch, length]", {{"ids", ids}});
        return mask.defined() ? PackedBatch(mask) : PackedBatch(ids.size(0), ids.size(1));
    }

    /// Calls see(h) for what goes into the first layer and for what each layer gives.  → [tokens, d_model]
    template <class See>
    Tensor run(const PackedBatch& batch, const Tensor& ids, const Tensor& types, See&& see) const {
        Tensor h = embed(batch, ids, types);
        see(h);
        for (const auto& layer : layers) {
            h = (*layer)(h, batch.lengths());
            see(h);
        }
        return h;
    }
    /// What goes into the first layer.  → [tokens, d_model]
    Tensor embed(const PackedBatch& batch, const Tensor& ids, const Tensor& types) const {
        const Tensor tokens = batch.pack(ids), positions = batch.positions();
        check(batch, tokens, options_.vocab_size, "every id must be one of the vocabulary");
        check(batch, positions, options_.max_length, "every token must have one of the positions");
        Tensor sum = token_embedding(tokens) + position_embedding(positions);
        if (type_embedding) sum = sum + type_rows(batch, types);
        require<usage_error>(type_embedding || !types.defined(), "BertEncoder", "this encoder knows no token types");
        return dropout_(embedding_norm(sum));
    }
    /// The vector of each token's type, or that of type 0 for all.
    Tensor type_rows(const PackedBatch& batch, const Tensor& types) const {
        if (!types.defined()) return slice(type_embedding->weight, 0, 0, 1);
        const Tensor packed = batch.pack(types);
        check(batch, packed, options_.token_types, "every type must be one of the token types");
        return (*type_embedding)(packed);
    }
    /// @throws index_error naming the first of the numbers that is not in 0 … limit−1, and where it stands
    static void check(const PackedBatch& batch, const Tensor& numbers, Index limit, const char* requirement) {
        visit_ids("BertEncoder", numbers.dtype(), [&]<class Id>(Id) {
            const Id* number = numbers.data<Id>();
            for (Index i = 0; i < numbers.numel(); ++i)
                if (number[i] < 0 || number[i] >= limit)
                    fail<index_error>("BertEncoder", requirement,
                                      {{"number", number[i]}, {"at", batch.place_of(i)}, {"limit", limit}});
        });
    }

    BertEncoderOptions options_;
    nn::Dropout dropout_;
};

}  // namespace gflow
