// Where something stands in a file of a broker: its header, its words, its cells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringmain::test {

struct Region {
    const char* name;
    std::uint64_t at;
    std::uint64_t bytes;
};

/// The regions of a file as the library made it, by its kind; each lies within it. The last one is the whole file, and
/// the only one of a file without a header.
[[nodiscard]] std::vector<Region> regions_of(const std::string& file);

}  // namespace ringmain::test
