# Install rules: library, headers, CMake package, pkg-config file, and the programs that were built.
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

set(ringmain_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/ringmain")

install(TARGETS ringmain EXPORT ringmainTargets)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/ringmain" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.hpp")
foreach(program ringmain_cli ringmaind)
    if(TARGET ${program})
        install(TARGETS ${program})
    endif()
endforeach()

install(EXPORT ringmainTargets NAMESPACE ringmain:: DESTINATION "${ringmain_package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/ringmainConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/ringmainConfig.cmake"
                              INSTALL_DESTINATION "${ringmain_package_dir}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/ringmainConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/ringmainConfig.cmake" "${PROJECT_BINARY_DIR}/ringmainConfigVersion.cmake"
        DESTINATION "${ringmain_package_dir}")

file(RELATIVE_PATH ringmain_pc_to_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file("${PROJECT_SOURCE_DIR}/cmake/ringmain.pc.in" "${PROJECT_BINARY_DIR}/ringmain.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/ringmain.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
