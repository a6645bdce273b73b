// Reading files as a whole.
#include "whole_input.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "errors.hpp"
#include "input_file.hpp"
#include "signals.hpp"

namespace ringmain::cli {

WholeInput read_whole(const std::string& path, std::uint64_t bytes_max) {
    const InputFile input(path);
    WholeInput whole;
    std::array<char, 1 << 16> chunk;
    while (!stop_requested()) {
        const ssize_t bytes = ::read(input.descriptor(), chunk.data(), chunk.size());
        if (bytes == 0)
            return whole;
        if (bytes < 0 && errno != EINTR)
            fail_input(path, "read");
        if (bytes < 0)
            continue;
        const auto count = static_cast<std::uint64_t>(bytes);
        whole.content.append(chunk.data(), static_cast<std::size_t>(std::min(count, bytes_max - whole.content.size())));
        whole.bytes += count;
    }
    throw CommandError(fmt::format("{}: stopped while reading", path));
}

}  // namespace ringmain::cli
