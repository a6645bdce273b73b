// The shared layout changes only on purpose: every offset and size is compared with a file that is under version
// control.
#include "support/catch.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "layout/fingerprint.hpp"

namespace {

std::string read(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("the shared layout is the one in golden_layout.txt") {
    const std::string actual = ringmain::layout::describe_layout();
    if (actual != read(RINGMAIN_SOURCE_DIR "/tests/style/golden_layout.txt")) {
        std::ofstream("golden_layout.actual.txt") << actual;
    }
    INFO(
        "golden_layout.actual.txt, beside this test's executable, has the new layout: with it goes a new "
        "kLayoutVersion");
    REQUIRE(actual == read(RINGMAIN_SOURCE_DIR "/tests/style/golden_layout.txt"));
}

TEST_CASE("the layout's description names every field once") {
    const std::string text = ringmain::layout::describe_layout();
    std::vector<std::string> names;
    for (std::size_t start = 0; start < text.size(); start = text.find('\n', start) + 1) {
        names.push_back(text.substr(start, text.find(' ', start) - start));
    }
    std::sort(names.begin(), names.end());
    CHECK(names.size() > 50);
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}
