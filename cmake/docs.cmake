# cmake --build build --target docs; a warning of Doxygen is an error.
find_package(Doxygen QUIET)
if(DOXYGEN_FOUND)
    add_custom_target(docs
        COMMAND ${CMAKE_COMMAND} -E env GFLOW_DOCS_OUTPUT=${gflow_BINARY_DIR}/docs $<TARGET_FILE:Doxygen::doxygen> Doxyfile
        WORKING_DIRECTORY ${gflow_SOURCE_DIR} VERBATIM)
endif()
