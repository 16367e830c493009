#include <gflow/train/metrics_log.hpp>

#include <cmath>

#include "io/file_size_limit.hpp"
#include "io/temporary_folder.hpp"
#include "support/catch.hpp"

using gflow::metric;
using gflow::MetricsLog;
using gflow::MetricsRecord;
using gflow::read_metrics;
using gflow::test::contains;
using gflow::test::TemporaryFolder;

namespace {

std::vector<gflow::Index> steps(const std::filesystem::path& file) {
    std::vector<gflow::Index> result;
    for (const auto& record : read_metrics(file)) result.push_back(record.value("step", gflow::Index{-1}));
    return result;
}

using Steps = std::vector<gflow::Index>;

}  // namespace

TEST_CASE("MetricsLog") {
    TemporaryFolder folder;
    const auto file = folder / "metrics.jsonl";

    SECTION("is one object a line, in order, there at once") {
        MetricsLog log = MetricsLog::create(file);
        CHECK(gflow::read_file(file).empty());
        log.append({{"step", 1}, {"loss", 2.5}});
        CHECK(gflow::read_file(file) == "{\"step\":1,\"loss\":2.5}\n");
        log.append({{"step", 2}, {"loss", 0.1}, {"text", "a\nb"}});
        CHECK(gflow::read_file(file) == "{\"step\":1,\"loss\":2.5}\n{\"step\":2,\"loss\":0.1,\"text\":\"a\\nb\"}\n");
        REQUIRE(read_metrics(file).size() == 2);
        CHECK(read_metrics(file)[1]["text"] == "a\nb");
        CHECK_THROWS_AS(log.append(MetricsRecord(3)), gflow::usage_error);
    }
    SECTION("create begins anew") {
        MetricsLog::create(file).append({{"step", 1}});
        MetricsLog::create(file).append({{"step", 5}});
        CHECK(steps(file) == Steps{5});
    }
    SECTION("what is no number becomes null, and NaN when read") {
        MetricsLog::create(file).append({{"loss", std::nan("")}, {"norm", INFINITY}, {"lr", 0.5}, {"name", "x"}});
        const auto record = read_metrics(file).at(0);
        CHECK(record["loss"].is_null());
        CHECK(std::isnan(metric(record, "loss")));
        CHECK(std::isnan(metric(record, "norm")));
        CHECK(std::isnan(metric(record, "name")));
        CHECK(std::isnan(metric(record, "none")));
        CHECK(metric(record, "lr") == 0.5);
    }
    SECTION("resume drops what came after the checkpoint") {
        {
            MetricsLog log = MetricsLog::create(file);
            log.append({{"note", "start"}});
            for (const int step : {10, 20, 20, 30}) {
                log.append({{"step", step}});
                log.append({{"note", step}});
            }
        }
        const std::string before = gflow::read_file(file);
        MetricsLog::resume(file, 30);
        CHECK(gflow::read_file(file) == before);
        MetricsLog log = MetricsLog::resume(file, 20);
        CHECK(steps(file) == Steps{-1, 10, -1, 20, -1, 20, -1});
        log.append({{"step", 30}});
        CHECK(steps(file) == Steps{-1, 10, -1, 20, -1, 20, -1, 30});
        MetricsLog::resume(file, 5);
        CHECK(steps(file) == Steps{-1});
        CHECK(folder.names() == std::vector<std::string>{"metrics.jsonl"});
    }
    SECTION("resume without a file begins one") {
        MetricsLog::resume(file, 10).append({{"step", 11}});
        CHECK(steps(file) == Steps{11});
    }
    SECTION("a torn last line is left out, and gone after resume") {
        for (const char* torn : {"{\"step\":3,\"lo", "{\"step\":3}", "{\"step\":3,\n", "3\n", "\n"}) {
            INFO(torn);
            gflow::write_file(file, std::string("{\"step\":1}\n{\"step\":2}\n") + torn);
            CHECK(steps(file) == Steps{1, 2});
            MetricsLog::resume(file, 9).append({{"step", 3}});
            CHECK(steps(file) == Steps{1, 2, 3});
        }
    }
    SECTION("a damaged line before the last is named") {
        gflow::write_file(file, "{\"step\":1}\n{\"step\":\n{\"step\":3}\n");
        CHECK_THROWS_AS(read_metrics(file), gflow::io_error);
        CHECK_THROWS_WITH(read_metrics(file),
                          contains(file.string() + ": every line must be a JSON object; got line=2, text={\"step\":"));
        gflow::write_file(file, "17\n{\"step\":3}\n");
        CHECK_THROWS_WITH(MetricsLog::resume(file, 3),
                          contains("every line must be a JSON object; got line=1, text=17"));
        CHECK(gflow::read_file(file) == "17\n{\"step\":3}\n");
    }
    SECTION("a place that cannot be written, a full disk") {
        CHECK_THROWS_WITH(MetricsLog::create(folder / "none" / "x"),
                          contains("gflow::MetricsLog: cannot write") && contains("create the folder first"));
        CHECK_THROWS_WITH(read_metrics(file), contains("gflow::read_metrics: cannot read " + file.string()));
        MetricsLog device = MetricsLog::create("/dev/full");
        CHECK_THROWS_WITH(device.append({{"step", 1}}), contains("cannot write /dev/full: No space left on device"));
        MetricsLog log = MetricsLog::create(file);
        log.append({{"step", 1}});
        {
            gflow::test::FileSizeLimit limit(20);
            CHECK_THROWS_WITH(log.append({{"step", 2}, {"text", "longer"}}), contains("File too large"));
        }
        CHECK(gflow::read_file(file) == "{\"step\":1}\n");
        log.append({{"step", 2}});
        CHECK(steps(file) == Steps{1, 2});
    }
}
