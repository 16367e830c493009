#pragma once
#include <gflow/core/index.hpp>
#include <gflow/io/json_file.hpp>

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gflow {

/// One line of a metrics log: an object whose keys keep their order.
using MetricsRecord = nlohmann::ordered_json;

namespace detail {

/// The lines of a metrics log with their records.  A last line that is torn (a crash while it was written) is dropped;
/// a damaged line before it is an error.
inline std::vector<std::pair<std::string, MetricsRecord>> read_metrics_lines(const std::filesystem::path& path) {
    const std::string text = read_file(path, "read_metrics");
    std::vector<std::pair<std::string, MetricsRecord>> lines;
    std::size_t number = 0;
    for (std::size_t start = 0; start < text.size(); ++number) {
        const std::size_t end = text.find('\n', start);
        if (end == std::string::npos) break;
        std::string line = text.substr(start, end - start);
        start = end + 1;
        if (line.empty()) continue;
        MetricsRecord record = MetricsRecord::parse(line, nullptr, false);  // no exceptions: discarded if no JSON
        if (record.is_object())
            lines.emplace_back(std::move(line), std::move(record));
        else if (start < text.size())
            fail<io_error>("read_metrics", path.string() + ": every line must be a JSON object",
                           {{"line", number + 1}, {"text", line.substr(0, 60)}});
    }
    return lines;
}

inline std::optional<Index> step_of(const MetricsRecord& record) {
    const auto found = record.find("step");
    if (found == record.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<Index>();
}

}  // namespace detail

/// A log of a run as JSON lines: one object a line, written at once, so that it can be followed while it grows and a
/// crash tears the last line at most.  NaN and infinity become null.
class MetricsLog {
public:
    /// Begins an empty log; an earlier file is replaced.  @throws io_error naming path, reason and remedy
    static MetricsLog create(const std::filesystem::path& path) {
        write_file(path, "", "MetricsLog");
        return MetricsLog(path);
    }

    /// Continues the log of a run that resumes after `step`: records of later steps, written after the checkpoint, go,
    /// so that none appears twice.  Records without a step stay with the step before them.  Without a file it begins.
    /// @throws io_error naming path, reason and remedy, or the line that is damaged
    static MetricsLog resume(const std::filesystem::path& path, Index step) {
        std::error_code ignored;
        std::string kept;
        if (std::filesystem::exists(path, ignored)) {
            bool keep = true;
            for (const auto& [line, record] : detail::read_metrics_lines(path)) {
                if (const auto at = detail::step_of(record)) keep = *at <= step;
                if (keep) kept += line + '\n';
            }
        }
        write_file(path, kept, "MetricsLog");
        return MetricsLog(path);
    }

    /// Appends one record.  If it cannot be written whole (a full disk), nothing of it stays.
    /// @throws usage_error if it is no JSON object;  io_error naming path, reason and remedy
    void append(const MetricsRecord& record) {
        require<usage_error>(record.is_object(), "MetricsLog", "a record must be a JSON object");
        const std::string line = record.dump(-1, ' ', false, MetricsRecord::error_handler_t::replace) + '\n';
        const auto end = ::lseek(file_.get(), 0, SEEK_END);
        if (const int code = detail::write_all(file_.get(), line.data(), line.size())) {
            if (end >= 0 && ::ftruncate(file_.get(), end) != 0) {
                // what is left is a torn last line, which readers drop
            }
            detail::throw_io("MetricsLog", "write", path_, code);
        }
    }

    const std::filesystem::path& path() const { return path_; }

private:
    explicit MetricsLog(const std::filesystem::path& path)
        : path_(path), file_(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)) {
        if (!file_) detail::throw_io("MetricsLog", "write", path_, errno);
    }

    std::filesystem::path path_;
    detail::FileDescriptor file_;
};

/// The records of a metrics log.  A last line that is torn is left out.
/// @throws io_error naming path, reason and remedy, or the line that is damaged
inline std::vector<MetricsRecord> read_metrics(const std::filesystem::path& path) {
    std::vector<MetricsRecord> records;
    for (auto& [line, record] : detail::read_metrics_lines(path)) records.push_back(std::move(record));
    return records;
}

/// The number under `key`; NaN where it is missing, null (a loss that was no number) or no number.
inline double metric(const MetricsRecord& record, const std::string& key) {
    const auto found = record.find(key);
    return found != record.end() && found->is_number() ? found->get<double>() : std::nan("");
}

}  // namespace gflow
