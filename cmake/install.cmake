# install, and find_package(gflow [COMPONENTS json wordpiece sentencepiece compiled]).
# One export set a target, so that a user needs only the dependencies of the components that he names.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

function(gflow_install)
    set(destination ${CMAKE_INSTALL_DATADIR}/cmake/gflow)
    install(DIRECTORY include/gflow DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
    install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gflow)
    foreach(target IN ITEMS gflow gflow_json gflow_wordpiece gflow_sentencepiece)
        if(TARGET ${target})
            install(TARGETS ${target} EXPORT ${target} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
            install(EXPORT ${target} FILE ${target}.cmake NAMESPACE gflow:: DESTINATION ${destination})
        endif()
    endforeach()
    set(any_architecture ARCH_INDEPENDENT)
    if(GFLOW_COMPILED AND TARGET gflow_compiled)
        install(TARGETS gflow_compiled EXPORT gflow_compiled ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
            INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
        install(EXPORT gflow_compiled FILE gflow_compiled.cmake NAMESPACE gflow:: DESTINATION ${destination})
        set(any_architecture "")
    endif()
    configure_package_config_file(cmake/gflowConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/gflowConfig.cmake
        INSTALL_DESTINATION ${destination})
    write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/gflowConfigVersion.cmake
        COMPATIBILITY SameMinorVersion ${any_architecture})
    install(FILES
        ${CMAKE_CURRENT_BINARY_DIR}/gflowConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/gflowConfigVersion.cmake
        cmake/FindUtf8proc.cmake cmake/FindSentencePiece.cmake DESTINATION ${destination})
endfunction()
gflow_install()
