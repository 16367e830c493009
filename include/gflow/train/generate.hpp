#pragma once
#include <gflow/autograd/grad_mode.hpp>
#include <gflow/models/language_model.hpp>
#include <gflow/ops/to.hpp>
#include <gflow/text/tokenizer.hpp>
#include <gflow/train/sampler.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gflow {

/// Feeds a text of any length through a model of max_length positions: when they are used up, the decoder starts again
/// with the last half of them as its past.
class EndlessDecoder {
public:
    explicit EndlessDecoder(const LanguageModel& model) : model_(model), decoder_(model.decoder()) {}

    /// Takes the next token; returns the logits [vocab_size] of the one after it.
    Tensor step(Index id) {
        if (decoder_->position() == model_.max_length()) {
            decoder_ = model_.decoder();
            const std::size_t keep = static_cast<std::size_t>(model_.max_length() / 2);
            past_.erase(past_.begin(), past_.end() - static_cast<std::ptrdiff_t>(keep));
            for (const Index old : past_) decoder_->step(old);
        }
        past_.push_back(id);
        return decoder_->step(id);
    }

private:
    const LanguageModel& model_;
    std::unique_ptr<Decoder> decoder_;
    std::vector<Index> past_;
};

struct GenerateOptions {
    Index max_tokens = 100;
    SamplerOptions sampler{};
};

/// Continues a text. The model should be in evaluation mode.
/// @param out  gets each new bit of text as it comes, always whole UTF-8 characters
/// @return     the new text
/// @throws usage_error if the prompt holds no token
inline std::string generate(const LanguageModel& model, const Tokenizer& tokenizer, std::string_view prompt,
                            const GenerateOptions& options, const std::function<void(std::string_view)>& out = {}) {
    require<usage_error>(options.max_tokens >= 0, "generate", "max_tokens must be at least 0",
                         {{"max_tokens", options.max_tokens}});
    Sampler sampler(options.sampler);
    const std::vector<std::int32_t> ids = tokenizer.encode(prompt);
    require<usage_error>(!ids.empty(), "generate", "the prompt must hold at least one token", {{"prompt", prompt}});
    const NoGrad plain;
    EndlessDecoder decoder(model);
    Tensor logits;
    for (const std::int32_t id : ids) logits = decoder.step(id);
    Utf8Stream characters;
    std::string text;
    const auto emit = [&](const std::string& fresh) {
        text += fresh;
        if (out && !fresh.empty()) out(fresh);
    };
    for (Index i = 0; i < options.max_tokens; ++i) {
        const Tensor numbers = to(logits, float32);
        const Index id = sampler({numbers.data<float>(), numbers.numel()});
        emit(characters.push(tokenizer.piece(static_cast<std::int32_t>(id), false)));
        if (i + 1 < options.max_tokens) logits = decoder.step(id);
    }
    emit(characters.flush());
    return text;
}

}  // namespace gflow
