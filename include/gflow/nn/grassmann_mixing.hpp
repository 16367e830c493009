#pragma once
#include <gflow/nn/linear.hpp>
#include <gflow/ops/arithmetic.hpp>
#include <gflow/ops/blend.hpp>
#include <gflow/ops/concat.hpp>
#include <gflow/ops/gelu.hpp>
#include <gflow/ops/plucker_mix.hpp>
#include <gflow/ops/slice.hpp>
#include <gflow/ops/softmax.hpp>

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>

namespace gflow::nn {

/// What the layer adds to the paper's text: its published parameter counts hold one more biased d×d map per layer.
enum class MixerOutput {
    none,    ///< as the text describes it
    linear,  ///< a projection after the blend
    mlp      ///< the Plücker projection becomes a two-layer perceptron, W₂ GELU(W_plu p̂ + b)
};
/// Where the weights of the offsets come from.
enum class OffsetWeights {
    uniform,  ///< the paper: 1/(number of valid offsets), or 1 for Aggregate::sum
    learned,  ///< softmax over the valid offsets of one learned number each
    token     ///< softmax over the valid offsets of a linear map of the token
};
/// causal pairs (z_{t−Δ}, z_t); lookahead pairs (z_t, z_{t+Δ}), the paper's literal text, which shows a language model
/// its own label: for encoders only.
enum class Direction { causal, lookahead };

struct GrassmannMixingOptions {
    Index d_model = 1;
    Index rank = 32;  ///< r: numbers per head that a token is reduced to
    Index heads = 1;
    std::vector<Index> offsets = {1};  ///< Δ, one at least; one that stands twice counts twice
    Aggregate aggregate = Aggregate::mean;
    Normalize normalize = Normalize::unit;
    OffsetWeights offset_weights = OffsetWeights::uniform;
    MixerOutput mixer_output = MixerOutput::none;
    Direction direction = Direction::causal;
    double gate_bias = 0;  ///< where the gate starts: σ(gate_bias) is the share of the old state
    double init_std = 0;
    DType dtype = float32;
};

/// The mixing layer of arXiv 2512.19428 §3: z = W_red h + b; the planes of z_t with its partners, projected, make g;
/// and h_mix = α⊙h + (1−α)⊙g with α = σ(W_gate [h; g] + b_gate). The gate is the skip path.
class GrassmannMixing : public Module {
public:
    /// The layer brings its own way round itself, so a post-norm block adds no residual.
    static constexpr bool has_own_skip = true;

    Linear reduce, plucker, gate;
    std::optional<Linear> output;       ///< MixerOutput::linear or mlp
    Tensor offset_logits;               ///< [offsets], OffsetWeights::learned
    std::optional<Linear> offset_head;  ///< d → offsets, OffsetWeights::token

    explicit GrassmannMixing(const GrassmannMixingOptions& o)
        : reduce({.in = o.d_model, .out = o.heads * o.rank, .init_std = o.init_std, .dtype = o.dtype}),
          plucker({.in = o.heads * kernels::plucker_size(checked(o).rank),
                   .out = o.d_model,
                   .init_std = o.init_std,
                   .dtype = o.dtype}),
          gate({.in = 2 * o.d_model, .out = o.d_model, .init_std = o.init_std, .dtype = o.dtype}),
          options_(o) {
        register_module("reduce", reduce);
        register_module("plucker", plucker);
        register_module("gate", gate);
        Tensor gate_bias = full(gate.bias.shape(), o.gate_bias, o.dtype), target = gate.bias.detach();
        copy_into(target, gate_bias);
        if (o.mixer_output != MixerOutput::none) {
            output.emplace(LinearOptions{.in = o.d_model, .out = o.d_model, .init_std = o.init_std, .dtype = o.dtype});
            register_module("output", *output);
        }
        const auto m = static_cast<Index>(o.offsets.size());
        if (o.offset_weights == OffsetWeights::learned) {
            offset_logits = zeros({m}, o.dtype);
            register_parameter("offset_logits", offset_logits);
        }
        if (o.offset_weights == OffsetWeights::token) {
            offset_head.emplace(LinearOptions{.in = o.d_model, .out = m, .init_std = o.init_std, .dtype = o.dtype});
            register_module("offset_head", *offset_head);
        }
        if (o.direction == Direction::lookahead)
            for (Index& offset : options_.offsets) offset = -offset;
    }

    /// h: [batch, length, d_model] → the same
    Tensor operator()(const Tensor& h) const {
        return finish(h, plucker_mix(reduce(h), plucker.weight, plucker.bias, mix_options(options_.offsets),
                                     weights(h, options_.offsets)));
    }

