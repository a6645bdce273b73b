# Warnings and sanitizers as INTERFACE targets, so that no flag is global and none reaches a user of the library.
include_guard(GLOBAL)

add_library(ringmain_warnings INTERFACE)
target_compile_options(ringmain_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                   $<$<BOOL:${RINGMAIN_WERROR}>:-Werror>)

add_library(ringmain_sanitizers INTERFACE)
if(RINGMAIN_SANITIZE)
    target_compile_options(ringmain_sanitizers INTERFACE -fsanitize=${RINGMAIN_SANITIZE} -fno-omit-frame-pointer
                                                         -fno-sanitize-recover=all)
    target_link_options(ringmain_sanitizers INTERFACE -fsanitize=${RINGMAIN_SANITIZE})
endif()
if(RINGMAIN_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC warns at every fence that TSan does not model it; the protocol tests know and order the accesses anyway.
    target_compile_options(ringmain_sanitizers INTERFACE -Wno-tsan)
endif()
