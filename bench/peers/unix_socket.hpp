// A peer: a pair of Unix sockets that keep the bounds of records (SEQPACKET).
#pragma once

#include <cstdint>

#include "bench/common/payload.hpp"
#include "bench/peers/descriptor_pair.hpp"
#include "bench/peers/facts.hpp"

namespace ringmain::bench {

template <std::size_t kBytes>
class UnixSocketLink {
public:
    static constexpr PeerFacts kFacts{"Unix socket", "SEQPACKET, send and recv, without blocking", 1.2e6};

    UnixSocketLink() : ends_(DescriptorPair::packet_sockets(1 << 20)) {}

    class Sender {
    public:
        explicit Sender(int end) : end_(end) {}
        void send(std::uint64_t sequence) {
            Payload<kBytes>::write(record_, sequence);
            for (RoomWait wait; ::send(end_, record_, kBytes, MSG_NOSIGNAL) < 0; wait())
                expect_would_block("send to a socket");
        }

    private:
        int end_;
        alignas(64) std::byte record_[kBytes];
    };

    class Receiver {
    public:
        explicit Receiver(int end) : end_(end) {}
        template <class Sink>
        std::uint64_t drain(std::uint64_t max, Sink&& sink) {
            for (std::uint64_t taken = 0; taken < max; ++taken) {
                const ssize_t bytes = ::recv(end_, record_, kBytes, 0);
                if (bytes < 0) {
                    expect_would_block("recv of a socket");
                    return taken;
                }
                sink(record_, static_cast<std::size_t>(bytes));
            }
            return max;
        }
        [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

    private:
        int end_;
        alignas(64) std::byte record_[kBytes];
    };

    Sender sender(unsigned) { return Sender(ends_.writing()); }
    Receiver receiver() { return Receiver(ends_.reading()); }

private:
    DescriptorPair ends_;
};

}  // namespace ringmain::bench
