// How a subcommand ends other than by returning, and how anything is said on stderr.
#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

namespace ringmain::cli {

inline constexpr int kExitGood = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

/// The command line is wrong, whatever state the broker is in. Names the option, the value and the range. Exit 2.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The object, the limit and the value of a failure found by the command itself. Exit 1.
class CommandError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Ends the program without another word.
struct Exit {
    int code = kExitGood;
};

/// One line on stderr, "ringmain: …".
template <class... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
    const std::string line = fmt::format("ringmain: {}\n", fmt::format(format, std::forward<Args>(args)...));
    std::fwrite(line.data(), 1, line.size(), stderr);  // one write, so that lines of several processes do not mix
}

}  // namespace ringmain::cli
