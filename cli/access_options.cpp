// --owner, --group and --mode of the commands that make and change topics.
#include "access_options.hpp"

#include <fmt/core.h>

#include <limits>
#include <string>
#include <string_view>

#include "errors.hpp"
#include "numbers.hpp"
#include "rights_text.hpp"

namespace ringmain::cli {

namespace {

constexpr std::uint32_t kFileModeMax = 0666;
constexpr std::uint32_t kIdMax = std::numeric_limits<std::uint32_t>::max() - 1;

using LookUp = std::optional<std::uint32_t> (*)(const std::string&);

std::uint32_t parse_account(const char* option, const char* kind, const std::string& text, LookUp look_up) {
    if (const auto id = look_up(text))
        return *id;
    if (const auto id = parse_digits(text); id && *id <= kIdMax)
        return static_cast<std::uint32_t>(*id);
    throw UsageError(
        fmt::format("{}: this host has no {} '{}', and it is no number from 0 to {}", option, kind, text, kIdMax));
}

std::uint32_t parse_file_mode(const std::string& text) {
    const auto mode = parse_mode(text);
    if (!mode || (*mode & ~kFileModeMax) != 0)
        throw UsageError(
            fmt::format("--mode: '{}' is not a mode of files in octal digits, 0 to 0666 without execute bits", text));
    return *mode;
}

}  // namespace

void add_access_options(CLI::App& app, TopicAccess& access) {
    app.add_option_function<std::string>(
           "--owner",
           [&access](const std::string& text) { access.owner = parse_account("--owner", "user", text, user_id); },
           "Owner of the topic's files, by name or number (default: who creates it)")
        ->type_name("USER");
    app.add_option_function<std::string>(
           "--group",
           [&access](const std::string& text) { access.group = parse_account("--group", "group", text, group_id); },
           "Their group, by name or number")
        ->type_name("GROUP");
    app.add_option_function<std::string>(
           "--mode", [&access](const std::string& text) { access.mode = parse_file_mode(text); },
           "Their permission bits, e.g. 0640: who may write publishes, who may only read consumes (default: the "
           "umask's)")
        ->type_name("MODE");
}

}  // namespace ringmain::cli
