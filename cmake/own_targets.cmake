# What our own targets share; the library itself never carries any of this to its users.

# gflow_own(<target>): warnings are errors.
function(gflow_own target)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
    # g++ 12 sees copies that overlap in the standard library's own strings, now here, now there.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
    # A precompiled header of g++ 12 forgets the pragmas of config/intrinsics.hpp.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized>
                           $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()

# gflow_includes(<file> <variable>): everything that the file includes, itself or through our headers and those that lie
# beside it.
function(gflow_includes file result)
    cmake_path(GET file PARENT_PATH folder)
    set(seen "")
    set(queue ${file})
    while(queue)
        list(POP_FRONT queue next)
        file(STRINGS ${next} lines REGEX "^ *# *include *[<\"]")
        list(TRANSFORM lines REPLACE "^ *# *include *[<\"]([^>\"]+).*" "\\1")
        foreach(name IN LISTS lines)
            if(NOT name IN_LIST seen)
                list(APPEND seen ${name})
                foreach(place IN ITEMS ${gflow_SOURCE_DIR}/include ${folder})
                    if(EXISTS ${place}/${name})
                        list(APPEND queue ${place}/${name})
                    endif()
                endforeach()
            endif()
        endforeach()
    endwhile()
    set(${result} "${seen}" PARENT_SCOPE)
endfunction()

# gflow_needs(<file> <libraries> <missing>): the targets that its includes ask for, and the packages not found here.
function(gflow_needs file libraries missing)
    gflow_includes(${file} includes)
    set(found gflow::gflow)
    set(absent "")
    macro(gflow_need pattern library package)
        set(matching ${includes})
        list(FILTER matching INCLUDE REGEX ${pattern})
        if(matching AND TARGET ${library})
            list(APPEND found ${library})
        elseif(matching)
            list(APPEND absent ${package})
        endif()
    endmacro()
    gflow_need("^nlohmann/" gflow::json nlohmann-json)
    gflow_need("^utf8proc" gflow::wordpiece utf8proc)
    gflow_need("^sentencepiece_" gflow::sentencepiece sentencepiece)
    gflow_need("^CLI/" CLI11::CLI11 CLI11)
    gflow_need("^benchmark/" benchmark::benchmark benchmark)
    set(${libraries} "${found}" PARENT_SCOPE)
    set(${missing} "${absent}" PARENT_SCOPE)
endfunction()

# The heavy kernels, compiled once for all our programs and tests; whoever links gflow_instances does not compile them
# again. (A user of the library has everything in his own unit, as ever.)
add_library(gflow_instances INTERFACE)
file(GLOB instances CONFIGURE_DEPENDS ${gflow_SOURCE_DIR}/tests/instances/*.cpp)
# What runs on any processor chooses the kernels of its products where it runs.
set(gflow_isa gflow::gflow)
if(TARGET gflow::compiled AND NOT CMAKE_CXX_FLAGS MATCHES "-march=|-mcpu=|-mavx")
    set(gflow_isa gflow::compiled)
endif()
target_link_libraries(gflow_instances INTERFACE ${gflow_isa})
if(instances)
    add_library(gflow_kernels OBJECT ${instances})
    target_link_libraries(gflow_kernels PRIVATE ${gflow_isa})
    gflow_own(gflow_kernels)
    target_compile_definitions(gflow_instances INTERFACE GFLOW_EXTERN_TEMPLATES)
    target_link_libraries(gflow_instances INTERFACE $<TARGET_OBJECTS:gflow_kernels>)
endif()

# gflow_precompile(<target>): CLI11, nlohmann-json and the library are a third of what compiling a program costs; for those
# that include all of them they are precompiled once.
function(gflow_precompile target)
    if(NOT TARGET gflow_program_precompiled)
        file(WRITE ${gflow_BINARY_DIR}/empty.cpp "")
        add_library(gflow_program_precompiled OBJECT ${gflow_BINARY_DIR}/empty.cpp)
        target_link_libraries(gflow_program_precompiled PRIVATE gflow::gflow gflow::json CLI11::CLI11 gflow_instances)
        gflow_own(gflow_program_precompiled)
        target_precompile_headers(gflow_program_precompiled PRIVATE <CLI/CLI.hpp> <nlohmann/json.hpp> <gflow/gflow.hpp>)
    endif()
    target_precompile_headers(${target} REUSE_FROM gflow_program_precompiled)
endfunction()

# All programs at once: cmake --build build --target gflow_programs
add_custom_target(gflow_programs)

# gflow_program(<file>): one program of the same name in bin/, linked to what its includes ask for.
# Where something is missing, it says so and the others are built.
function(gflow_program file)
    cmake_path(GET file STEM name)
    gflow_needs(${file} libraries missing)
    if(missing)
        list(JOIN missing ", " missing)
        message(STATUS "gflow: the program ${name} is left out, for want of: ${missing}")
        return()
    endif()
    add_executable(${name} ${file})
    gflow_own(${name})
    target_link_libraries(${name} PRIVATE ${libraries} gflow_instances)
    if("CLI11::CLI11" IN_LIST libraries AND "gflow::json" IN_LIST libraries)
        gflow_precompile(${name})
    endif()
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${gflow_BINARY_DIR}/bin)
    add_dependencies(gflow_programs ${name})
endfunction()
