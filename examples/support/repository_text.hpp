#pragma once
// The text that is always there: gflow's own headers, programs and docs.

#include <gflow/io/file.hpp>
#include <map>
#include <string>
#include <string_view>

namespace program {

namespace detail {

inline bool is_readable_source(const std::filesystem::path& path) {
    const std::string extension = path.extension().string();
    return extension == ".hpp" || extension == ".cpp" || extension == ".md";
}

/// A number from a name (FNV-1a), to mix the files, so that the last of them are like the others.
inline std::uint64_t hash_of(std::string_view name) {
    std::uint64_t hash = 0xCBF29CE484222325;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    return hash;
}

}  // namespace detail

/// Headers, examples, docs and README of the repository at `root`, in an order that depends on their names alone.
/// @throws gflow::io_error if there are none
inline std::string repository_text(const std::filesystem::path& root) {
    namespace fs = std::filesystem;
    std::map<std::uint64_t, fs::path> files;
    const auto add = [&](const fs::path& path) {
        if (detail::is_readable_source(path)) files.emplace(detail::hash_of(fs::relative(path, root).string()), path);
    };
    for (const char* folder : {"include", "examples", "docs"})
        if (fs::is_directory(root / folder))
            for (const auto& entry : fs::recursive_directory_iterator(root / folder))
                if (entry.is_regular_file()) add(entry.path());
    if (fs::exists(root / "README.md")) add(root / "README.md");
    if (files.empty())
        throw gflow::io_error("no text found in " + fs::absolute(root).string() +
                              ": start it in the repository, name that with --root, or set GFLOW_DATA");
    std::string text;
    for (const auto& [hash, path] : files) {
        text += gflow::read_file(path);
        if (!text.empty() && text.back() != '\n') text += '\n';
    }
    return text;
}

}  // namespace program
