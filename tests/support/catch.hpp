// The one place that knows which Catch2 is installed: v2 (Debian 12) or v3 (Ubuntu 24.04).
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <string>

namespace ringmain::test {

/// Matcher: the text contains `part`. Catch2 names it differently in its two versions.
inline auto contains(const std::string& part) {
#if __has_include(<catch2/catch_all.hpp>)
    return Catch::Matchers::ContainsSubstring(part);
#else
    return Catch::Matchers::Contains(part);
#endif
}

/// Prints `skipped: reason` and counts it; an executable all of whose test cases were skipped exits with 4.
void note_skipped(const std::string& reason);

}  // namespace ringmain::test

/// Leaves the test case (a function that returns void) because it cannot run here.
#undef SKIP
#define SKIP(reason)                            \
    do {                                        \
        ::ringmain::test::note_skipped(reason); \
        return;                                 \
    } while (false)
