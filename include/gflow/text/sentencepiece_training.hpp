#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <gflow/text/tokenizer.hpp>

namespace gflow {

/// Settings of SentencePiece::train.
struct SentencePieceTraining {
    Index size = 8000;                   ///< pieces, with `<unk>`, `<s>` and `</s>`
    double character_coverage = 0.9995;  ///< share of the text's characters that must have a piece; the rest is unknown
};

namespace detail {

inline void require_ok(std::string_view op, const sentencepiece::util::Status& status) {
    if (!status.ok()) fail<error>(op, status.ToString());
}

/// Hands the lines of a text to the trainer.
class SentenceLines final : public sentencepiece::SentenceIterator {
public:
    SentenceLines(std::string_view text, bool drop_unk) : rest_(text), drop_unk_(drop_unk) { Next(); }

    bool done() const override { return done_; }
    const std::string& value() const override { return line_; }
    sentencepiece::util::Status status() const override { return {}; }

    void Next() override {
        done_ = rest_.empty();
        const std::size_t length = next_length();
        line_ = rest_.substr(0, length);
        rest_.remove_prefix(length);
        if (drop_unk_)
            for (std::size_t at = 0; (at = line_.find(unk_literal, at)) != std::string::npos;)
                line_.replace(at, unk_literal.size(), 1, ' ');
        // The trainer would leave out a line that holds one of its separators.
        for (const std::string_view reserved : {std::string_view("\t"), std::string_view("\xE2\x96\x85"),
                                                std::string_view("\0", 1), std::string_view("\n")})
            for (std::size_t at = 0; (at = line_.find(reserved, at)) != std::string::npos;)
                line_.replace(at, reserved.size(), 1, ' ');
    }

private:
    /// A line and its end; longer ones are cut, at a space if there is one, since the trainer skips what is too long.
    std::size_t next_length() const {
        constexpr std::size_t longest = 4096;
        const std::size_t end = rest_.substr(0, longest).find('\n');
        if (end != std::string_view::npos) return end + 1;
        if (rest_.size() <= longest) return rest_.size();
        const std::size_t space = rest_.substr(0, longest).rfind(' ');
        if (space != std::string_view::npos) return space + 1;
        std::size_t cut = longest;
        while ((static_cast<unsigned char>(rest_[cut]) & 0xC0) == 0x80) --cut;
        return cut;
    }

    std::string_view rest_;
    std::string line_;
    bool drop_unk_;
    bool done_ = false;
};

/// Runs the library's trainer, silently. The model is left empty if it fails.
inline sentencepiece::util::Status run_trainer(std::string& model, std::string_view text, bool drop_unk,
                                               const std::string& type, Index size, double coverage) {
    SentenceLines lines(text, drop_unk);
    return sentencepiece::SentencePieceTrainer::Train(
        std::unordered_map<std::string, std::string>{
            {"model_type", type},
            {"vocab_size", std::to_string(size)},
            {"character_coverage", std::to_string(coverage)},
            {"num_threads", "4"},  // fixed: sums over threads depend on it
            {"max_sentence_length", "8192"},
            {"minloglevel", "2"}},  // errors only; they come back as the status
        &lines, &model);
}

/// The number that follows `words` in a message of the library.
inline std::optional<Index> number_after(std::string_view message, std::string_view words) {
    const std::size_t at = message.find(words);
    if (at == std::string_view::npos) return std::nullopt;
    Index number = 0;
    std::size_t i = at + words.size();
    for (; i < message.size() && message[i] >= '0' && message[i] <= '9'; ++i) number = number * 10 + (message[i] - '0');
    return i == at + words.size() ? std::nullopt : std::optional(number);
}

/// The library ends the process on a text in which its normaliser leaves nothing. Any visible ASCII character is
/// enough; without one, the character model (quick) shows whether a character is left besides the three marks.
inline bool has_characters(std::string_view text, bool drop_unk) {
    SentenceLines lines(text, drop_unk);
    for (; !lines.done(); lines.Next())
        for (const char c : lines.value())
            if (c > ' ' && c < 0x7F) return true;
    std::string model;
    sentencepiece::SentencePieceProcessor characters;
    return !text.empty() && run_trainer(model, text, drop_unk, "char", 1000000, 1).ok() &&
           characters.LoadFromSerializedProto(model).ok() && characters.GetPieceSize() > 3;
}

/// The bytes of a unigram model with settings.size pieces.
inline std::string train_unigram(std::string_view text, const SentencePieceTraining& settings, bool drop_unk) {
    constexpr std::string_view op = "SentencePiece::train";
    require<usage_error>(settings.size >= 4 && settings.size <= 1000000, op,
                         "the number of pieces must be at least 4 and at most 1000000", {{"size", settings.size}});
    require<usage_error>(settings.character_coverage >= 0.98 && settings.character_coverage <= 1, op,
                         "the character coverage must be at least 0.98 and at most 1",
                         {{"character_coverage", settings.character_coverage}});
    require<usage_error>(has_characters(text, drop_unk), op, "the text must have visible characters",
                         {{"bytes", text.size()}});
    std::string model;
    const auto attempt = [&](Index size) {
        return run_trainer(model, text, drop_unk, "unigram", size, settings.character_coverage);
    };
    auto status = attempt(settings.size);
    if (status.ok()) return model;
    if (const auto least = number_after(status.ToString(), " vs "))
        fail<usage_error>(op,
                          "the text has too many characters for that few pieces: ask for at least " +
                              std::to_string(*least) + " pieces",
                          {{"size", settings.size}});
    // What the library offers as the largest size does not always work: try, and go down until one does.
    auto largest = number_after(status.ToString(), "value <= ");
    while (largest) {
        status = attempt(*largest);
        if (status.ok())
            fail<usage_error>(op,
                              "the text is too small for that many pieces: ask for at most " +
                                  std::to_string(*largest) + ", or give more text",
                              {{"size", settings.size}, {"bytes", text.size()}});
        const auto next = number_after(status.ToString(), "value <= ");
        largest = next && *next < *largest ? next : std::nullopt;
    }
    fail<usage_error>(op, "the trainer must be able to make that many pieces (" + status.ToString() + ")",
                      {{"size", settings.size}, {"bytes", text.size()}});
}

}  // namespace detail

}  // namespace gflow
