#pragma once
#include <gflow/nn/dropout.hpp>
#include <gflow/nn/feed_forward.hpp>
#include <gflow/nn/layer_norm.hpp>
#include <gflow/nn/self_attention.hpp>

namespace gflow {

struct BertLayerOptions {
    Index d_model = 768;
    Index heads = 12;
    Index d_ff = 3072;
    double dropout = 0;            ///< of what the feed-forward net gives
    double attention_dropout = 0;  ///< of the attention weights
    double mixed_dropout = 0;      ///< of what attention gives
    double norm_eps = 1e-12;
    double init_std = 0.02;
    DType dtype = float32;
};

/// One layer of BERT (Devlin et al. 2019), on sequences that lie end to end:
///
///     ĥ = LN(h + Dropout(attention(h)))
///     h' = LN(ĥ + Dropout(FF(ĥ)))
class BertLayer : public nn::Module {
public:
    nn::SelfAttention attention;
    nn::LayerNorm attention_norm;
    nn::FeedForward feed_forward;
    nn::LayerNorm feed_forward_norm;
    nn::Dropout mixed_dropout, dropout;

    explicit BertLayer(const BertLayerOptions& o)
        : attention({.d_model = o.d_model,
                     .heads = o.heads,
                     .dropout = o.attention_dropout,
                     .init_std = o.init_std,
                     .dtype = o.dtype}),
          attention_norm({.size = o.d_model, .eps = o.norm_eps, .dtype = o.dtype}),
          feed_forward({.d_model = o.d_model, .d_ff = o.d_ff, .init_std = o.init_std, .dtype = o.dtype}),
          feed_forward_norm({.size = o.d_model, .eps = o.norm_eps, .dtype = o.dtype}),
          mixed_dropout(o.mixed_dropout),
          dropout(o.dropout) {
        register_module("attention", attention);
        register_module("attention_norm", attention_norm);
        register_module("feed_forward", feed_forward);
        register_module("feed_forward_norm", feed_forward_norm);
        register_module("mixed_dropout", mixed_dropout);
        register_module("dropout", dropout);
    }

    /// h: [tokens, d_model], lengths: those of the sequences → [tokens, d_model]
    Tensor operator()(const Tensor& h, const std::vector<Index>& lengths) const {
        const Tensor mixed = attention_norm(h, mixed_dropout(attention(h, lengths)));
        return feed_forward_norm(mixed, dropout(feed_forward(mixed)));
    }
};

}  // namespace gflow
