#pragma once
#include <gflow/autograd/checkpoint.hpp>
#include <gflow/models/language_model.hpp>

#include <string>
#include <vector>

namespace gflow {

/// A language model whose blocks all hold the same kind of mixer.
template <class Mixer, class MixerOptions>
class StackedLM : public LanguageModel {
public:
    using LayerBlock = Block<Mixer, MixerOptions>;

    std::vector<std::unique_ptr<LayerBlock>> blocks;

    std::unique_ptr<Decoder> decoder() const override { return std::make_unique<StackDecoder>(*this); }

protected:
    /// @param mixer_options  one for each layer
    StackedLM(const LanguageModelOptions& o, const std::vector<MixerOptions>& mixer_options, Index d_ff,
              NormPlacement norm)
        : LanguageModel(o) {
        for (const MixerOptions& mixer : mixer_options) {
            blocks.push_back(std::make_unique<LayerBlock>(mixer, d_ff, norm, o.dropout));
            register_module("blocks." + std::to_string(blocks.size() - 1), *blocks.back());
        }
        add_output_layers();
    }

    Tensor run_blocks(Tensor h) const override {
        for (const auto& block : blocks) {
            const auto run = [&block = *block](const std::vector<Tensor>& x) { return block(x[0]); };
            h = shared_options().recompute ? checkpoint(run, {h}) : run({h});
        }
        return h;
    }

private:
    class StackDecoder : public Decoder {
    public:
        explicit StackDecoder(const StackedLM& model) : model_(model), caches_(model.blocks.size()) {}

        Tensor step(Index id) override {
            require<index_error>(position_ < model_.max_length(), "Decoder", "the model has no position left",
                                 {{"position", position_}, {"max_length", model_.max_length()}});
            const NoGrad plain;
            const Tensor place = slice(model_.position_embedding.weight, 0, position_, position_ + 1);
            const Tensor token = model_.token_embedding(from_vector(std::vector<Index>{id}, {1, 1}));
            Tensor h = token + place;
            for (std::size_t layer = 0; layer < caches_.size(); ++layer)
                h = model_.blocks[layer]->step(h, caches_[layer]);
            ++position_;
            return reshape(linear(model_.normalized(h), model_.head_weight()), {model_.vocab_size()});
        }
        Index position() const override { return position_; }

    private:
        const StackedLM& model_;
        std::vector<typename Mixer::Cache> caches_;
        Index position_ = 0;
    };
};

}  // namespace gflow
