# Conveniences for those who build gflow itself; nothing of this reaches a project that includes it.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_CXX_FLAGS MATCHES "-march=|-mcpu=|-mavx")
    message(STATUS "gflow: no -march given, so all but the matrix products of our own programs is compiled for any processor; add -DCMAKE_CXX_FLAGS=-march=native")
endif()

# A compiler cache, where there is one. The sloppiness is what it needs to take precompiled headers.
find_program(GFLOW_CCACHE ccache)
mark_as_advanced(GFLOW_CCACHE)
if(GFLOW_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${GFLOW_CCACHE})
endif()
