#pragma once

#include <filesystem>

namespace gflow::test {

/// The root of the repository.
inline std::filesystem::path source_dir() {
#ifdef GFLOW_SOURCE_DIR
    return GFLOW_SOURCE_DIR;
#else
    return std::filesystem::current_path();  // compiled by hand: run it from the root
#endif
}

/// The folder of the programs that were built beside the tests.
inline std::filesystem::path program_dir() {
#ifdef GFLOW_BIN_DIR
    return GFLOW_BIN_DIR;
#else
    return source_dir() / "build" / "bin";
#endif
}

}  // namespace gflow::test
