# ringmain_test(): one Catch2 executable from a list of sources, each TEST_CASE of it registered with ctest.
# The version of Catch2 is decided here and in tests/support/catch.hpp, nowhere else.
include_guard(GLOBAL)

find_package(Catch2 REQUIRED)
if(Catch2_VERSION VERSION_LESS 3)
    set(ringmain_list_tests --list-test-names-only)
    set(ringmain_run_arguments --warn NoTests)  # v3 fails by itself when a name matches nothing
else()
    set(ringmain_list_tests --list-tests --verbosity quiet)
    set(ringmain_run_arguments "")
endif()

# main() and the helpers that all tests share, compiled once.
file(GLOB ringmain_test_support_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.cpp")
add_library(ringmain_test_support OBJECT ${ringmain_test_support_sources})
target_include_directories(ringmain_test_support PUBLIC "${PROJECT_SOURCE_DIR}/tests")
target_link_libraries(ringmain_test_support PUBLIC ringmain_internal Catch2::Catch2 ringmain_warnings ringmain_sanitizers)
set_target_properties(ringmain_test_support PROPERTIES CXX_EXTENSIONS OFF)

# Everything that runs under one sanitizer, so that ./dev test builds no more than that.
add_custom_target(ringmain_label_tsan)
add_custom_target(ringmain_label_asan)

# ringmain_test(NAME source... [LABELS label...] [TIMEOUT seconds] [LIBRARIES target...]
#               [NEEDS_CLI] [NEEDS_DAEMON] [SERIAL])
#   NAME          ctest names are "NAME: test case"; the executable is ringmain_NAME_tests
#   LABELS        NAME itself is always a label; tsan and asan say under which sanitizer ./dev test runs it as well
#   TIMEOUT       of every single test case, 60 s by default; half a day with RINGMAIN_LONG=1
#   NEEDS_CLI     defines RINGMAIN_CLI_PATH and builds the command first (left out when the command is not built)
#   NEEDS_DAEMON  the same for ringmaind and RINGMAIN_DAEMON_PATH
#   SERIAL        the test cases never run beside another one
function(ringmain_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "NEEDS_CLI;NEEDS_DAEMON;SERIAL" "TIMEOUT" "LABELS;LIBRARIES")
    set(sources ${arg_UNPARSED_ARGUMENTS})
    if(NOT sources OR (arg_NEEDS_CLI AND NOT TARGET ringmain_cli) OR (arg_NEEDS_DAEMON AND NOT TARGET ringmaind))
        message(STATUS "tests/${name}: left out (no sources, or the program it needs is not built)")
        return()
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 60)
    endif()

    set(target ringmain_${name}_tests)
    add_executable(${target} ${sources})
    target_link_libraries(${target} PRIVATE ringmain_test_support ${arg_LIBRARIES})
    target_compile_definitions(${target} PRIVATE RINGMAIN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    if(arg_NEEDS_CLI)
        add_dependencies(${target} ringmain_cli)
        target_compile_definitions(${target} PRIVATE RINGMAIN_CLI_PATH="$<TARGET_FILE:ringmain_cli>")
    endif()
    if(arg_NEEDS_DAEMON)
        add_dependencies(${target} ringmaind)
        target_compile_definitions(${target} PRIVATE RINGMAIN_DAEMON_PATH="$<TARGET_FILE:ringmaind>")
    endif()
    set(launcher "")
    if(RINGMAIN_SANITIZE MATCHES "thread")
        set(launcher "${PROJECT_SOURCE_DIR}/cmake/run-tsan.sh")
    endif()
    set(serial FALSE)
    if(arg_SERIAL)
        set(serial TRUE)
    endif()

    foreach(label IN LISTS arg_LABELS)
        if(TARGET ringmain_label_${label})
            add_dependencies(ringmain_label_${label} ${target})
        endif()
    endforeach()

    # The list of test cases is read from the executable when it is linked, and included by ctest.
    set(test_file "${CMAKE_CURRENT_BINARY_DIR}/${target}.cmake")
    add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS "${test_file}" VERBATIM
        COMMAND "${CMAKE_COMMAND}" "-Dname=${name}" "-Dexecutable=$<TARGET_FILE:${target}>" "-Dlauncher=${launcher}"
                "-Dlist_tests=${ringmain_list_tests}" "-Drun_arguments=${ringmain_run_arguments}"
                "-Dtimeout=${arg_TIMEOUT}" "-Dserial=${serial}" "-Dlabels=${name};${arg_LABELS}" "-Doutput_file=${test_file}"
                -P "${PROJECT_SOURCE_DIR}/cmake/RingmainAddTests.cmake")
    set(include_file "${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake")
    file(WRITE "${include_file}" "if(EXISTS \"${test_file}\")\n    include(\"${test_file}\")\nelse()\n"
                                 "    add_test(${target}_not_built ${target}_not_built)\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include_file}")
endfunction()
