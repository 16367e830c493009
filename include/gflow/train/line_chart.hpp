#pragma once
#include <gflow/core/errors.hpp>
#include <gflow/train/chart_axis.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace gflow {

/// One line of a chart.  Points that are no finite number (or not positive on a logarithmic axis) leave a gap.
struct ChartSeries {
    std::string name;
    std::vector<double> x{}, y{};
    int color = -1;       ///< 0 … 5; −1: the series' place in the chart
    bool dashed = false;  ///< tells lines of one colour apart: training and validation of one model
    Index smoothing = 0;  ///< above 1: a moving mean over so many points, in front of the points themselves
};

struct LineChart {
    std::string title{}, x_label{}, y_label{};
    std::vector<ChartSeries> series{};
    bool log_x = false, log_y = false;
    std::string note{};
};

namespace detail {

/// Text for HTML and SVG; control characters, which neither may contain, become U+FFFD.
inline std::string escape_html(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '"')
            result += "&quot;";
        else if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F)
            result += "\xef\xbf\xbd";
        else
            result += c;
    }
    return result;
}

/// Means over a window that is centred on each point and leaves out what is no number; such a point stays one.
inline std::vector<double> moving_mean(const std::vector<double>& y, Index window) {
    std::vector<double> result(y.size());
    const Index size = static_cast<Index>(y.size()), half = window / 2;
    for (Index i = 0; i < size; ++i) {
        double sum = 0;
        Index count = 0;
        for (Index j = std::max<Index>(i - half, 0); j <= std::min(i + half, size - 1); ++j) {
            const double value = y[static_cast<std::size_t>(j)];
            if (!std::isfinite(value)) continue;
            sum += value;
            ++count;
        }
        const double value = y[static_cast<std::size_t>(i)];
        result[static_cast<std::size_t>(i)] = std::isfinite(value) ? sum / static_cast<double>(count) : value;
    }
    return result;
}

/// The chart as an inline SVG element; its colours are the page's variables --c0 … --c5, --ink, --faint, --grid.
class ChartPicture {
public:
    explicit ChartPicture(const LineChart& chart) : chart_(chart) {
        x_.logarithmic = chart.log_x;
        y_.logarithmic = chart.log_y;
        std::vector<double> xs, ys;
        for (const ChartSeries& series : chart.series) {
            require<usage_error>(series.x.size() == series.y.size(), "LineChart", "a series needs as many y as x",
                                 {{"x", series.x.size()}, {"y", series.y.size()}});
            for (std::size_t i = 0; i < series.x.size(); ++i)
                if (shows(series.x[i], series.y[i])) {
                    xs.push_back(series.x[i]);
                    ys.push_back(series.y[i]);
                }
        }
        if (xs.empty()) {
            size_ = 100;
            text(width / 2, 54, "middle", "tick", "no data");
        } else {
            x_.start = left;
            x_.end = width - right;
            y_.start = height - bottom;
            y_.end = top;
            x_.fit(xs, 0);
            y_.fit(ys, 0.05);
            draw_axes();
            for (std::size_t i = 0; i < chart.series.size(); ++i) draw_series(chart.series[i], i);
        }
    }
    /// The picture as an element of a page.
    std::string svg() const {
        return "<svg viewBox=\"0 0 " + number(width) + " " + number(size_) + "\" role=\"img\" aria-label=\"" +
               escape_html(chart_.title) + "\">\n" + drawing_ + "</svg>\n";
    }
    /// Its parts alone, for a picture that has more in it.
    const std::string& drawing() const { return drawing_; }

    static constexpr double width = 800, height = 380;

    static int color_of(const ChartSeries& series, std::size_t place) {
        return series.color >= 0 ? series.color % 6 : static_cast<int>(place % 6);
    }

private:
    static constexpr double left = 76, right = 20, top = 12, bottom = 50;

    static std::string number(double value) {
        char text[32];
        std::snprintf(text, sizeof text, "%.1f", value);
        std::string result = text;
        if (result.ends_with(".0")) result.resize(result.size() - 2);
        return result;
    }
    bool shows(double x, double y) const { return x_.shows(x) && y_.shows(y); }

    void text(double x, double y, const char* anchor, const char* kind, const std::string& content,
              const char* more = "") {
        drawing_ += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\" class=\"" +
                    kind + "\"" + more + ">" + escape_html(content) + "</text>\n";
    }
    void line(double x1, double y1, double x2, double y2, const char* kind) {
        drawing_ += "<path class=\"" + std::string(kind) + "\" d=\"M" + number(x1) + " " + number(y1) + "L" +
                    number(x2) + " " + number(y2) + "\"/>\n";
    }

