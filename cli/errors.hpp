// How a subcommand ends other than by returning, and how anything is said on stderr.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <string_view>
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

/// Writes "ringmain: TEXT" and a newline to stderr at once. Control characters but newlines are shown as \xNN: texts have
/// names in them, and no name must act on a terminal.
void say_on_stderr(std::string_view text);

/// One line on stderr, "ringmain: …".
template <class... Args>
void note(fmt::format_string<Args...> format, Args&&... args) {
    say_on_stderr(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace ringmain::cli
