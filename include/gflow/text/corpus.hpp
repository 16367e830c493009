#pragma once
#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <gflow/core/errors.hpp>
#include <gflow/core/index.hpp>
#include <gflow/text/text_file.hpp>

namespace gflow {

/// A text in three parts, each byte for byte as its files have it.
struct Corpus {
    std::string train, valid, test;
};

/// Lines of a text; the last one counts whether or not it ends in a line end.
inline Index count_lines(std::string_view text) {
    return std::count(text.begin(), text.end(), '\n') + (!text.empty() && text.back() != '\n');
}

/// Words of a text, parted by ASCII white space: what nats per word are divided by. (Counts that have one `<eos>` a
/// line, as 217,646 for the validation part of Wikitext-2, are count_words + count_lines.)
inline Index count_words(std::string_view text) {
    Index words = 0;
    bool inside = false;
    for (const char c : text) {
        const bool space = c == ' ' || (c >= '\t' && c <= '\r');
        words += !space && !inside;
        inside = !space;
    }
    return words;
}

/// Cuts one text into parts by lines: the last 5 % are test, the 5 % before them validation, at least one line each.
/// @throws io_error if it has fewer than three lines
inline Corpus split_corpus(std::string_view text) {
    const Index lines = count_lines(text);
    require<io_error>(lines >= 3, "split_corpus",
                      "a text must have at least 3 lines, to be cut into train, validation and test",
                      {{"lines", lines}});
    const Index part = std::max<Index>(1, lines / 20);
    // Offset at which the last `count` lines begin.
    const auto tail = [&](Index count) {
        std::size_t at = text.size() - (text.back() == '\n');
        for (; count > 0; --count) at = text.rfind('\n', at - 1);
        return at + 1;
    };
    const std::size_t valid = tail(2 * part), test = tail(part);
    return {std::string(text.substr(0, valid)), std::string(text.substr(valid, test - valid)),
            std::string(text.substr(test))};
}

/// Reads wiki.{train,valid,test}.tokens or, failing those, {train,valid,test}.txt of a folder.
/// @throws io_error if the folder or one of the three is missing, or what read_text finds wrong
inline Corpus read_corpus_folder(const std::filesystem::path& folder) {
    for (const auto& [before, after] : {std::pair("wiki.", ".tokens"), std::pair("", ".txt")}) {
        const std::string prefix = before, suffix = after;  // a lambda may not capture a structured binding
        const auto path = [&](const char* part) { return folder / (prefix + part + suffix); };
        std::error_code ignored;
        if (std::ranges::none_of(std::array{"train", "valid", "test"},
                                 [&](const char* part) { return std::filesystem::exists(path(part), ignored); }))
            continue;
        return {read_text(path("train")), read_text(path("valid")), read_text(path("test"))};
    }
    fail<io_error>("read_corpus", "the folder must hold wiki.{train,valid,test}.tokens or {train,valid,test}.txt",
                   {{"folder", folder.string()}});
}

/// Reads a corpus: one folder (see read_corpus_folder), or text files, which are joined in the order given (a line end
/// is added to a file that lacks its last) and cut (see split_corpus).
/// @throws usage_error if nothing is named, or a folder beside something else;  io_error naming file, line and byte
inline Corpus read_corpus(std::span<const std::filesystem::path> paths) {
    require<usage_error>(!paths.empty(), "read_corpus", "a folder or at least one text file must be named");
    std::error_code ignored;
    std::string text;
    for (const auto& path : paths) {
        if (std::filesystem::is_directory(path, ignored)) {
            require<usage_error>(paths.size() == 1, "read_corpus", "a folder must be named alone",
                                 {{"folder", path.string()}, {"paths", paths.size()}});
            return read_corpus_folder(path);
        }
        if (!text.empty() && text.back() != '\n') text += '\n';
        text += read_text(path);
    }
    return split_corpus(text);
}

/// The same for one folder or file.
inline Corpus read_corpus(const std::filesystem::path& path) { return read_corpus(std::span(&path, 1)); }

}  // namespace gflow
