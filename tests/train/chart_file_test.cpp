#include <gflow/train/chart_file.hpp>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"

using namespace gflow;
using gflow::test::contains;

TEST_CASE("an SVG document needs nothing else: it brings its colours and its legend") {
    const LineChart chart{
        .title = "Loss & time",
        .x_label = "step",
        .y_label = "loss",
        .series = {{.name = "a<b", .x = {1, 2}, .y = {3, 2}}, {.name = "v", .x = {1, 2}, .y = {3, 4}, .dashed = true}}};
    const std::string svg = to_svg_document(chart);
    CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 440\""));
    CHECK_THAT(svg, contains("<title>Loss &amp; time</title>") && contains("--c0:") && contains("a&lt;b</text>"));
    CHECK_THAT(svg, contains(" class=\"dashed\"><path class=\"line\" d=\"M76 40h28\"/>"));
    CHECK_THAT(svg, contains("<g transform=\"translate(0 60)\">\n" + detail::ChartPicture(chart).drawing()));
    CHECK_THROWS_AS(to_svg_document({.title = "", .series = {{.name = "x", .x = {1}, .y = {}}}}), usage_error);
}

TEST_CASE("write_svg writes the file whole, or says why not") {
    const test::TemporaryFolder folder;
    const LineChart chart{.title = "t", .series = {{.name = "s", .x = {1}, .y = {1}}}};
    write_svg(folder / "chart.svg", chart);
    CHECK(read_file(folder / "chart.svg", "test") == to_svg_document(chart));
    CHECK_THROWS_AS(write_svg(folder / "none" / "chart.svg", chart), io_error);
}