    /// The reduced states that later positions pair with: the last max(Δ) of them, whatever the length of the text.
    struct Cache {
        std::deque<Tensor> states;
    };

    /// The next position of a sequence, h: [1, 1, d_model]. Equal to the last position of the whole forward.
    Tensor step(const Tensor& h, Cache& cache) const {
        // A short sequence holds just the partners that are valid here, then the new state, which pairs with them all.
        const auto past = static_cast<Index>(cache.states.size());
        std::vector<Tensor> window;
        std::vector<Index> valid, steps;
        for (Index offset : options_.offsets) {
            if (offset > past) continue;
            window.push_back(cache.states[static_cast<std::size_t>(past - offset)]);
            valid.push_back(offset);
        }
        const Tensor z = reduce(h);
        window.push_back(z);
        for (std::size_t i = 0; i < valid.size(); ++i) steps.push_back(static_cast<Index>(valid.size() - i));
        const Tensor w = step_weights(h, valid, past);
        const Tensor g = plucker_mix_last(concat(window, 1), plucker.weight, plucker.bias, mix_options(steps), w);
        cache.states.push_back(z);
        const Index reach = *std::max_element(options_.offsets.begin(), options_.offsets.end());
        if (static_cast<Index>(cache.states.size()) > reach) cache.states.pop_front();
        return finish(h, g);
    }

    const GrassmannMixingOptions& options() const { return options_; }

private:
    static const GrassmannMixingOptions& checked(const GrassmannMixingOptions& o) {
        require<usage_error>(o.rank >= 2, "GrassmannMixing", "rank must be at least 2, or there is no plane",
                             {{"rank", o.rank}});
        require<usage_error>(o.heads >= 1, "GrassmannMixing", "heads must be at least 1", {{"heads", o.heads}});
        require<usage_error>(!o.offsets.empty(), "GrassmannMixing", "at least one offset is needed",
                             {{"offsets", o.offsets.size()}});
        for (Index offset : o.offsets)
            require<usage_error>(offset >= 1, "GrassmannMixing", "offsets must be at least 1", {{"offset", offset}});
        return o;
    }

    PluckerMixOptions mix_options(const std::vector<Index>& offsets) const {
        return {.heads = options_.heads,
                .offsets = offsets,
                .normalize = options_.normalize,
                .aggregate = options_.aggregate};
    }

    /// g → the layer's output.
    Tensor finish(const Tensor& h, Tensor g) const {
        if (options_.mixer_output == MixerOutput::mlp) g = (*output)(gelu(g));
        const Tensor mixed = blend(gate({h, g}), h, g);
        return options_.mixer_output == MixerOutput::linear ? (*output)(mixed) : mixed;
    }

    /// The weights of the offsets at each position; undefined where plucker_mix makes them itself.
    Tensor weights(const Tensor& h, const std::vector<Index>& offsets) const {
        if (options_.offset_weights == OffsetWeights::uniform) return {};
        const Tensor logits = offset_head ? (*offset_head)(h) : offset_logits;
        return softmax(logits + reach_mask(h.size(1), offsets));
    }
    /// The same for the last position of step's short sequence.
    Tensor step_weights(const Tensor& h, const std::vector<Index>& valid, Index past) const {
        if (options_.offset_weights == OffsetWeights::uniform) return {};
        const Tensor logits = offset_head ? (*offset_head)(h) : reshape(offset_logits, {1, 1, -1});
        const Tensor mask = reach_mask(past + 1, options_.offsets);
        const Tensor here = softmax(logits + slice(mask, 0, past, past + 1));
        std::vector<Tensor> kept;
        for (std::size_t i = 0; i < options_.offsets.size(); ++i)
            if (options_.offsets[i] <= past)
                kept.push_back(slice(here, 2, static_cast<Index>(i), static_cast<Index>(i) + 1));
        const auto m = static_cast<Index>(valid.size());
        if (m == 0) return {};
        return concat({zeros({1, m, m}, h.dtype()), concat(kept, 2)}, 1);
    }
    /// 0 where t − Δ lies in the sequence, −∞ elsewhere.  [length, offsets]
    Tensor reach_mask(Index length, const std::vector<Index>& offsets) const {
        Tensor mask = zeros({length, static_cast<Index>(offsets.size())}, options_.dtype);
        visit_floating("reach_mask", options_.dtype, [&]<class T>(T) {
            T* out = mask.mutable_data<T>();
            for (Index t = 0; t < length; ++t)
                for (Index offset : offsets) {
                    if (t - offset < 0 || t - offset >= length) *out = -std::numeric_limits<T>::infinity();
                    ++out;
                }
        });
        return mask;
    }

    GrassmannMixingOptions options_;
};

}  // namespace gflow::nn
