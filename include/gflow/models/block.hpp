#pragma once
#include <gflow/nn/dropout.hpp>
#include <gflow/nn/feed_forward.hpp>
#include <gflow/nn/layer_norm.hpp>
#include <gflow/ops/arithmetic.hpp>

namespace gflow {

/// Where a block normalises: after each part (the paper) or before it.
enum class NormPlacement { post, pre };

/// One layer of a sequence model: a mixer that lets positions meet, then a feed-forward net at each of them.
///
///     post   ĥ = LN(h + Dropout(mixer(h)))   or, with a mixer that brings its own skip,   ĥ = Dropout(LN(mixer(h)))
///            h' = LN(ĥ + Dropout(FF(ĥ)))
///     pre    ĥ = h + Dropout(mixer(LN(h)))
///            h' = ĥ + Dropout(FF(LN(ĥ)))
template <class Mixer, class MixerOptions>
class Block : public nn::Module {
public:
    Mixer mixer;
    nn::LayerNorm mixer_norm;
    nn::FeedForward feed_forward;
    nn::LayerNorm feed_forward_norm;
    nn::Dropout dropout;

    Block(const MixerOptions& o, Index d_ff, NormPlacement norm, double dropout_probability)
        : mixer(o),
          mixer_norm({.size = o.d_model, .dtype = o.dtype}),
          feed_forward({.d_model = o.d_model, .d_ff = d_ff, .init_std = o.init_std, .dtype = o.dtype}),
          feed_forward_norm({.size = o.d_model, .dtype = o.dtype}),
          dropout(dropout_probability),
          norm_(norm) {
        register_module("mixer", mixer);
        register_module("mixer_norm", mixer_norm);
        register_module("feed_forward", feed_forward);
        register_module("feed_forward_norm", feed_forward_norm);
        register_module("dropout", dropout);
    }

    /// h: [batch, length, d_model] → the same
    Tensor operator()(const Tensor& h) const {
        return apply(h, [&](const Tensor& x) { return mixer(x); });
    }
    /// The next position alone, h: [1, 1, d_model].
    Tensor step(const Tensor& h, typename Mixer::Cache& cache) const {
        return apply(h, [&](const Tensor& x) { return mixer.step(x, cache); });
    }

private:
    template <class Mix>
    Tensor apply(const Tensor& h, Mix mix) const {
        if (norm_ == NormPlacement::pre) {
            const Tensor mixed = h + dropout(mix(mixer_norm(h)));
            return mixed + dropout(feed_forward(feed_forward_norm(mixed)));
        }
        const Tensor mixed = Mixer::has_own_skip ? dropout(mixer_norm(mix(h))) : mixer_norm(h, dropout(mix(h)));
        return feed_forward_norm(mixed, dropout(feed_forward(mixed)));
    }

    NormPlacement norm_;
};

}  // namespace gflow
