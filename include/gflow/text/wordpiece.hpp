#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gflow/text/bert_text.hpp>
#include <gflow/text/text_file.hpp>
#include <gflow/text/tokenizer.hpp>

namespace gflow {

/// WordPiece as BERT uncased does it (Devlin et al., 2019): the ids are those of Hugging Face's BertWordPieceTokenizer
/// with lower-casing. A special token of the vocabulary that stands literally in a text ("[SEP]") is that token.
class WordPiece final : public Tokenizer {
public:
    /// Reads a vocabulary: one token a line, the id is the line number from 0.
    /// @throws io_error if the file cannot be read, is empty, not UTF-8, has a blank or repeated line, or no [UNK]
    explicit WordPiece(const std::filesystem::path& vocabulary, TokenizerOptions options = {})
        : WordPiece(detail::read_bytes("WordPiece", vocabulary), vocabulary.string(), options) {}

    /// The same from memory.
    static WordPiece from_string(std::string vocabulary, TokenizerOptions options = {}) {
        return WordPiece(std::move(vocabulary), "(memory)", options);
    }

    std::vector<std::int32_t> encode(std::string_view text) const override {
        detail::require_utf8("WordPiece::encode", text);
        std::vector<std::int32_t> ids;
        ids.reserve(text.size() / 4);
        encode_into(ids, text);
        return ids;
    }

    /// Ids of `[CLS] first [SEP] second [SEP]`.
    std::vector<std::int32_t> encode_pair(std::string_view first, std::string_view second) const {
        const std::int32_t cls = special_id("[CLS]"), sep = special_id("[SEP]");
        detail::require_utf8("WordPiece::encode_pair", first);
        detail::require_utf8("WordPiece::encode_pair", second);
        std::vector<std::int32_t> ids{cls};
        encode_into(ids, first);
        ids.push_back(sep);
        encode_into(ids, second);
        ids.push_back(sep);
        return ids;
    }

    /// Words parted by one space each; pieces that begin with ## join the word before.
    std::string decode(std::span<const std::int32_t> ids) const override {
        std::string text;
        for (const std::int32_t id : ids) text += piece(id, text.empty());
        return text;
    }

    std::string piece(std::int32_t id, bool first) const override {
        std::string_view text = token(id);
        if (id == unk_ && options_.unk_as_token) text = detail::unk_literal;
        if (is_inner(text)) return std::string(text.substr(2));
        return (first ? "" : " ") + std::string(text);
    }

    /// The line of the vocabulary.
    std::string_view token(std::int32_t id) const {
        detail::require_id("WordPiece::token", id, vocab_size());
        return tokens_[static_cast<std::size_t>(id)];
    }

    /// Id of a line of the vocabulary, if there is one.
    std::optional<std::int32_t> id_of(std::string_view token) const {
        const auto& pieces = is_inner(token) ? inner_ : initial_;
        const auto found = pieces.find(is_inner(token) ? token.substr(2) : token);
        return found == pieces.end() ? std::nullopt : std::optional(found->second);
    }

    /// Id of a special token. @throws io_error if the vocabulary has none
    std::int32_t special_id(std::string_view token) const {
        const auto id = id_of(token);
        require<io_error>(id.has_value(), "WordPiece", "the vocabulary must have this token: is it BERT's vocab.txt?",
                          {{"missing", token}, {"vocabulary", source_}});
        return *id;
    }

    Index vocab_size() const override { return static_cast<Index>(tokens_.size()); }
    std::string kind() const override { return "wordpiece"; }
    std::int32_t unk_id() const override { return unk_; }
    bool unk_as_token() const override { return options_.unk_as_token; }

    void save(const std::filesystem::path& file) const override {
        std::string text;
        for (const std::string_view token : tokens_) (text += token) += '\n';
        detail::write_bytes("WordPiece::save", file, text);
    }

private:
    static constexpr std::size_t longest_word = 100;  // in characters; what is longer is [UNK], as in BERT

    static bool is_inner(std::string_view token) { return token.size() > 2 && token.substr(0, 2) == "##"; }

