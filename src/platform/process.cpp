// What this process is called by others, from /proc.
#include "platform/process.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <string_view>

namespace ringmain::platform {

namespace {

// What is in /proc/PID/stat: "pid (command) state ppid ...".
struct StatLine {
    std::array<char, 16> command{};
    char state = '?';
    std::uint64_t start_ticks = 0;
};

std::string_view after_space(std::string_view text) noexcept {
    const std::size_t space = text.find(' ');
    return space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
}

// The second field is a name in parentheses that may hold anything, so that counting starts at the last one.
std::optional<StatLine> parse_stat(std::string_view text) noexcept {
    constexpr int kStateField = 3;
    constexpr int kStartField = 22;
    const std::size_t name_at = text.find('(');
    const std::size_t name_end = text.rfind(')');
    if (name_at == std::string_view::npos || name_end == std::string_view::npos || name_end < name_at)
        return std::nullopt;
    StatLine line;
    const std::string_view name = text.substr(name_at + 1, name_end - name_at - 1);
    name.copy(line.command.data(), line.command.size() - 1);
    text = after_space(text.substr(name_end));
    if (text.empty())
        return std::nullopt;
    line.state = text.front();
    for (int field = kStateField; field < kStartField; ++field)
        text = after_space(text);
    if (std::from_chars(text.data(), text.data() + text.size(), line.start_ticks).ec != std::errc())
        return std::nullopt;
    return line;
}

std::optional<StatLine> read_stat(const char* path) noexcept {
    std::array<char, 1024> buffer{};
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return std::nullopt;
    const ssize_t bytes = ::read(fd, buffer.data(), buffer.size());
    ::close(fd);
    if (bytes <= 0)
        return std::nullopt;
    return parse_stat({buffer.data(), static_cast<std::size_t>(bytes)});
}

std::optional<StatLine> read_stat(std::uint32_t pid) noexcept {
    std::array<char, 32> path{};
    std::snprintf(path.data(), path.size(), "/proc/%" PRIu32 "/stat", pid);
    return read_stat(path.data());
}

}  // namespace

std::optional<ProcessLook> look_at_process(std::uint32_t pid, std::uint64_t start_ticks) noexcept {
    const auto line = read_stat(pid);
    if (!line || line->start_ticks != start_ticks)
        return std::nullopt;
    return ProcessLook{line->state == 'T' || line->state == 't', line->command};
}

std::uint64_t start_ticks_of(std::uint32_t pid) noexcept {
    const auto line = read_stat(pid);
    return line ? line->start_ticks : 0;
}

ProcessIdentity this_process() noexcept {
    struct stat space {};
    const bool known = ::stat("/proc/self/ns/pid", &space) == 0;
    const auto line = read_stat("/proc/self/stat");
    return {static_cast<std::uint32_t>(::getpid()), known ? space.st_ino : 0,
            line ? line->start_ticks : 0};
}

}  // namespace ringmain::platform
