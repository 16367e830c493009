#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace gflow::test {

/// Whether a header of floor `from` may include one of floor `to`. io/checkpoint.hpp is a floor of its own: it stores
/// what stands above io.
inline bool may_include(const std::string& from, const std::string& to) {
    static const std::map<std::string, std::set<std::string>> below = [] {
        const std::set<std::string> kernels{"config", "core"};
        std::set<std::string> ops = kernels;
        std::map<std::string, std::set<std::string>> floors{{"config", {}},       {"core", {"config"}},
                                                            {"kernels", kernels}, {"cuda", kernels},
                                                            {"io", kernels},      {"text", kernels}};
        ops.insert({"kernels", "cuda"});
        floors["autograd"] = ops;
        ops.insert("autograd");
        floors["ops"] = ops;
        ops.insert("ops");
        floors["optim"] = floors["nn"] = ops;
        ops.insert("nn");
        floors["models"] = ops;
        ops.insert({"io", "optim"});
        floors["io/checkpoint"] = ops;
        ops.insert({"models", "text", "io/checkpoint"});
        floors["train"] = floors["geometry"] = ops;
        return floors;
    }();
    const auto found = below.find(from);
    return from == to || (from == "io/checkpoint" && to == "io") ||
           (found != below.end() && found->second.count(to) > 0);
}

/// What breaks the rules of the house under `include` (which holds gflow/), one line each: `file:line: what`.
///  - includes only point downward, and are written <gflow/floor/file.hpp>;
///  - macros live in config/ (and version.hpp); elsewhere a #define is undone in the same file;
///  - only config/eigen.hpp includes Eigen;
///  - gflow.hpp and what it includes need nothing but Eigen and the standard library.
inline std::vector<std::string> broken_rules(const std::filesystem::path& include) {
    namespace fs = std::filesystem;
    static const std::regex include_line(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
    static const std::regex define_line(R"(^\s*#\s*define\s+(\w+).*)");
    static const std::regex undef_line(R"(^\s*#\s*undef\s+(\w+).*)");

    const auto floor_of = [](const std::string& name) -> std::string {  // of "gflow/core/tensor.hpp"
        const auto slash = name.find('/', 6);
        if (slash == std::string::npos) return "";
        const std::string floor = name.substr(6, slash - 6);
        return floor == "io" && name.compare(slash, 11, "/checkpoint") == 0 ? "io/checkpoint" : floor;
    };

    std::set<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(include / "gflow"))
        if (entry.is_regular_file() && entry.path().extension() == ".hpp") files.insert(entry.path());

    std::vector<std::string> broken;
    std::map<std::string, std::vector<std::string>> includes_of;
    for (const auto& path : files) {
        const std::string name = path.lexically_relative(include).generic_string();
        const std::string floor = floor_of(name);
        const bool facade = name == "gflow/gflow.hpp" || name == "gflow/fwd.hpp";
        std::map<std::string, std::size_t> defined;
        bool once = false;
        std::size_t number = 0;
        const auto report = [&](std::size_t line, const std::string& what) {
            broken.push_back(name + ":" + std::to_string(line) + ": " + what);
        };

        std::ifstream file(path);
        for (std::string line; std::getline(file, line);) {
            ++number;
            std::smatch match;
            if (line.find("#pragma once") == 0) once = true;
            if (std::regex_match(line, match, define_line)) defined.emplace(match[1], number);
            if (std::regex_match(line, match, undef_line)) defined.erase(match[1]);
            if (!std::regex_match(line, match, include_line)) continue;
            const std::string target = match[2];
            includes_of[name].push_back(target);
            if (match[1] == "\"") report(number, "write <gflow/...> instead of \"" + target + "\"");
            if (target.find("Eigen/") == 0 && name != "gflow/config/eigen.hpp")
                report(number, "only config/eigen.hpp includes Eigen");
            if (target.find("gflow/") != 0 || facade) continue;
            const std::string to = floor_of(target);
            if (to.empty() ? target == "gflow/gflow.hpp" : !may_include(floor, to))
                report(number, (floor.empty() ? name : floor) + " must not include " + target);
        }
        if (!once) report(1, "#pragma once is missing");
        if (floor != "config" && name != "gflow/version.hpp")
            for (const auto& [macro, line] : defined) report(line, "macro " + macro + " outlives its file");
    }

    std::set<std::string> reached{"gflow/gflow.hpp"};
    std::vector<std::string> queue{"gflow/gflow.hpp"};
    while (!queue.empty()) {
        const std::string name = queue.back();
        queue.pop_back();
        for (const auto& target : includes_of[name]) {
            for (const char* foreign : {"nlohmann/", "utf8proc", "sentencepiece", "CLI/"})
                if (target.find(foreign) == 0)
                    broken.push_back(name + ":1: gflow.hpp reaches <" + target + ">, but needs Eigen only");
            if (reached.insert(target).second) queue.push_back(target);
        }
    }
    return broken;
}

}  // namespace gflow::test
