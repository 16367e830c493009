#pragma once
#include <gflow/io/atomic_file.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gflow {
namespace detail {

/// "line 3, column 7" of a byte position; columns count bytes from 1.
inline std::string line_and_column(std::string_view text, std::size_t position) {
    const std::string_view before = text.substr(0, std::min(position, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t start = before.rfind('\n');
    const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// The last part of nlohmann's "[json.exception.parse_error.101] parse error at line 1, column 2: <this>".
inline std::string json_reason(std::string_view what) {
    const std::size_t column = what.find("column ");
    const std::size_t start = what.find(": ", column == std::string_view::npos ? 0 : column);
    return std::string(start == std::string_view::npos ? what : what.substr(start + 2));
}

}  // namespace detail

/// Reads JSON text.  Stricter than JSON in two things: a key may not appear twice in one object (all but one would be
/// dropped in silence), and nothing may nest deeper than 100.
/// @param name  what the text is, for errors: the path of its file
/// @throws      io_error naming `name`, and line and column where the text is no JSON
template <class Json = nlohmann::json>
Json parse_json(std::string_view text, const std::string& name, const std::string& op = "parse_json") {
    const std::string where = "gflow::" + op + ": " + name + ": ";
    std::vector<std::set<std::string>> keys;  // of the objects that are open
    const auto check = [&](int depth, nlohmann::json::parse_event_t event, Json& parsed) {
        using Event = nlohmann::json::parse_event_t;
        if (depth > 100) throw io_error(where + "JSON must not nest deeper than 100");
        if (event == Event::object_start) keys.emplace_back();
        if (event == Event::object_end) keys.pop_back();
        if (event == Event::key) {
            const std::string& key = parsed.template get_ref<const std::string&>();
            if (!keys.back().insert(key).second)
                throw io_error(where + "a key must appear once in an object; got \"" + key + "\" twice");
        }
        return true;
    };
    try {
        return Json::parse(text.begin(), text.end(), check);
    } catch (const nlohmann::json::parse_error& problem) {
        const std::size_t position = problem.byte > 0 ? problem.byte - 1 : 0;
        throw io_error(where + detail::line_and_column(text, position) + ": " + detail::json_reason(problem.what()));
    } catch (const nlohmann::json::exception& problem) {  // a number beyond double
        throw io_error(where + detail::json_reason(problem.what()));
    }
}

/// Reads a JSON file.  nlohmann::ordered_json as Json keeps the order of keys.
/// @throws io_error naming the file, and line and column where it is no JSON
template <class Json = nlohmann::json>
Json read_json(const std::filesystem::path& path, const std::string& op = "read_json") {
    return parse_json<Json>(read_file(path, op), path.string(), op);
}

/// Writes JSON with an indent of two, whole or not at all.  Bytes that are no UTF-8 become U+FFFD; NaN becomes null.
/// @throws io_error naming path, reason and remedy
template <class Json>
void write_json(const std::filesystem::path& path, const Json& json, const std::string& op = "write_json") {
    write_file(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n", op);
}

}  // namespace gflow
