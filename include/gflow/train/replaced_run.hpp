#pragma once
#include <gflow/train/run_folder.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace gflow {

/// Sets a run aside, into the folder "replaced" within its own, while another one begins in its place. Unless drop()
/// says that the new run stands, the destructor puts the earlier one back, so that a disk that is full or a wrong
/// setting loses nothing.
class ReplacedRun {
public:
    /// @throws io_error naming what cannot be moved; the run is then where it was
    explicit ReplacedRun(std::filesystem::path folder) : folder_(std::move(folder)) {
        recover(folder_);
        if (!holds_run(folder_)) return;
        make_directory(aside(folder_), "train_lm");
        for (const std::string& name : detail::run_files()) {
            if (!detail::path_exists(folder_ / name)) continue;
            if (const int code = move(folder_ / name, aside(folder_) / name)) {
                put_back(folder_);
                detail::throw_io("train_lm", "move", folder_ / name, code);
            }
        }
    }
    ReplacedRun(const ReplacedRun&) = delete;
    ReplacedRun& operator=(const ReplacedRun&) = delete;
    ~ReplacedRun() {
        if (!dropped_) recover(folder_);
    }

    /// The new run has its first checkpoint: the earlier one goes.
    void drop() {
        dropped_ = true;
        std::error_code ignored;  // a rest is harmless: recover() removes it
        std::filesystem::remove_all(aside(folder_), ignored);
    }

    /// Ends a replacement that was cut short: without a checkpoint of the new run, the earlier one comes back.
    /// ("last" is the first to go and the last to come back, so wherever it was cut, a "last" in place is a new one's
    /// or there is nothing else left to put back.)
    static void recover(const std::filesystem::path& folder) {
        if (!detail::path_exists(aside(folder))) return;
        std::error_code ignored;
        if (detail::path_exists(folder / "last"))
            std::filesystem::remove_all(aside(folder), ignored);
        else
            put_back(folder);
    }

private:
    static std::filesystem::path aside(const std::filesystem::path& folder) { return folder / detail::set_aside; }
    static int move(const std::filesystem::path& from, const std::filesystem::path& to) {
        std::error_code failure;
        std::filesystem::rename(from, to, failure);
        return failure.value();
    }
    static void put_back(const std::filesystem::path& folder) {
        std::error_code ignored;
        std::vector<std::string> names = detail::run_files();
        std::reverse(names.begin(), names.end());
        for (const std::string& name : names) {
            if (!detail::path_exists(aside(folder) / name)) continue;
            std::filesystem::remove_all(folder / name, ignored);
            move(aside(folder) / name, folder / name);
        }
        std::filesystem::remove(aside(folder), ignored);
    }

    std::filesystem::path folder_;
    bool dropped_ = false;
};

}  // namespace gflow
