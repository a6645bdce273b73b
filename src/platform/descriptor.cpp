// A file descriptor that closes itself.
#include "platform/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "platform/system_failure.hpp"

namespace ringmain::platform {

void Descriptor::reset() noexcept {
    if (fd_ >= 0)
        ::close(fd_);
    fd_ = -1;
}

Descriptor open_file(const std::filesystem::path& path, int flags) {
    int fd = -1;
    do {
        fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0)
        throw system_failure("open", path, errno);
    // Not among the standard streams: a process that was started with one of them closed would print into this file.
    constexpr int kFirstBeyondStreams = 3;
    if (fd < kFirstBeyondStreams) {
        const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, kFirstBeyondStreams);
        const int failure = errno;
        ::close(fd);
        if (moved < 0)
            throw system_failure("open", path, failure);
        fd = moved;
    }
    return Descriptor(fd);
}

}  // namespace ringmain::platform
