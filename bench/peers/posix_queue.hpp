// A peer: a POSIX message queue.
#pragma once

#include <fcntl.h>
#include <mqueue.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

#include "bench/common/contest.hpp"
#include "bench/common/payload.hpp"
#include "bench/peers/facts.hpp"

namespace ringmain::bench {

/// As deep as the system allows, up to 1,024 messages: without privileges that is ten.
template <std::size_t kBytes>
class PosixQueueLink {
public:
    static constexpr PeerFacts kFacts{"POSIX mq", "mq_send and mq_receive, without blocking", 0.8e6};

    PosixQueueLink() {
        static unsigned count = 0;
        const std::string name = "/ringmain-bench-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
        for (const long deep : {1024L, 10L}) {
            mq_attr attributes{};
            attributes.mq_maxmsg = deep;
            attributes.mq_msgsize = kBytes;
            queue_ = ::mq_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK | O_CLOEXEC, 0600, &attributes);
            if (queue_ >= 0)
                break;
        }
        if (queue_ < 0)
            throw Skipped("no POSIX message queue of this size here: " + std::generic_category().message(errno));
        ::mq_unlink(name.c_str());
    }
    ~PosixQueueLink() { ::mq_close(queue_); }
    PosixQueueLink(const PosixQueueLink&) = delete;
    PosixQueueLink& operator=(const PosixQueueLink&) = delete;

    class Sender {
    public:
        explicit Sender(mqd_t queue) : queue_(queue) {}
        void send(std::uint64_t sequence) {
            Payload<kBytes>::write(record_, sequence);
            for (RoomWait wait; ::mq_send(queue_, reinterpret_cast<const char*>(record_), kBytes, 0) != 0; wait()) {
                if (errno != EAGAIN)
                    throw std::system_error(errno, std::generic_category(), "mq_send");
            }
        }

    private:
        mqd_t queue_;
        alignas(64) std::byte record_[kBytes];
    };

    class Receiver {
    public:
        explicit Receiver(mqd_t queue) : queue_(queue) {}
        template <class Sink>
        std::uint64_t drain(std::uint64_t max, Sink&& sink) {
            for (std::uint64_t taken = 0; taken < max; ++taken) {
                const ssize_t bytes = ::mq_receive(queue_, reinterpret_cast<char*>(record_), kBytes, nullptr);
                if (bytes < 0 && errno != EAGAIN)
                    throw std::system_error(errno, std::generic_category(), "mq_receive");
                if (bytes < 0)
                    return taken;
                sink(record_, static_cast<std::size_t>(bytes));
            }
            return max;
        }
        [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

    private:
        mqd_t queue_;
        alignas(64) std::byte record_[kBytes];
    };

    Sender sender(unsigned) { return Sender(queue_); }
    Receiver receiver() { return Receiver(queue_); }

private:
    mqd_t queue_ = -1;
};

}  // namespace ringmain::bench
