#pragma once

/// The version of the library, for the preprocessor. CMakeLists.txt reads it from here.
#define GFLOW_VERSION_MAJOR 0
#define GFLOW_VERSION_MINOR 1
#define GFLOW_VERSION_PATCH 0

namespace gflow {

/// The version of the library as text, as in "0.1.0".
inline constexpr const char* version = "0.1.0";

}  // namespace gflow
