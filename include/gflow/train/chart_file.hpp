#pragma once
#include <gflow/io/atomic_file.hpp>
#include <gflow/train/chart_style.hpp>
#include <gflow/train/line_chart.hpp>

#include <sstream>
#include <string>

namespace gflow {

/// The chart as an SVG document of its own, with legend, colours for light and dark pages, and no need of anything
/// else: for a README, or a browser.
/// @throws usage_error if x and y of a series differ in length
inline std::string to_svg_document(const LineChart& chart) {
    const detail::ChartPicture picture(chart);
    constexpr int row = 20, margin = 10, width = static_cast<int>(detail::ChartPicture::width),
                  size = static_cast<int>(detail::ChartPicture::height);
    const int head = margin + row * static_cast<int>(chart.series.size()) + margin;
    std::ostringstream svg;
    svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' ' << head + size << "\" width=\""
        << width << "\" height=\"" << head + size << "\">\n<title>" << detail::escape_html(chart.title)
        << "</title>\n<style>" << detail::chart_palette << detail::chart_style << "</style>\n"
        << "<rect width=\"100%\" height=\"100%\" style=\"fill:var(--page)\"/>\n";
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const ChartSeries& series = chart.series[i];
        const int y = margin + row * static_cast<int>(i) + row / 2;
        svg << "<g style=\"--c:var(--c" << detail::ChartPicture::color_of(series, i) << ")\""
            << (series.dashed ? " class=\"dashed\"" : "") << "><path class=\"line\" d=\"M76 " << y
            << "h28\"/><text class=\"label\" x=\"112\" y=\"" << y + 4 << "\">" << detail::escape_html(series.name)
            << "</text></g>\n";
    }
    svg << "<g transform=\"translate(0 " << head << ")\">\n" << picture.drawing() << "</g>\n</svg>\n";
    return svg.str();
}

/// Writes it, whole or not at all.
/// @throws usage_error as to_svg_document;  io_error naming path, reason and remedy
inline void write_svg(const std::filesystem::path& path, const LineChart& chart) {
    write_file(path, to_svg_document(chart), "write_svg");
}

}  // namespace gflow
