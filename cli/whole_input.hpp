// A file, or standard input, as one value.
#pragma once

#include <cstdint>
#include <string>

namespace ringmain::cli {

struct WholeInput {
    std::string content;
    std::uint64_t bytes = 0;  ///< More than content.size() if the input is longer than asked for.
};

/// Reads "-" (standard input) or a path to its end, and keeps at most `bytes_max` bytes.
/// Throws CommandError naming path and errno, or if a signal asks to stop.
[[nodiscard]] WholeInput read_whole(const std::string& path, std::uint64_t bytes_max);

}  // namespace ringmain::cli
