// A peer: a pipe that carries records of one size.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "bench/common/payload.hpp"
#include "bench/peers/descriptor_pair.hpp"
#include "bench/peers/facts.hpp"

namespace ringmain::bench {

/// One write a record; the reader takes what there is, up to 64 KiB in one call. Records over 4 KiB may be written in
/// parts, which allows one sender only.
template <std::size_t kBytes>
class PipeLink {
public:
    static constexpr PeerFacts kFacts{"pipe", "a pipe of 1 MiB, one write a record, reads of up to 64 KiB", 2e6};

    PipeLink() : ends_(DescriptorPair::pipe(1 << 20)) {}

    class Sender {
    public:
        explicit Sender(int end) : end_(end) {}
        void send(std::uint64_t sequence) {
            Payload<kBytes>::write(record_, sequence);
            RoomWait wait;
            for (std::size_t done = 0; done < kBytes;) {
                const ssize_t bytes = ::write(end_, record_ + done, kBytes - done);
                if (bytes > 0) {
                    done += static_cast<std::size_t>(bytes);
                    continue;
                }
                expect_would_block("write to a pipe");
                wait();
            }
        }

    private:
        int end_;
        alignas(64) std::byte record_[kBytes];
    };

    class Receiver {
    public:
        explicit Receiver(int end) : end_(end), buffer_(kReadBytes + kBytes) {}
        template <class Sink>
        std::uint64_t drain(std::uint64_t max, Sink&& sink) {
            if (held_ - at_ < kBytes)
                read_more();
            std::uint64_t taken = 0;
            for (; taken < max && held_ - at_ >= kBytes; ++taken, at_ += kBytes)
                sink(buffer_.data() + at_, kBytes);
            return taken;
        }
        [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

    private:
        static constexpr std::size_t kReadBytes = 65'536;

        void read_more() {
            std::memmove(buffer_.data(), buffer_.data() + at_, held_ - at_);
            held_ -= at_;
            at_ = 0;
            const ssize_t bytes = ::read(end_, buffer_.data() + held_, kReadBytes);
            if (bytes < 0)
                return expect_would_block("read of a pipe");
            held_ += static_cast<std::size_t>(bytes);
        }

        int end_;
        std::vector<std::byte> buffer_;
        std::size_t at_ = 0;
        std::size_t held_ = 0;
    };

    Sender sender(unsigned) { return Sender(ends_.writing()); }
    Receiver receiver() { return Receiver(ends_.reading()); }

private:
    DescriptorPair ends_;
};

}  // namespace ringmain::bench
