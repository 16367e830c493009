#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sentencepiece_processor.h>
#include <gflow/text/sentencepiece_training.hpp>
#include <gflow/text/text_file.hpp>
#include <gflow/text/tokenizer.hpp>

namespace gflow {

/// A model of the SentencePiece library (Kudo and Richardson, 2018), loaded or trained. Ids, pieces and decoded text
/// are the library's own. Each line of a text is encoded by itself, unless the model has a piece for line ends.
class SentencePiece final : public Tokenizer {
public:
    /// Loads a `.model` file. @throws io_error if it cannot be read or is no SentencePiece model
    explicit SentencePiece(const std::filesystem::path& model, TokenizerOptions options = {})
        : SentencePiece(detail::read_bytes("SentencePiece", model), model.string(), options) {}

    /// The same from the bytes of a `.model` file.
    static SentencePiece from_bytes(std::string model, TokenizerOptions options = {}) {
        return SentencePiece(std::move(model), "(memory)", options);
    }

    /// Trains a unigram model on a text in memory; the same text and settings give the same model, on any machine.
    /// @throws usage_error if the text has too few or too many different words or characters for that many pieces;
    ///         io_error if it is not UTF-8
    static SentencePiece train(std::string_view text, const SentencePieceTraining& settings = {},
                               TokenizerOptions options = {}) {
        detail::require_utf8("SentencePiece::train", text);
        return from_bytes(detail::train_unigram(text, settings, options.unk_as_token), options);
    }

    /// The same on text files, read one after the other. @throws what read_text throws, too
    static SentencePiece train_files(std::span<const std::filesystem::path> files,
                                     const SentencePieceTraining& settings = {}, TokenizerOptions options = {}) {
        std::string text;
        for (const auto& file : files) (text += read_text(file)) += '\n';
        return train(text, settings, options);
    }

    std::vector<std::int32_t> encode(std::string_view text) const override {
        detail::require_utf8("SentencePiece::encode", text);
        std::vector<std::int32_t> ids;
        if (!line_by_line_) {
            encode_into(ids, text);
            return ids;
        }
        while (!text.empty()) {
            const std::size_t end = text.find('\n');
            encode_into(ids, text.substr(0, end));
            text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        }
        return ids;
    }

    /// As the library decodes; with unk_as_token an unknown id reads `<unk>`.
    std::string decode(std::span<const std::int32_t> ids) const override {
        for (const std::int32_t id : ids) detail::require_id("SentencePiece::decode", id, vocab_size());
        std::string text;
        if (options_.unk_as_token)
            for (const std::int32_t id : ids) text += piece(id, text.empty());
        else
            detail::require_ok("SentencePiece::decode",
                               model_->Decode(std::vector<int>(ids.begin(), ids.end()), &text));
        return text;
    }

    std::string piece(std::int32_t id, bool first) const override {
        detail::require_id("SentencePiece::piece", id, vocab_size());
        if (id == unk_id()) {
            if (options_.unk_as_token) return (first ? "" : " ") + std::string(detail::unk_literal);
            return unknown_;
        }
        if (model_->IsControl(id)) return {};
        const std::string& raw = model_->IdToPiece(id);
        if (model_->IsByte(id)) return {static_cast<char>(std::stoi(raw.substr(3, 2), nullptr, 16))};  // <0x0A>
        std::string text;
        for (std::size_t i = 0; i < raw.size();) {
            const bool space = raw.compare(i, space_mark.size(), space_mark) == 0;
            text += space ? ' ' : raw[i];
            i += space ? space_mark.size() : 1;
        }
        if (first && text.starts_with(' ')) text.erase(0, 1);
        return text;
    }

    /// The piece as the model has it, "▁" for a space.
    std::string token(std::int32_t id) const {
        detail::require_id("SentencePiece::token", id, vocab_size());
        return model_->IdToPiece(id);
    }

    Index vocab_size() const override { return model_->GetPieceSize(); }
    std::string kind() const override { return "sentencepiece"; }
    std::int32_t unk_id() const override { return model_->unk_id(); }
    bool unk_as_token() const override { return options_.unk_as_token; }

    void save(const std::filesystem::path& file) const override {
        detail::write_bytes("SentencePiece::save", file, *bytes_);
    }

private:
    static constexpr std::string_view space_mark = "\xE2\x96\x81";  // ▁

    SentencePiece(std::string bytes, const std::string& source, TokenizerOptions options)
        : options_(options), bytes_(std::make_shared<std::string>(std::move(bytes))) {
        auto model = std::make_shared<sentencepiece::SentencePieceProcessor>();
        const bool loaded = !bytes_->empty() && model->LoadFromSerializedProto(*bytes_).ok();
        require<io_error>(loaded && model->GetPieceSize() > 0, "SentencePiece",
                          "the file must be a SentencePiece model (.model)", {{"file", source}});
        model_ = std::move(model);
        detail::require_ok("SentencePiece", model_->Decode(std::vector<int>{unk_id()}, &unknown_));
        line_by_line_ = !knows_line_ends();
    }

    /// Whether a line end becomes a piece; in some models it vanishes, in others it is unknown.
    bool knows_line_ends() const {
        const auto whole = ids_of("a\na"), lines = ids_of(std::vector<std::string_view>{"a", "a"});
        const auto unknown = [&](const auto& ids) { return std::count(ids.begin(), ids.end(), unk_id()); };
        return whole != lines && unknown(whole) == unknown(lines);
    }

    std::vector<std::int32_t> ids_of(std::string_view text) const {
        std::vector<int> ids;
        detail::require_ok("SentencePiece::encode", model_->Encode(text, &ids));
        return ids;
    }

    std::vector<std::int32_t> ids_of(const std::vector<std::string_view>& texts) const {
        std::vector<std::int32_t> all;
        for (const std::string_view text : texts) {
            const auto ids = ids_of(text);
            all.insert(all.end(), ids.begin(), ids.end());
        }
        return all;
    }

    void encode_into(std::vector<std::int32_t>& ids, std::string_view text) const {
        while (!text.empty()) {
            const std::size_t at = options_.unk_as_token ? text.find(detail::unk_literal) : std::string_view::npos;
            const auto part = ids_of(text.substr(0, at));
            ids.insert(ids.end(), part.begin(), part.end());
            if (at == std::string_view::npos) break;
            ids.push_back(unk_id());
            text.remove_prefix(at + detail::unk_literal.size());
        }
    }

    TokenizerOptions options_;
    std::shared_ptr<const std::string> bytes_;  // the model file, for save
    std::shared_ptr<const sentencepiece::SentencePieceProcessor> model_;
    std::string unknown_;       // what the library decodes an unknown id to
    bool line_by_line_ = true;  // a line end parts words and is nothing else
};

}  // namespace gflow
