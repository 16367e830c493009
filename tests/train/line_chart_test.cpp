#include <gflow/train/line_chart.hpp>

#include "support/catch.hpp"

using gflow::ChartSeries;
using gflow::LineChart;
using gflow::to_svg;
using gflow::detail::escape_html;
using gflow::detail::moving_mean;
using gflow::test::contains;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

/// The d of the n-th path of class "line".
std::string line(const std::string& svg, int n = 0) {
    const std::string start = "<path class=\"line\" d=\"";
    std::size_t at = svg.find(start);
    for (; n > 0; --n) at = svg.find(start, at + 1);
    if (at == std::string::npos) return "";
    at += start.size();
    return svg.substr(at, svg.find('"', at) - at);
}

LineChart chart_of(std::vector<double> x, std::vector<double> y) {
    return {.title = "Loss", .x_label = "step", .y_label = "nats", .series = {{.name = "a", .x = x, .y = y}}};
}

}  // namespace

TEST_CASE("a chart is an SVG with axes, lines and points to hover over") {
    const std::string svg = to_svg(chart_of({0, 1, 2, 3}, {4, 3, 2.5, 2.25}));
    CHECK_THAT(svg, contains("<svg viewBox=\"0 0 800 380\" role=\"img\" aria-label=\"Loss\">") && contains("</svg>"));
    CHECK(count(line(svg), "M") == 1);
    CHECK(count(line(svg), "L") == 3);
    CHECK_THAT(svg, contains("<title>a: 2.25 at step 3</title>"));
    CHECK(count(svg, "class=\"dot\"") == 4);
    CHECK_THAT(svg, contains(">step</text>") && contains(">nats</text>"));
    CHECK(count(svg, "<g") == count(svg, "</g>"));
}

TEST_CASE("what is no number leaves a gap") {
    const double nan = std::nan("");
    CHECK(count(line(to_svg(chart_of({0, 1, 2, 3, 4}, {1, 2, nan, 2, 1}))), "M") == 2);
    CHECK(count(line(to_svg(chart_of({0, 1, nan, 3, 4}, {1, 2, 3, 2, 1}))), "M") == 2);
    CHECK(count(line(to_svg(chart_of({0, 1, 2, 3, 4}, {INFINITY, 2, 3, -INFINITY, 1}))), "M") == 2);
    CHECK_THAT(line(to_svg(chart_of({0, 1, 2, 3, 4}, {1, 2, nan, 5, nan}))), contains("h.01"));
    LineChart logarithmic = chart_of({1, 2, 3, 4}, {1, 0, 10, 100});
    logarithmic.log_y = true;
    CHECK(count(line(to_svg(logarithmic)), "M") == 2);
    CHECK_THAT(to_svg(logarithmic), contains("nats (logarithmic)"));
    for (const auto& svg : {to_svg(chart_of({0, 1, 2}, {1, nan, 1e308})), to_svg(logarithmic)})
        CHECK_FALSE((contains("nan").match(svg) || contains("inf").match(svg)));
}

TEST_CASE("a chart of little or nothing") {
    CHECK_THAT(to_svg({}), contains("no data"));
    CHECK_THAT(to_svg(chart_of({}, {})), contains("no data"));
    CHECK_THAT(to_svg(chart_of({1, 2}, {std::nan(""), INFINITY})), contains("no data"));
    const std::string one = to_svg(chart_of({5}, {3}));
    CHECK(count(one, "<circle") == 1);
    CHECK_THAT(line(one), contains("h.01"));
    CHECK_THAT(to_svg(chart_of({5, 5}, {0, 0})), contains("class=\"line\""));
    CHECK_THROWS_AS(to_svg(chart_of({1, 2}, {1})), gflow::usage_error);
    CHECK_THROWS_WITH(to_svg(chart_of({1, 2}, {1})), contains("a series needs as many y as x; got x=2, y=1"));
}

TEST_CASE("a long series stays small and keeps its extremes") {
    std::vector<double> x, y;
    for (int i = 0; i < 200000; ++i) {
        x.push_back(i);
        y.push_back(i == 77777 ? 1000 : i % 2);
    }
    const std::string svg = to_svg(chart_of(x, y));
    CHECK(svg.size() < 120000);
    CHECK(count(svg, "<circle") <= 80);
    const std::string path = line(svg);
    double top = 1e9;
    for (std::size_t at = path.find(' '); at != std::string::npos; at = path.find(' ', at + 1))
        top = std::min(top, std::stod(path.substr(at)));
    CHECK(top < 40);  // the spike at 1000 reaches the upper margin
}

TEST_CASE("several series differ in colour, and in dashes where asked") {
    LineChart chart;
    for (int i = 0; i < 7; ++i) chart.series.push_back({.name = "s", .x = {0, 1}, .y = {0, 1}});
    chart.series.push_back({.name = "t", .x = {0, 1}, .y = {0, 2}, .color = 4, .dashed = true});
    const std::string svg = to_svg(chart);
    for (int i = 0; i < 6; ++i) CHECK_THAT(svg, contains("--c:var(--c" + std::to_string(i) + ")"));
    CHECK_THAT(svg, contains("--c:var(--c4)\" class=\"dashed\""));
}

TEST_CASE("smoothing") {
    const double nan = std::nan("");
    CHECK(moving_mean({1, 2, 6}, 3) == std::vector<double>{1.5, 3, 4});
    CHECK(moving_mean({}, 3).empty());
    CHECK(moving_mean({7}, 100) == std::vector<double>{7});
    const auto gap = moving_mean({2, nan, 4}, 3);
    CHECK(gap[0] == 2);
    CHECK(std::isnan(gap[1]));
    CHECK(gap[2] == 4);
    LineChart chart = chart_of({0, 1, 2}, {1, 5, 1});
    CHECK(count(to_svg(chart), "class=\"raw\"") == 0);
    chart.series[0].smoothing = 3;
    CHECK(count(to_svg(chart), "class=\"raw\"") == 1);
}

TEST_CASE("names are escaped") {
    CHECK(escape_html("<a href=\"x\">&</a>") == "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;");
    CHECK(escape_html(std::string("\0\x1b\n\t", 4)) == "\xef\xbf\xbd\xef\xbf\xbd\n\t");
    LineChart chart = chart_of({1}, {1});
    chart.title = chart.x_label = chart.y_label = chart.series[0].name = "<script>\"";
    CHECK_FALSE(contains("<script").match(to_svg(chart)));
}
