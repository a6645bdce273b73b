// Where log lines go: a descriptor that is written to without ever waiting for its reader.
#include "log_stream.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ringmain::daemon {

namespace {

// O_NONBLOCK belongs to the open file, which others share; a file that is opened anew is ours alone.
int reopen(int descriptor) noexcept {
    const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
    return ::open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

bool takes_more(int descriptor) noexcept {
    pollfd one{descriptor, POLLOUT, 0};
    return ::poll(&one, 1, 0) == 1 && (one.revents & POLLOUT) != 0;
}

}  // namespace

LogStream::LogStream(int descriptor) : descriptor_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3)) {
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0)
        return;
    if (S_ISSOCK(status.st_mode)) {
        kind_ = Kind::socket;
    } else if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)) {
        const int own = reopen(descriptor_);
        if (own < 0)
            return;
        ::close(descriptor_);
        descriptor_ = own;
        kind_ = Kind::never_waits;
    }
}

LogStream::~LogStream() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

long LogStream::write_some(std::string_view text) noexcept {
    if (kind_ == Kind::socket)
        return ::send(descriptor_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (kind_ == Kind::waits && !takes_more(descriptor_))
        return -1;
    return ::write(descriptor_, text.data(), text.size());
}

bool LogStream::finish_unfinished() noexcept {
    if (unfinished_.empty())
        return true;
    const long written = write_some(unfinished_);
    if (written > 0)
        unfinished_.erase(0, static_cast<std::size_t>(written));
    return unfinished_.empty();
}

bool LogStream::write(std::string_view line) noexcept {
    try {
        const long written = finish_unfinished() ? write_some(line) : -1;
        if (written <= 0) {
            ++lost_lines_;
            return false;
        }
        unfinished_ = line.substr(static_cast<std::size_t>(written));
        return true;
    } catch (const std::exception&) {
        ++lost_lines_;
        return false;
    }
}

}  // namespace ringmain::daemon
