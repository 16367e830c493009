#pragma once
#include <charconv>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <gflow/text/sentencepiece.hpp>
#include <gflow/text/tokenizer.hpp>
#include <gflow/text/wordpiece.hpp>

namespace gflow {

/// A tokenizer as it is named on a command line.
struct TokenizerSpec {
    std::string kind;            ///< "wordpiece", "sentencepiece" or "train"
    std::filesystem::path file;  ///< vocabulary or model; empty for "train"
    Index size = 0;              ///< pieces, for "train"
};

/// Reads `wordpiece:VOCAB`, `sentencepiece:MODEL` or `train:SIZE`.
/// @throws usage_error if it is none of these
inline TokenizerSpec parse_tokenizer(std::string_view text) {
    const std::size_t colon = text.find(':');
    TokenizerSpec spec;
    spec.kind = std::string(text.substr(0, colon));
    const std::string_view value = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    bool good = !value.empty();
    if (spec.kind == "train") {
        const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), spec.size);
        good = good && problem == std::errc() && end == value.data() + value.size() && spec.size > 0;
    } else {
        good = good && (spec.kind == "wordpiece" || spec.kind == "sentencepiece");
        spec.file = std::string(value);
    }
    require<usage_error>(good, "parse_tokenizer",
                         "a tokenizer is wordpiece:VOCAB, sentencepiece:MODEL or train:SIZE (a number above 0)",
                         {{"tokenizer", text}});
    return spec;
}

/// The tokenizer of this kind from its file, as a run folder keeps them.
/// @throws usage_error if the kind is unknown;  io_error if the file is missing, damaged, or of another kind
inline std::unique_ptr<Tokenizer> load_tokenizer(std::string_view kind, const std::filesystem::path& file,
                                                 TokenizerOptions options = {}) {
    if (kind == "wordpiece") return std::make_unique<WordPiece>(file, options);
    if (kind == "sentencepiece") return std::make_unique<SentencePiece>(file, options);
    fail<usage_error>("load_tokenizer", "the kind must be wordpiece or sentencepiece", {{"kind", kind}});
}

/// Loads the tokenizer that `spec` names, or trains it on `training_text`.
inline std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerSpec& spec, std::string_view training_text,
                                                 TokenizerOptions options = {}) {
    if (spec.kind != "train") return load_tokenizer(spec.kind, spec.file, options);
    return std::make_unique<SentencePiece>(SentencePiece::train(training_text, {.size = spec.size}, options));
}

/// The file name under which a run folder keeps a tokenizer of this kind.
inline std::string tokenizer_file_name(std::string_view kind) {
    return kind == "wordpiece" ? "tokenizer.txt" : "tokenizer.model";
}

}  // namespace gflow