    void draw_axes() {
        for (const auto& [value, label] : y_.ticks) {
            const double at = y_.place(value);
            line(left, at, width - right, at, "grid");
            text(left - 8, at + 4, "end", "tick", label);
        }
        for (const auto& [value, label] : x_.ticks) {
            const double at = x_.place(value);
            line(at, height - bottom, at, height - bottom + 5, "axis");
            text(at, height - bottom + 19, "middle", "tick", label);
        }
        line(left, height - bottom, width - right, height - bottom, "axis");
        text((left + width - right) / 2, height - 8, "middle", "label",
             chart_.x_label + (chart_.log_x ? " (logarithmic)" : ""));
        const std::string turn = " transform=\"rotate(-90 14 " + number((top + height - bottom) / 2) + ")\"";
        text(14, (top + height - bottom) / 2, "middle", "label",
             chart_.y_label + (chart_.log_y ? " (logarithmic)" : ""), turn.c_str());
    }

    void draw_series(const ChartSeries& series, std::size_t place) {
        const std::string color = " style=\"--c:var(--c" + std::to_string(color_of(series, place)) + ")\"";
        drawing_ += "<g" + color + (series.dashed ? " class=\"dashed\"" : "") + ">\n";
        if (series.smoothing > 1) {
            draw_line(series.x, series.y, "raw");
            draw_line(series.x, moving_mean(series.y, series.smoothing), "line");
        } else {
            draw_line(series.x, series.y, "line");
        }
        draw_points(series);
        drawing_ += "</g>\n";
    }

    /// One path; of the points that share half a pixel's width only the first, lowest, highest and last are drawn.
    void draw_line(const std::vector<double>& x, const std::vector<double>& y, const char* kind) {
        std::string path;
        bool open = false;
        const auto point = [&](std::size_t i) {
            path += open ? 'L' : 'M';
            path.append(number(x_.place(x[i]))).append(" ").append(number(y_.place(y[i])));
            open = true;
        };
        for (std::size_t i = 0; i < x.size();) {
            if (!shows(x[i], y[i])) {
                open = false;
                ++i;
                continue;
            }
            std::size_t next = i, lowest = i, highest = i;
            const double cell = std::floor(2 * x_.place(x[i]));
            for (; next < x.size() && shows(x[next], y[next]) && std::floor(2 * x_.place(x[next])) == cell; ++next) {
                if (y[next] < y[lowest]) lowest = next;
                if (y[next] > y[highest]) highest = next;
            }
            const bool alone = !open && (next == x.size() || !shows(x[next], y[next]));
            std::vector<std::size_t> drawn = {i, std::min(lowest, highest), std::max(lowest, highest), next - 1};
            drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
            for (const std::size_t each : drawn) point(each);
            if (alone && drawn.size() == 1) path += "h.01";  // with round ends a point shows as a dot
            i = next;
        }
        if (!path.empty()) drawing_ += "<path class=\"" + std::string(kind) + "\" d=\"" + path + "\"/>\n";
    }

    /// Points to hover over, at most about 80; drawn as dots where the series has few.
    void draw_points(const ChartSeries& series) {
        std::vector<std::size_t> shown;
        for (std::size_t i = 0; i < series.x.size(); ++i)
            if (shows(series.x[i], series.y[i])) shown.push_back(i);
        const std::size_t stride = (shown.size() + 79) / 80;
        const bool few = shown.size() <= 30;
        for (std::size_t i = 0; i < shown.size(); i += stride) {
            const double x = series.x[shown[i]], y = series.y[shown[i]];
            drawing_ +=
                "<circle class=\"" + std::string(few ? "dot" : "spot") + "\" cx=\"" + number(x_.place(x)) + "\" cy=\"" +
                number(y_.place(y)) + "\" r=\"" + (few ? "3" : "6") + "\"><title>" +
                escape_html(series.name + ": " + format_number(y) + " at " + chart_.x_label + " " + format_number(x)) +
                "</title></circle>\n";
        }
    }

    const LineChart& chart_;
    ChartAxis x_, y_;
    std::string drawing_;
    double size_ = height;  // less where there is nothing to draw
};

}  // namespace detail

/// The chart as an inline SVG element for an HTML page whose style sets the colours --c0 … --c5, --ink, --faint,
/// --grid.
/// @throws usage_error if x and y of a series differ in length
inline std::string to_svg(const LineChart& chart) { return detail::ChartPicture(chart).svg(); }

}  // namespace gflow
