// Both ends of a pipe or socket pair, without blocking, closed with the object.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace ringmain::bench {

class DescriptorPair {
public:
    static DescriptorPair pipe(int capacity) {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) != 0)
            throw std::system_error(errno, std::generic_category(), "pipe2");
        ::fcntl(ends[1], F_SETPIPE_SZ, capacity);  // refused without privileges above a limit: then it is as it is
        return DescriptorPair(ends);
    }
    static DescriptorPair packet_sockets(int capacity) {
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0)
            throw std::system_error(errno, std::generic_category(), "socketpair");
        ::setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &capacity, sizeof capacity);  // likewise
        return DescriptorPair(ends);
    }

    ~DescriptorPair() {
        for (const int end : ends_)
            ::close(end);
    }
    DescriptorPair(const DescriptorPair&) = delete;
    DescriptorPair& operator=(const DescriptorPair&) = delete;

    [[nodiscard]] int reading() const noexcept { return ends_[0]; }
    [[nodiscard]] int writing() const noexcept { return ends_[1]; }

private:
    explicit DescriptorPair(std::array<int, 2> ends) : ends_(ends) {}
    std::array<int, 2> ends_;
};

/// Throws unless a call only found no room or nothing to read.
inline void expect_would_block(const char* call) {
    if (errno != EAGAIN)
        throw std::system_error(errno, std::generic_category(), call);
}

}  // namespace ringmain::bench
