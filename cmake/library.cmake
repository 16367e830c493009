# The library: gflow::gflow needs Eigen and threads only; each further dependency has a target of its own,
# which exists where the dependency was found.

add_library(gflow INTERFACE)
add_library(gflow::gflow ALIAS gflow)
target_compile_features(gflow INTERFACE cxx_std_20)
target_include_directories(gflow INTERFACE
    $<BUILD_INTERFACE:${gflow_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# GLOBAL, so that a project that adds this folder sees what gflow::gflow links to.
if(NOT TARGET Eigen3::Eigen)
    find_package(Eigen3 3.4 REQUIRED NO_MODULE GLOBAL)
endif()
find_package(Threads REQUIRED GLOBAL)
target_link_libraries(gflow INTERFACE Eigen3::Eigen Threads::Threads)

# gflow_optional(<component> <imported targets>...): the target gflow::<component>, where these targets exist.
function(gflow_optional component)
    foreach(dependency IN LISTS ARGN)
        if(NOT TARGET ${dependency})
            return()
        endif()
    endforeach()
    add_library(gflow_${component} INTERFACE)
    add_library(gflow::${component} ALIAS gflow_${component})
    set_target_properties(gflow_${component} PROPERTIES EXPORT_NAME ${component})
    target_link_libraries(gflow_${component} INTERFACE gflow ${ARGN})
endfunction()

list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
if(NOT TARGET nlohmann_json::nlohmann_json)
    find_package(nlohmann_json 3.9 QUIET GLOBAL)
endif()
find_package(Utf8proc QUIET GLOBAL)
find_package(SentencePiece QUIET GLOBAL)
list(POP_FRONT CMAKE_MODULE_PATH)

gflow_optional(json nlohmann_json::nlohmann_json)                       # io/, train/
gflow_optional(wordpiece utf8proc::utf8proc)                            # text/wordpiece.hpp
gflow_optional(sentencepiece sentencepiece::sentencepiece sentencepiece::train)  # text/sentencepiece.hpp

if(GFLOW_COMPILED OR PROJECT_IS_TOP_LEVEL)
    include(${CMAKE_CURRENT_LIST_DIR}/compiled.cmake)
endif()
