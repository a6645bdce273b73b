// What this process is called by others, from /proc.
#include "platform/process.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

namespace ringmain::platform {

namespace {

// Field 22 of /proc/self/stat. The second field is a name in parentheses that may hold anything, so that counting
// starts at the last one.
std::uint64_t start_ticks() noexcept {
    std::array<char, 1024> buffer{};
    const int fd = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const ssize_t bytes = ::read(fd, buffer.data(), buffer.size());
    ::close(fd);
    if (bytes <= 0)
        return 0;

    std::string_view text(buffer.data(), static_cast<std::size_t>(bytes));
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string_view::npos)
        return 0;
    text.remove_prefix(name_end + 1);
    for (int field = 2; field < 22; ++field) {
        const std::size_t space = text.find(' ');
        if (space == std::string_view::npos)
            return 0;
        text.remove_prefix(space + 1);
    }
    std::uint64_t ticks = 0;
    std::from_chars(text.data(), text.data() + text.size(), ticks);
    return ticks;
}

}  // namespace

ProcessIdentity this_process() noexcept {
    struct stat space {};
    const bool known = ::stat("/proc/self/ns/pid", &space) == 0;
    return {static_cast<std::uint32_t>(::getpid()), known ? space.st_ino : 0, start_ticks()};
}

}  // namespace ringmain::platform
