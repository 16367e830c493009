#pragma once
#include <gflow/train/format.hpp>
#include <gflow/train/metrics_log.hpp>
#include <gflow/train/report.hpp>
#include <gflow/train/run_folder.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace gflow {

/// What a run's folder tells of it: all of a run that has ended, and of one that goes on what it has so far (NaN and 0
/// stand for what is not known yet).
struct RunSummary {
    std::string name{};
    std::vector<MetricsRecord> metrics{};
    Index parameters = 0, tokens = 0, best_step = 0;
    double valid_perplexity = std::nan(""), valid_nats_per_word = std::nan("");  ///< of the best weights
    double test_perplexity = std::nan(""), test_nats_per_word = std::nan("");    ///< of the same
    double tokens_per_s = std::nan("");                                          ///< median over the steps
    double seconds = std::nan(""), peak_rss_mb = std::nan("");
};

namespace detail {

inline double median(std::vector<double> values) {
    if (values.empty()) return std::nan("");
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

inline void read_result(const std::filesystem::path& file, RunSummary& run) {
    const nlohmann::json result = read_json(file, "read_run");
    StrictObject reader(result, file.string());
    StrictObject best(reader.at("best"), file.string() + ", best");
    StrictObject valid(best.at("valid"), file.string() + ", best, valid");
    StrictObject test(best.at("test"), file.string() + ", best, test");
    run.parameters = reader.need<Index>("parameters");
    run.tokens = reader.need<Index>("tokens");
    run.seconds = reader.need<double>("seconds");
    run.peak_rss_mb = reader.need<double>("peak_rss_mb");
    run.best_step = best.need<Index>("step");
    run.valid_perplexity = valid.need<double>("perplexity");
    run.valid_nats_per_word = valid.need<double>("nats_per_word");
    run.test_perplexity = test.need<double>("perplexity");
    run.test_nats_per_word = test.need<double>("nats_per_word");
}

/// "–" for what is not known.
inline std::string shown(double value, const char* format) {
    if (std::isnan(value)) return "–";
    char text[40];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

}  // namespace detail

/// Reads metrics.jsonl and, where the run has ended, result.json.
/// @param name  what tables and legends call it
/// @throws io_error naming what is missing or damaged
inline RunSummary read_run_summary(const std::filesystem::path& folder, std::string name) {
    if (!holds_run(folder)) throw io_error(folder.string() + " holds no run: name the --out folder of a training run");
    RunSummary run;
    run.name = std::move(name);
    run.metrics = read_metrics(folder / "metrics.jsonl");
    std::vector<double> speeds;
    for (const MetricsRecord& record : run.metrics) {
        if (const double tokens = metric(record, "tokens"); tokens > 0) run.tokens = static_cast<Index>(tokens);
        if (record.contains("tokens_per_s")) speeds.push_back(metric(record, "tokens_per_s"));
        if (!record.contains("valid_loss")) continue;
        run.seconds = metric(record, "seconds");
        if (metric(record, "valid_loss") != metric(record, "best_loss")) continue;
        run.best_step = detail::step_of(record).value_or(0);
        run.valid_perplexity = metric(record, "valid_perplexity");
        run.valid_nats_per_word = metric(record, "valid_nats_per_word");
    }
    run.tokens_per_s = detail::median(std::move(speeds));
    if (detail::path_exists(folder / "result.json")) detail::read_result(folder / "result.json", run);
    return run;
}

/// A row a run: size, the best weights on validation and test text, speed, memory and time.
inline ReportTable table_of(const std::vector<RunSummary>& runs) {
    using detail::shown;
    ReportTable table{.columns = {"model", "parameters", "tokens", "best step", "validation perplexity",
                                  "nats per word", "test perplexity", "nats per word", "tokens/s", "peak memory",
                                  "time"}};
    for (const RunSummary& run : runs)
        table.rows.push_back(
            {run.name, run.parameters > 0 ? format_count(run.parameters) : "–", format_count(run.tokens),
             format_count(run.best_step), shown(run.valid_perplexity, "%.2f"), shown(run.valid_nats_per_word, "%.3f"),
             shown(run.test_perplexity, "%.2f"), shown(run.test_nats_per_word, "%.3f"), shown(run.tokens_per_s, "%.0f"),
             shown(run.peak_rss_mb, "%.0f MB"), std::isnan(run.seconds) ? "–" : format_duration(run.seconds)});
    return table;
}

/// The loss of each run over the tokens that it saw: training smoothed, validation dashed.
inline LineChart chart_of(const std::vector<RunSummary>& runs) {
    LineChart chart{.title = "Loss while training",
                    .x_label = "tokens seen",
                    .y_label = "nats per token",
                    .note = "Lines: training batches (with dropout), smoothed; dashed: validation."};
    for (std::size_t i = 0; i < runs.size(); ++i) {
        ChartSeries training{.name = runs[i].name + ", training", .color = static_cast<int>(i)};
        ChartSeries valid{.name = runs[i].name + ", validation", .color = static_cast<int>(i), .dashed = true};
        for (const MetricsRecord& record : runs[i].metrics) {
            ChartSeries& series = record.contains("loss") ? training : valid;
            series.x.push_back(metric(record, "tokens"));
            series.y.push_back(metric(record, record.contains("loss") ? "loss" : "valid_loss"));
        }
        training.smoothing = 1 + static_cast<Index>(training.x.size() / 40);
        chart.series.push_back(training);
        chart.series.push_back(valid);
    }
    return chart;
}

}  // namespace gflow
