// A peer: message_queue of Boost.Interprocess, a priority queue in shared memory behind one mutex.
#pragma once

#include <unistd.h>

#include <boost/interprocess/ipc/message_queue.hpp>
#include <boost/interprocess/shared_memory_object.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "bench/common/payload.hpp"
#include "bench/peers/facts.hpp"

namespace ringmain::bench {

/// The queue's name goes at once; the children have the mapping.
template <std::size_t kBytes>
class BoostQueueLink {
public:
    static constexpr PeerFacts kFacts{"boost message_queue",
                                      "Boost.Interprocess message_queue, try_send and try_receive", 3e6};
    using Queue = boost::interprocess::message_queue;

    explicit BoostQueueLink(std::uint64_t slots = peer_slots(kBytes)) {
        static unsigned count = 0;
        const std::string name = "ringmain-bench-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
        queue_.emplace(boost::interprocess::create_only, name.c_str(), slots, kBytes);
        boost::interprocess::offset_t bytes = 0;
        boost::interprocess::shared_memory_object(boost::interprocess::open_only, name.c_str(),
                                                  boost::interprocess::read_only)
            .get_size(bytes);
        bytes_ = static_cast<std::uint64_t>(bytes);
        Queue::remove(name.c_str());
    }

    class Sender {
    public:
        explicit Sender(Queue& queue) : queue_(queue) {}
        void send(std::uint64_t sequence) {
            Payload<kBytes>::write(record_, sequence);
            for (RoomWait wait; !queue_.try_send(record_, kBytes, 0);)
                wait();
        }

    private:
        Queue& queue_;
        alignas(64) std::byte record_[kBytes];
    };

    class Receiver {
    public:
        explicit Receiver(Queue& queue) : queue_(queue) {}
        template <class Sink>
        std::uint64_t drain(std::uint64_t max, Sink&& sink) {
            std::uint64_t taken = 0;
            Queue::size_type bytes = 0;
            unsigned priority = 0;
            for (; taken < max && queue_.try_receive(record_, kBytes, bytes, priority); ++taken)
                sink(record_, bytes);
            return taken;
        }
        [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

    private:
        Queue& queue_;
        alignas(64) std::byte record_[kBytes];
    };

    Sender sender(unsigned) { return Sender(*queue_); }
    Receiver receiver() { return Receiver(*queue_); }
    [[nodiscard]] Queue& queue() noexcept { return *queue_; }

    /// Bytes of shared memory that the queue takes.
    [[nodiscard]] std::uint64_t footprint() const noexcept { return bytes_; }

private:
    std::optional<Queue> queue_;
    std::uint64_t bytes_ = 0;
};

}  // namespace ringmain::bench
