// The layout's description and fingerprint.
#include <sstream>
#include <string>

#include "layout/fingerprint.hpp"
#include "support/catch.hpp"

TEST_CASE("The layout's description has a line of name, offset and size for every field") {
    std::istringstream lines(ringmain::layout::describe_layout());
    std::string line;
    int fields = 0;
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        std::string name;
        std::uint64_t offset = 0;
        std::uint64_t size = 0;
        REQUIRE(static_cast<bool>(words >> name >> offset >> size));
        fields += name.find('.') != std::string::npos ? 1 : 0;
    }
    CHECK(fields >= 60);
    CHECK(ringmain::layout::fingerprint() != 0);
}
