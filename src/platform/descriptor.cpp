// A file descriptor that closes itself.
#include "platform/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "platform/no_links.hpp"
#include "platform/system_failure.hpp"

namespace ringmain::platform {

void Descriptor::reset() noexcept {
    if (fd_ >= 0)
        ::close(fd_);
    fd_ = -1;
}

std::filesystem::path path_of(const Descriptor& opened) { return "/proc/self/fd/" + std::to_string(opened.get()); }

int beyond_streams(int fd) noexcept {
    constexpr int kFirstBeyondStreams = 3;
    if (fd < 0 || fd >= kFirstBeyondStreams)
        return fd;
    const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, kFirstBeyondStreams);
    const int failure = errno;
    ::close(fd);
    errno = failure;
    return moved;
}

namespace {

const char* action_of(int flags) noexcept {
    if ((flags & O_CREAT) != 0)
        return "create";
    return (flags & O_ACCMODE) == O_RDONLY ? "open for reading" : "open for writing";
}

}  // namespace

Descriptor open_file(const std::filesystem::path& path, int flags, unsigned mode) {
    const int all = flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int fd = -1;
    do {
        const bool follows = (flags & O_NOFOLLOW) == 0;
        fd = beyond_streams(follows ? ::open(path.c_str(), all, mode) : open_without_links(path, all, mode));
    } while (fd < 0 && errno == EINTR);
    if (fd < 0)
        throw system_failure(action_of(flags), path, errno);
    return Descriptor(fd);
}

}  // namespace ringmain::platform
