// A descriptor that event loops can wait for.
#include "platform/event.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "platform/descriptor.hpp"
#include "ringmain/error.hpp"

namespace ringmain::platform {

Event::Event() : fd_(beyond_streams(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))) {
    if (fd_ >= 0) return;
    const int failure = errno;
    const ErrorCode code = failure == EMFILE || failure == ENFILE ? ErrorCode::limit : ErrorCode::io;
    throw Error(code, "eventfd", std::string("cannot be made: ") + std::strerror(failure), failure);
}

Event::~Event() { close(fd_); }

void Event::signal() noexcept {
    const std::uint64_t one = 1;
    // EAGAIN: it is readable already
    (void)!write(fd_, &one, sizeof one);
}

void Event::clear() noexcept {
    std::uint64_t count = 0;
    // EAGAIN: it is clear already
    (void)!read(fd_, &count, sizeof count);
}

}  // namespace ringmain::platform
