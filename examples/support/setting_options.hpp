#pragma once
// The settings of a training run as options of a command line.

#include <CLI/CLI.hpp>
#include <gflow/train/resolve_settings.hpp>
#include <string>
#include <utility>
#include <vector>

namespace program {

/// Every setting as an option of `app`, under its heading. Must outlive the parsing.
class SettingOptions {
public:
    explicit SettingOptions(CLI::App& app) {
        for (const gflow::Setting& setting : gflow::settings_of(given_.values)) {
            CLI::Option* option = std::visit([&](auto* field) { return add(app, setting, *field); }, setting.field);
            option->group(setting.group);
            options_.emplace_back(setting.name, option);
        }
    }
    SettingOptions(const SettingOptions&) = delete;
    SettingOptions& operator=(const SettingOptions&) = delete;

    /// What the command line gave.
    gflow::GivenSettings given() const {
        gflow::GivenSettings result = given_;
        for (const auto& [name, option] : options_)
            if (option->count() > 0) result.names.insert(name);
        return result;
    }

private:
    static CLI::Option* add(CLI::App& app, const gflow::Setting& setting, bool& field) {
        const std::string flag = gflow::flag_of(setting.name);
        return app.add_flag(flag + ",!--no-" + flag.substr(2), field,
                            std::string(setting.help) + (field ? " (default: yes)" : " (default: no)"));
    }
    template <class T>
    static CLI::Option* add(CLI::App& app, const gflow::Setting& setting, T& field) {
        CLI::Option* option = app.add_option(gflow::flag_of(setting.name), field, setting.help);
        if (has_plain_default(setting.name)) option->capture_default_str();
        return option;
    }
    /// Not those that depend on the preset, or whose default the help text explains.
    static bool has_plain_default(const std::string& name) {
        for (const char* other :
             {"model", "data", "epochs", "steps", "minutes", "seq_len", "batch", "min_lr", "warmup", "eval_every",
              "stop_after", "d_model", "layers", "d_ff", "heads", "rank", "offsets", "offsets_all", "threads"})
            if (name == other) return false;
        return true;
    }

    gflow::GivenSettings given_;
    std::vector<std::pair<std::string, CLI::Option*>> options_;
};

}  // namespace program
