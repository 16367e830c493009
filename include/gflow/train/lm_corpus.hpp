#pragma once
#include <gflow/text/corpus.hpp>
#include <gflow/text/load_tokenizer.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gflow {

/// A text as ids, and what its loss is divided by.
struct LmText {
    std::vector<std::int32_t> ids{};
    Index words = 0;  ///< parted by white space
    Index bytes = 0;
};

inline LmText encode_text(const Tokenizer& tokenizer, std::string_view text) {
    return {tokenizer.encode(text), count_words(text), static_cast<Index>(text.size())};
}

/// The three parts of a corpus as ids.
struct LmCorpus {
    LmText train{}, valid{}, test{};
};

/// @throws usage_error naming the part that is too short: training needs a whole chunk of `length` and its last target,
/// the others two tokens
inline LmCorpus encode_corpus(const Tokenizer& tokenizer, const Corpus& corpus, Index length) {
    LmCorpus encoded{encode_text(tokenizer, corpus.train), encode_text(tokenizer, corpus.valid),
                     encode_text(tokenizer, corpus.test)};
    const auto tokens = [](const LmText& text) { return static_cast<Index>(text.ids.size()); };
    require<io_error>(tokens(encoded.train) > length, "encode_corpus",
                      "the training text is shorter than a chunk: give more text or a smaller --seq-len",
                      {{"tokens", tokens(encoded.train)}, {"needed", length + 1}});
    for (const auto& [name, text] : {std::pair("validation", &encoded.valid), std::pair("test", &encoded.test)})
        require<io_error>(tokens(*text) >= 2, "encode_corpus",
                          std::string("the ") + name + " text must have at least 2 tokens: give more text",
                          {{"tokens", tokens(*text)}});
    return encoded;
}

namespace detail {

/// FNV-1a over the values.
template <class Values>
void add_to_hash(std::uint64_t& hash, const Values& values) {
    for (const auto value : values) hash = (hash ^ static_cast<std::uint32_t>(value)) * 0x100000001B3;
}
inline std::string hash_text(std::uint64_t hash) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
    return digits;
}
inline constexpr std::uint64_t empty_hash = 0xCBF29CE484222325;

}  // namespace detail

/// A number that tells texts apart, so that a run is not resumed on other data.
inline std::string fingerprint(const LmCorpus& corpus) {
    std::uint64_t hash = detail::empty_hash;
    for (const LmText* text : {&corpus.train, &corpus.valid, &corpus.test}) detail::add_to_hash(hash, text->ids);
    return detail::hash_text(hash);
}
/// A number that tells files apart, so that a model is not given another tokenizer than its own.
inline std::string fingerprint(std::string_view bytes) {
    std::uint64_t hash = detail::empty_hash;
    detail::add_to_hash(hash, bytes);
    return detail::hash_text(hash);
}

}  // namespace gflow
