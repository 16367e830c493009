#pragma once
#include <gflow/io/atomic_file.hpp>
#include <gflow/train/chart_style.hpp>
#include <gflow/train/line_chart.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace gflow {

/// "seed" – "42", "command" – "train_lm --model grassmann …"
struct ReportFact {
    std::string name, value;
};

/// A table of ready text; columns of numbers are aligned to the right.
struct ReportTable {
    std::string title{};
    std::vector<std::string> columns{};
    std::vector<std::vector<std::string>> rows{};
    std::string note{};
};

/// Text that a model wrote, after the prompt that it was given.
struct ReportText {
    std::string title{}, prompt{}, text{};
};

/// What a run or a comparison has to show, in the order of the page.
struct Report {
    std::string title{};
    std::vector<std::string> paragraphs{};
    std::vector<ReportTable> tables{};
    std::vector<LineChart> charts{};
    std::vector<ReportText> texts{};
    std::vector<ReportFact> facts{};
};

namespace detail {

inline constexpr const char* report_style = R"css(
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 56rem; padding: 2.5rem 1.25rem 4rem; background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
h1 { margin: 0 0 .75rem; font-size: 1.9rem; line-height: 1.2; letter-spacing: -.01em; }
h2 { margin: 2.75rem 0 .6rem; font-size: 1.2rem; line-height: 1.3; }
p { margin: .5rem 0; max-width: 44rem; }
.note { color: var(--faint); font-size: .875rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; font-variant-numeric: tabular-nums; }
th, td { padding: .45rem .9rem .45rem 0; text-align: left; vertical-align: baseline; }
th:last-child, td:last-child { padding-right: 0; }
th { border-bottom: 2px solid var(--ink); font-weight: 600; vertical-align: bottom; }
td { border-bottom: 1px solid var(--grid); }
.number { text-align: right; white-space: nowrap; padding-left: .9rem; padding-right: 0; }
th.number { white-space: normal; }
.legend { display: flex; flex-wrap: wrap; gap: .15rem 1.4rem; margin: 0 0 .4rem; padding: 0; list-style: none;
  font-size: .9rem; }
.legend li { display: flex; align-items: center; gap: .5rem; }
.legend i { width: 1.6rem; border-top: 3px solid var(--c); border-radius: 2px; }
.legend .dashed i { border-top-style: dashed; border-radius: 0; }
pre { margin: .4rem 0 1.25rem; padding: .9rem 1.1rem; background: var(--box); border-radius: 6px; white-space: pre-wrap;
  overflow-wrap: anywhere; font: .95rem/1.6 Charter, Georgia, "Noto Serif", "DejaVu Serif", serif; }
pre b { color: var(--c0); font-weight: 600; }
h3 { margin: 1.1rem 0 0; font-size: 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.4rem; margin: 0; font-size: .925rem; }
dt { color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
@media (max-width: 36rem) { svg { font-size: 16px; } dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
)css";

/// "12,607,168", "−3.5", "3m 20s", "1.2 GB"; also what stands for a missing number.
inline bool looks_numeric(std::string_view cell) {
    for (const std::string_view missing : {"", "-", "–", "—", "nan", "inf", "-inf", "?"})
        if (cell == missing) return true;
    for (const std::string_view sign : {"+", "-", "−", "±", "<", ">", "≈", "~"})
        if (cell.starts_with(sign)) cell.remove_prefix(sign.size());
    while (cell.starts_with(' ')) cell.remove_prefix(1);
    return !cell.empty() && ((cell[0] >= '0' && cell[0] <= '9') || cell[0] == '.');
}

inline std::string to_html(const ReportTable& table) {
    std::vector<bool> numeric;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        bool all = !table.rows.empty();
        for (const auto& row : table.rows) all = all && (column >= row.size() || looks_numeric(row[column]));
        numeric.push_back(all);
    }
    const auto cell = [&](const char* tag, std::size_t column, const std::string& text) {
        return std::string("<") + tag + (numeric[column] ? " class=\"number\">" : ">") + escape_html(text) + "</" +
               tag + ">";
    };
    std::string html = table.title.empty() ? "" : "<h2>" + escape_html(table.title) + "</h2>\n";
    html += "<div class=\"scroll\"><table>\n<thead><tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i) html += cell("th", i, table.columns[i]);
    html += "</tr></thead>\n<tbody>\n";
    for (const auto& row : table.rows) {
        html += "<tr>";
        for (std::size_t i = 0; i < table.columns.size(); ++i) html += cell("td", i, i < row.size() ? row[i] : "");
        html += "</tr>\n";
    }
    html += "</tbody></table></div>\n";
    return html + (table.note.empty() ? "" : "<p class=\"note\">" + escape_html(table.note) + "</p>\n");
}

inline std::string to_html(const LineChart& chart) {
    std::string html = chart.title.empty() ? "" : "<h2>" + escape_html(chart.title) + "</h2>\n";
    html += "<ul class=\"legend\">\n";
    for (std::size_t i = 0; i < chart.series.size(); ++i)
        html += "<li" + std::string(chart.series[i].dashed ? " class=\"dashed\"" : "") + " style=\"--c:var(--c" +
                std::to_string(ChartPicture::color_of(chart.series[i], i)) + ")\"><i></i>" +
                escape_html(chart.series[i].name) + "</li>\n";
    html += "</ul>\n" + to_svg(chart);
    return html + (chart.note.empty() ? "" : "<p class=\"note\">" + escape_html(chart.note) + "</p>\n");
}

}  // namespace detail

