// The flags of ringmaind.
#pragma once

#include <filesystem>
#include <optional>

#include "configuration_source.hpp"

namespace ringmain::daemon {

struct CommandLine {
    std::optional<std::filesystem::path> file;
    bool check = false;  ///< Only say what would be done.
    Flags flags;
};

/// Nothing: all is said, and the program is to end with `exit_code` (0 after --help, 2 after a wrong command line).
[[nodiscard]] std::optional<CommandLine> parse_command_line(int argc, const char* const* argv, int& exit_code);

}  // namespace ringmain::daemon
