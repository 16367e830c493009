#pragma once
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <gflow/core/errors.hpp>
#include <gflow/text/utf8.hpp>

namespace gflow {

namespace detail {

/// The bytes of a file. `op` names the caller in the error.
inline std::string read_bytes(std::string_view op, const std::filesystem::path& file) {
    std::error_code ignored;
    const auto status = std::filesystem::status(file, ignored);
    require<io_error>(status.type() != std::filesystem::file_type::not_found, op, "the file must exist: check the path",
                      {{"file", file.string()}});
    require<io_error>(!std::filesystem::is_directory(status), op, "a file is needed, not a folder",
                      {{"file", file.string()}});
    std::ifstream in(file, std::ios::binary);
    std::string bytes;
    std::vector<char> buffer(1 << 16);
    while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0)
        bytes.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
    require<io_error>(in.is_open() && in.eof(), op, "the file must be readable: check its permissions",
                      {{"file", file.string()}});
    return bytes;
}

/// Writes beside the file and renames, so that a full disk leaves no half-written file behind.
inline void write_bytes(std::string_view op, const std::filesystem::path& file, std::string_view bytes) {
    std::filesystem::path beside = file;
    beside += ".tmp";
    std::error_code problem;
    {
        std::ofstream out(beside, std::ios::binary);
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        out.close();
        if (!out) problem = std::make_error_code(std::errc::io_error);
    }
    if (!problem) std::filesystem::rename(beside, file, problem);
    if (!problem) return;
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
    fail<io_error>(op, "the file must be writable: check that the folder exists, its permissions and the free space",
                   {{"file", file.string()}});
}

}  // namespace detail

/// The text of a file, byte for byte: line ends and a byte order mark are kept.
/// @throws io_error if it is missing, unreadable, empty, or not UTF-8 (naming line and byte in the line, from 1)
inline std::string read_text(const std::filesystem::path& file) {
    std::string text = detail::read_bytes("read_text", file);
    require<io_error>(!text.empty(), "read_text", "the file must not be empty", {{"file", file.string()}});
    if (const auto bad = first_invalid_utf8(text)) {
        const std::string_view before = std::string_view(text).substr(0, *bad);
        const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 = 0
        fail<io_error>("read_text", "the text must be UTF-8: convert the file, for example with iconv -t UTF-8",
                       {{"file", file.string()},
                        {"line", 1 + std::count(before.begin(), before.end(), '\n')},
                        {"byte", *bad - line_begin + 1},
                        {"value", detail::hex_byte(text[*bad])}});
    }
    return text;
}

}  // namespace gflow
