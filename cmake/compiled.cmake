# gflow::compiled: the kernels of matrix products once for each instruction set of x86-64; a program that links it takes
# those of the processor that it runs on, whatever -march it was compiled with (none, where it has to run anywhere).
# The one part of gflow that is not headers, and optional.

if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    message(STATUS "gflow: gflow::compiled is left out: it knows the instruction sets of x86-64, this is ${CMAKE_SYSTEM_PROCESSOR}")
    return()
endif()

add_library(gflow_compiled STATIC src/best_micro_kernels.cpp)
if(NOT GFLOW_COMPILED)
    set_target_properties(gflow_compiled PROPERTIES EXCLUDE_FROM_ALL ON)  # built where something links it
endif()
add_library(gflow::compiled ALIAS gflow_compiled)
target_link_libraries(gflow_compiled PUBLIC gflow)
target_compile_definitions(gflow_compiled INTERFACE GFLOW_COMPILED_KERNELS)
set_source_files_properties(src/best_micro_kernels.cpp PROPERTIES COMPILE_DEFINITIONS GFLOW_COMPILED_KERNELS)
set_target_properties(gflow_compiled PROPERTIES EXPORT_NAME compiled CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)

# -march comes first and takes back what the flags of the project say. -O3 in debug builds too: what a compiler does not
# inline, units for different instruction sets would share.
set(avx2 -mavx2 -mfma)
set(avx512 ${avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl)
set(avx512_bf16 ${avx512} -mavx512bf16)
set(amx_bf16 ${avx512_bf16} -mamx-tile -mamx-bf16)
set(baseline "")
foreach(isa IN ITEMS baseline avx2 avx512 avx512_bf16 amx_bf16)
    add_library(gflow_compiled_${isa} OBJECT EXCLUDE_FROM_ALL src/micro_kernels.cpp)
    target_link_libraries(gflow_compiled_${isa} PRIVATE gflow)
    target_compile_definitions(gflow_compiled_${isa} PRIVATE GFLOW_COMPILED_ISA=${isa})
    target_compile_options(gflow_compiled_${isa} PRIVATE -march=x86-64 -mtune=generic ${${isa}} -O3)
    set_target_properties(gflow_compiled_${isa} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
    target_sources(gflow_compiled PRIVATE $<TARGET_OBJECTS:gflow_compiled_${isa}>)
endforeach()
