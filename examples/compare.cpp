// Compares training runs: a table, and their curves as a page or a picture.
#include <CLI/CLI.hpp>
#include <gflow/train/chart_file.hpp>
#include <gflow/train/run_summary.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "support/program.hpp"

namespace fs = std::filesystem;
using namespace gflow;

namespace {

constexpr const char* examples = R"(Examples:
  compare runs/grassmann runs/transformer
  compare runs/* --html runs/report.html
  compare baseline=runs/a "one offset=runs/b" --svg curves.svg

A run that still goes on is shown as far as it has come. NAME=FOLDER gives it a name of its own.
Exit status: 0 done, 1 failure, 2 usage.)";

struct Arguments {
    std::vector<std::string> runs;
    std::string html, svg;
};

struct NamedRun {
    std::string name;
    fs::path folder;
};

/// "name=folder", or a folder that gives the name.
NamedRun parse(const std::string& argument) {
    const std::size_t equals = argument.find('=');
    if (equals == 0) throw usage_error("a name must stand before the = of " + argument);
    if (equals != std::string::npos && !detail::path_exists(argument))
        return {argument.substr(0, equals), argument.substr(equals + 1)};
    return {detail::without_slash(argument).filename().string(), argument};
}

int run(const Arguments& arguments) {
    if (!arguments.html.empty() && arguments.html == arguments.svg)
        throw usage_error("--html and --svg must name two files; got " + arguments.html + " twice");
    std::vector<NamedRun> named;
    std::vector<RunSummary> runs;
    for (const std::string& argument : arguments.runs) {
        named.push_back(parse(argument));
        for (std::size_t i = 0; i + 1 < named.size(); ++i)
            if (named[i].name == named.back().name)
                throw usage_error("two runs are named " + named[i].name + ": give names, as in first=" + argument);
        runs.push_back(read_run_summary(named.back().folder, named.back().name));
    }
    const ReportTable table = table_of(runs);
    std::cout << to_text(table);
    const LineChart chart = chart_of(runs);
    if (!arguments.svg.empty()) write_svg(arguments.svg, chart);
    if (arguments.html.empty()) return 0;
    Report report{.title = "gflow: training runs compared", .tables = {table}, .charts = {chart}};
    for (const NamedRun& one : named)
        report.facts.push_back({one.name, read_json(one.folder / "config.json", "compare").at("training").dump()});
    write_report(arguments.html, report);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Compares training runs.", "compare");
    app.footer(examples);
    app.add_option("run", arguments.runs, "the --out folders of training runs")->required();
    app.add_option("--html", arguments.html, "a page with table, curves and settings");
    app.add_option("--svg", arguments.svg, "the curves alone, as a picture");
    return program::run(app, argc, argv, [&] { return run(arguments); });
}