/// The table as plain text, for a terminal: the first column to the left, the others to the right.
inline std::string to_text(const ReportTable& table) {
    const auto columns_of = [](const std::string& cell) {  // characters, not bytes of UTF-8
        return static_cast<std::size_t>(
            std::count_if(cell.begin(), cell.end(), [](char c) { return (c & 0xC0) != 0x80; }));
    };
    std::vector<std::vector<std::string>> lines{table.columns};
    lines.insert(lines.end(), table.rows.begin(), table.rows.end());
    std::vector<std::size_t> width(table.columns.size());
    for (const auto& cells : lines)
        for (std::size_t i = 0; i < cells.size(); ++i) width[i] = std::max(width[i], columns_of(cells[i]));
    std::string text;
    for (const auto& cells : lines) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::string gap(width[i] - columns_of(cells[i]), ' ');
            text += i == 0 ? cells[i] + gap : "  " + gap + cells[i];
        }
        text += '\n';
    }
    return text;
}

/// The report as one HTML page that needs nothing else: no script, no font, no network.
/// @throws usage_error if a row is longer than the columns, or x and y of a series differ in length
inline std::string to_html(const Report& report) {
    using detail::escape_html;
    std::string html =
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
        escape_html(report.title) + "</title>\n<style>" + detail::chart_palette + detail::report_style +
        detail::chart_style + "</style>\n</head>\n<body>\n<h1>" + escape_html(report.title) + "</h1>\n";
    for (const std::string& paragraph : report.paragraphs) html += "<p>" + escape_html(paragraph) + "</p>\n";
    for (const ReportTable& table : report.tables) {
        for (const auto& row : table.rows)
            require<usage_error>(row.size() <= table.columns.size(), "Report",
                                 "a row must not be longer than the columns",
                                 {{"columns", table.columns.size()}, {"row", row.size()}});
        html += detail::to_html(table);
    }
    for (const LineChart& chart : report.charts) html += detail::to_html(chart);
    if (!report.texts.empty()) html += "<h2>Generated text</h2>\n";
    for (const ReportText& text : report.texts) {
        if (!text.title.empty()) html += "<h3>" + escape_html(text.title) + "</h3>\n";
        html += "<pre>" + (text.prompt.empty() ? "" : "<b>" + escape_html(text.prompt) + "</b>") +
                escape_html(text.text) + "</pre>\n";
    }
    if (!report.facts.empty()) {
        html += "<h2>How it was made</h2>\n<dl>\n";
        for (const ReportFact& fact : report.facts)
            html += "<dt>" + escape_html(fact.name) + "</dt><dd>" + escape_html(fact.value) + "</dd>\n";
        html += "</dl>\n";
    }
    return html + "</body>\n</html>\n";
}

/// Writes the page, whole or not at all.
/// @throws usage_error as to_html;  io_error naming path, reason and remedy
inline void write_report(const std::filesystem::path& path, const Report& report) {
    write_file(path, to_html(report), "write_report");
}

}  // namespace gflow