    WordPiece(std::string vocabulary, std::string source, TokenizerOptions options)
        : options_(options), source_(std::move(source)), text_(std::make_shared<std::string>(std::move(vocabulary))) {
        read_lines();
        unk_ = special_id("[UNK]");
        for (const std::string_view special : {"[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"})
            if (const auto id = id_of(special)) literals_.emplace_back(special, *id);
        if (options_.unk_as_token) literals_.emplace_back(detail::unk_literal, unk_);
    }

    void read_lines() {
        std::string_view rest = *text_;
        if (const auto bad = first_invalid_utf8(rest)) {
            const auto line = 1 + std::count(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(*bad), '\n');
            fail<io_error>("WordPiece", "the vocabulary must be UTF-8",
                           {{"vocabulary", source_}, {"line", line}, {"byte", detail::hex_byte(rest[*bad])}});
        }
        require<io_error>(rest.find_first_not_of("\r\n") != std::string_view::npos, "WordPiece",
                          "the vocabulary must not be empty", {{"vocabulary", source_}});
        rest = rest.substr(0, rest.find_last_not_of("\r\n") + 1);  // blank lines at the end count for nothing
        while (!rest.empty()) {
            const std::size_t end = rest.find('\n');
            std::string_view line = rest.substr(0, end);
            rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
            if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
            add(line);
        }
    }

    void add(std::string_view token) {
        const auto id = static_cast<std::int32_t>(tokens_.size());
        require<io_error>(!token.empty(), "WordPiece", "no line of the vocabulary may be blank",
                          {{"vocabulary", source_}, {"line", id + 1}});
        const std::string_view key = is_inner(token) ? token.substr(2) : token;
        const auto [known, fresh] = (is_inner(token) ? inner_ : initial_).try_emplace(key, id);
        require<io_error>(fresh, "WordPiece", "no token may be in the vocabulary twice",
                          {{"token", token},
                           {"lines", std::to_string(known->second + 1) + " and " + std::to_string(id + 1)},
                           {"vocabulary", source_}});
        tokens_.push_back(token);
        longest_piece_ = std::max(longest_piece_, key.size());
    }

    /// The literal that begins nearest to the front, and where.
    std::pair<std::size_t, const std::pair<std::string_view, std::int32_t>*> next_literal(std::string_view text) const {
        const std::string_view starts = options_.unk_as_token ? "[<" : "[";
        for (std::size_t at = text.find_first_of(starts); at != std::string_view::npos;
             at = text.find_first_of(starts, at + 1))
            for (const auto& literal : literals_)
                if (text.substr(at, literal.first.size()) == literal.first) return {at, &literal};
        return {text.size(), nullptr};
    }

    void encode_into(std::vector<std::int32_t>& ids, std::string_view text) const {
        while (!text.empty()) {
            const auto [at, literal] = next_literal(text);
            detail::bert_words(text.substr(0, at), [&](std::string_view word) { encode_word(ids, word); });
            if (literal == nullptr) break;
            ids.push_back(literal->second);
            text.remove_prefix(at + literal->first.size());
        }
    }

    /// Greedy longest match from the left; a word that cannot be covered is one [UNK].
    void encode_word(std::vector<std::int32_t>& ids, std::string_view word) const {
        const auto is_start = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
        const std::size_t before = ids.size();
        if (word.size() > longest_word &&
            static_cast<std::size_t>(std::count_if(word.begin(), word.end(), is_start)) > longest_word) {
            ids.push_back(unk_);
            return;
        }
        while (!word.empty()) {
            const auto& pieces = ids.size() == before ? initial_ : inner_;
            std::size_t length = std::min(word.size(), longest_piece_);
            auto found = pieces.find(word.substr(0, length));
            while (found == pieces.end() && length > 1) found = pieces.find(word.substr(0, --length));
            if (found == pieces.end()) {
                ids.resize(before);
                ids.push_back(unk_);
                return;
            }
            ids.push_back(found->second);
            word.remove_prefix(length);
        }
    }

    TokenizerOptions options_;
    std::string source_;                       // where the vocabulary came from, for messages
    std::shared_ptr<const std::string> text_;  // the views below point into it, in copies of this object too
    std::vector<std::string_view> tokens_;
    std::unordered_map<std::string_view, std::int32_t> initial_, inner_;  // inner_: those of ##, without it
    std::vector<std::pair<std::string_view, std::int32_t>> literals_;
    std::size_t longest_piece_ = 0;
    std::int32_t unk_ = 0;
};

}  // namespace gflow
