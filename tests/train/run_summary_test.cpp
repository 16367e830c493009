#include <gflow/train/run_summary.hpp>

#include <fstream>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"

using namespace gflow;
using gflow::test::Approx;
using gflow::test::contains;

namespace {

/// Three steps, evaluated after the first and the third; the second evaluation is the better one unless said otherwise.
void write_metrics(const std::filesystem::path& folder, double second_loss = 5) {
    MetricsLog log = MetricsLog::create(folder / "metrics.jsonl");
    const auto step = [&](Index number, double loss, double speed) {
        log.append({{"step", number}, {"tokens", 100 * number}, {"loss", loss}, {"tokens_per_s", speed}});
    };
    const auto evaluation = [&](Index number, double loss, double best, double seconds) {
        log.append({{"step", number},
                    {"tokens", 100 * number},
                    {"valid_loss", loss},
                    {"valid_perplexity", std::exp(loss)},
                    {"valid_nats_per_word", 2 * loss},
                    {"best_loss", best},
                    {"seconds", seconds}});
    };
    step(1, 9, 50);
    evaluation(1, 6, 6, 10);
    step(2, std::nan(""), 70);
    step(3, 7, 60);
    evaluation(3, second_loss, std::min(second_loss, 6.0), 30);
}

}  // namespace

TEST_CASE("read_run_summary of a run that goes on knows what its log says") {
    const test::TemporaryFolder folder;
    write_metrics(folder.path());
    const RunSummary run = read_run_summary(folder.path(), "mine");
    CHECK(run.name == "mine");
    CHECK((run.tokens == 300 && run.best_step == 3 && run.parameters == 0));
    CHECK((run.tokens_per_s == 60 && run.seconds == 30));
    CHECK(run.valid_perplexity == Approx(std::exp(5.0)));
    CHECK(run.valid_nats_per_word == Approx(10));
    CHECK((std::isnan(run.test_perplexity) && std::isnan(run.peak_rss_mb)));
    const ReportTable table = table_of({run});
    CHECK(table.rows.at(0).at(0) == "mine");
    CHECK(table.rows.at(0).at(1) == "–");
    CHECK(table.rows.at(0).at(2) == "300");

    write_metrics(folder.path(), 8);
    CHECK(read_run_summary(folder.path(), "worse later").best_step == 1);
}

TEST_CASE("read_run_summary takes the rest from result.json") {
    const test::TemporaryFolder folder;
    write_metrics(folder.path());
    const auto numbers = [](double perplexity) {
        return nlohmann::ordered_json{{"perplexity", perplexity}, {"nats_per_word", perplexity / 10}};
    };
    const nlohmann::ordered_json result{{"parameters", 1234567},
                                        {"tokens", 300},
                                        {"best", {{"step", 3}, {"valid", numbers(148)}, {"test", numbers(150)}}},
                                        {"seconds", 75.0},
                                        {"peak_rss_mb", 665.4}};
    write_json(folder / "result.json", result);
    CHECK(table_of({read_run_summary(folder.path(), "mine")}).rows.at(0) ==
          std::vector<std::string>{"mine", "1,234,567", "300", "3", "148.00", "14.800", "150.00", "15.000", "60",
                                   "665 MB", "1m 15s"});
    write_json(folder / "result.json", nlohmann::ordered_json{{"parameters", 1}});
    CHECK_THROWS_WITH(read_run_summary(folder.path(), "mine"), contains("result.json") && contains("\"best\""));
}

TEST_CASE("read_run_summary names a folder that holds no run") {
    const test::TemporaryFolder folder;
    CHECK_THROWS_WITH(read_run_summary(folder.path(), "none"), contains("holds no run"));
    std::ofstream(folder / "config.json") << "{}";
    CHECK_THROWS_WITH(read_run_summary(folder.path(), "none"), contains("metrics.jsonl"));
}

TEST_CASE("chart_of has a line for training and one for validation of each run") {
    const test::TemporaryFolder folder;
    write_metrics(folder.path());
    const RunSummary run = read_run_summary(folder.path(), "mine");
    const LineChart chart = chart_of({run, run});
    REQUIRE(chart.series.size() == 4);
    CHECK(chart.series[0].name == "mine, training");
    CHECK(chart.series[0].x == std::vector<double>{100, 200, 300});
    CHECK(std::isnan(chart.series[0].y[1]));  // a loss that was no number leaves a gap
    CHECK((chart.series[1].dashed && chart.series[1].smoothing == 0));
    CHECK(chart.series[1].y == std::vector<double>{6, 5});
    CHECK(chart.series[2].color == 1);
}
