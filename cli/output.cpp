// Writing to standard output.
#include "output.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

#include "errors.hpp"

namespace ringmain::cli {

namespace {

constexpr std::size_t kSpillBytes = 1 << 16;

void write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EPIPE) {
            throw Exit{kExitGood};
        } else if (errno == EAGAIN) {  // somebody we share a terminal or pipe with made it non-blocking
            pollfd ready{descriptor, POLLOUT, 0};
            ::poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            throw CommandError(fmt::format("standard output: cannot write {} bytes: {}", text.size(),
                                           std::generic_category().message(errno)));
        }
    }
}

}  // namespace

void Output::spill() {
    if (buffer_.size() >= kSpillBytes)
        flush();
}

void Output::flush() {
    write_all(descriptor_, buffer_);
    buffer_.clear();
}

void Output::check_reader() const {
    pollfd stream{descriptor_, 0, 0};  // POLLERR is always looked for: the other end of the pipe is closed
    if (::poll(&stream, 1, 0) > 0 && (stream.revents & POLLERR) != 0)
        throw Exit{kExitGood};
}

void print(std::string_view text) { write_all(1, text); }

}  // namespace ringmain::cli
