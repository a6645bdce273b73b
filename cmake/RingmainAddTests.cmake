# Script run after a test executable is linked: writes an add_test() per TEST_CASE. Catch2's own script differs between
# its versions, and mangles names with brackets and properties that are lists.
execute_process(COMMAND ${launcher} "${executable}" ${list_tests} OUTPUT_VARIABLE names ERROR_VARIABLE errors
                RESULT_VARIABLE result)
if(NOT result MATCHES "^[0-9]+$" OR NOT errors STREQUAL "")
    message(FATAL_ERROR "cannot list the test cases of ${executable}: ${result}\n${names}${errors}")
endif()

# ctest reads this: with RINGMAIN_LONG=1 what takes minutes takes hours.
set(script "set(timeout ${timeout})\nif(DEFINED ENV{RINGMAIN_LONG})\n    set(timeout 43200)\nendif()\n")
list(JOIN run_arguments " " run_arguments)
string(STRIP "${names}" names)
string(APPEND names "\n")
while(NOT names STREQUAL "" AND NOT names STREQUAL "\n")
    string(FIND "${names}" "\n" end)
    string(SUBSTRING "${names}" 0 ${end} test)
    math(EXPR next "${end} + 1")
    string(SUBSTRING "${names}" ${next} -1 names)
    string(STRIP "${test}" test)
    string(REGEX REPLACE "([][,\\\"])" "\\\\\\1" filter "${test}")
    string(APPEND script
        "add_test([==[${name}: ${test}]==] ${launcher} [==[${executable}]==] [==[${filter}]==] ${run_arguments})\n"
        "set_tests_properties([==[${name}: ${test}]==] PROPERTIES TIMEOUT \${timeout} SKIP_RETURN_CODE 4 "
        "RUN_SERIAL ${serial} LABELS [==[${labels}]==])\n")
endwhile()
file(WRITE "${output_file}" "${script}")
