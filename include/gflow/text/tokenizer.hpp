#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gflow/core/errors.hpp>
#include <gflow/core/index.hpp>
#include <gflow/text/utf8.hpp>

namespace gflow {

/// Text to ids and back. All functions are const and safe to call from several threads.
class Tokenizer {
public:
    virtual ~Tokenizer() = default;

    /// Ids of a text, without special tokens round it. Line ends separate words and give no id of their own, unless
    /// the model has one for them.
    /// @throws io_error if the text is not UTF-8
    virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;

    /// @throws index_error if an id is not in [0, vocab_size)
    virtual std::string decode(std::span<const std::int32_t> ids) const = 0;

    /// What a stream of text grows by when this id comes: its bytes, led by the space that parts it from the text
    /// before; `first` says that there is none yet. May be part of a UTF-8 character: print through Utf8Stream.
    virtual std::string piece(std::int32_t id, bool first) const = 0;

    virtual Index vocab_size() const = 0;

    /// "wordpiece" or "sentencepiece": with the saved file and unk_as_token() all that load_tokenizer needs.
    virtual std::string kind() const = 0;

    virtual std::int32_t unk_id() const = 0;

    /// Whether the literal `<unk>` in a text is one unknown id (and that id is decoded to `<unk>`).
    virtual bool unk_as_token() const = 0;

    /// Writes the vocabulary or model to a file, whole or not at all.
    virtual void save(const std::filesystem::path& file) const = 0;
};

/// Settings that every tokenizer has.
struct TokenizerOptions {
    bool unk_as_token = false;  ///< the literal `<unk>` in a text becomes one unknown id
};

namespace detail {

inline constexpr std::string_view unk_literal = "<unk>";

inline void require_utf8(std::string_view op, std::string_view text) {
    if (const auto bad = first_invalid_utf8(text))
        fail<io_error>(op, "the text must be UTF-8", {{"byte", hex_byte(text[*bad])}, {"offset", *bad}});
}

inline void require_id(std::string_view op, std::int32_t id, Index vocab_size) {
    require<index_error>(id >= 0 && id < vocab_size, op, "an id must be at least 0 and less than the vocabulary size",
                         {{"id", id}, {"vocab_size", vocab_size}});
}

}  // namespace detail

}  // namespace gflow
