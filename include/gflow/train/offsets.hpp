#pragma once
#include <gflow/core/errors.hpp>
#include <gflow/core/index.hpp>

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

namespace gflow {

/// The offsets of a Grassmann model: one list for each layer.
using Offsets = std::vector<std::vector<Index>>;

namespace detail {

/// "1,2,4" → {1, 2, 4}
inline std::vector<Index> parse_offset_list(std::string_view list, std::string_view whole) {
    std::vector<Index> offsets;
    for (bool more = true; more;) {
        const std::size_t comma = list.find(',');
        std::string_view item = list.substr(0, comma);
        while (item.starts_with(' ')) item.remove_prefix(1);
        while (item.ends_with(' ')) item.remove_suffix(1);
        Index offset = 0;
        const auto [end, problem] = std::from_chars(item.data(), item.data() + item.size(), offset);
        require<usage_error>(problem == std::errc() && end == item.data() + item.size() && offset >= 1, "parse_offsets",
                             "offsets are whole numbers from 1, as 1,2,4,8 (one a layer) or 1,2;4 (a list a layer)",
                             {{"offsets", whole}});
        offsets.push_back(offset);
        more = comma != std::string_view::npos;
        if (more) list.remove_prefix(comma + 1);
    }
    return offsets;
}

}  // namespace detail

/// "1,2,4" is one offset for each of three layers; "1,2;4;1,2" a list for each layer (";" at the end makes "1,2;" the
/// list of a single layer).
/// @throws usage_error showing the text
inline Offsets parse_offsets(std::string_view text) {
    Offsets offsets;
    if (text.find(';') == std::string_view::npos) {
        for (const Index offset : detail::parse_offset_list(text, text)) offsets.push_back({offset});
        return offsets;
    }
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t end = rest.find(';');
        offsets.push_back(detail::parse_offset_list(rest.substr(0, end), text));
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return offsets;
}

/// "1,2,4": this list in each of the layers.
inline Offsets parse_offsets_for_all(std::string_view text, Index layers) {
    return Offsets(static_cast<std::size_t>(layers), detail::parse_offset_list(text, text));
}

/// What parse_offsets reads.
inline std::string to_string(const Offsets& offsets) {
    bool single = true;
    for (const auto& list : offsets) single = single && list.size() == 1;
    std::string text;
    for (const auto& list : offsets) {
        if (!text.empty() && text.back() != ';') text += single ? "," : ";";
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (i > 0) text += ',';
            text += std::to_string(list[i]);
        }
    }
    if (!single && offsets.size() == 1) text += ';';
    return text;
}

}  // namespace gflow
