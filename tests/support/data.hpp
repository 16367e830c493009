#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "support/catch.hpp"

namespace gflow::test {

/// The folder named by GFLOW_DATA, or nothing where it is not set. A test that needs data begins with
///     const auto data = data_dir();
///     if (!data) { WARN("skipped: GFLOW_DATA is not set"); return; }
inline std::optional<std::filesystem::path> data_dir() {
    const char* name = std::getenv("GFLOW_DATA");
    if (name == nullptr || *name == '\0') return std::nullopt;
    return std::filesystem::path(name);
}

/// `folder/file`; the test fails where that does not exist, so that a wrong GFLOW_DATA never passes for a success.
inline std::filesystem::path data_file(const std::filesystem::path& folder, const std::string& file) {
    auto path = folder / file;
    if (!std::filesystem::exists(path)) FAIL("GFLOW_DATA is set, but there is no " << path.string());
    return path;
}

}  // namespace gflow::test
