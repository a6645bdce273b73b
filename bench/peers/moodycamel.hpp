// A reference within one process: the queues of moodycamel, between two threads.
#pragma once

#include <concurrentqueue.h>
#include <readerwriterqueue.h>

#include <cstdint>
#include <memory>

#include "bench/common/payload.hpp"
#include "bench/peers/facts.hpp"

namespace ringmain::bench {

template <std::size_t kBytes>
struct alignas(8) InProcessRecord {
    std::byte bytes[kBytes];
};

/// One producer, one consumer. Full at its initial size: it could grow, and then it would allocate.
template <std::size_t kBytes>
class ReaderWriterLink {
public:
    static constexpr bool kOneProcess = true;
    static constexpr PeerFacts kFacts{"readerwriterqueue (threads)", "moodycamel, two threads of one process", 15e6};
    using Record = InProcessRecord<kBytes>;
    using Queue = moodycamel::ReaderWriterQueue<Record>;

    ReaderWriterLink() : queue_(std::make_unique<Queue>(peer_slots(kBytes))) {}

    class Sender {
    public:
        explicit Sender(Queue& queue) : queue_(queue) {}
        void send(std::uint64_t sequence) {
            Payload<kBytes>::write(record_.bytes, sequence);
            for (RoomWait wait; !queue_.try_enqueue(record_);)
                wait();
        }

    private:
        Queue& queue_;
        Record record_;
    };

    class Receiver {
    public:
        explicit Receiver(Queue& queue) : queue_(queue) {}
        template <class Sink>
        std::uint64_t drain(std::uint64_t max, Sink&& sink) {
            std::uint64_t taken = 0;
            for (; taken < max && queue_.try_dequeue(record_); ++taken)
                sink(record_.bytes, kBytes);
            return taken;
        }
        [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

    private:
        Queue& queue_;
        Record record_;
    };

    Sender sender(unsigned) { return Sender(*queue_); }
    Receiver receiver() { return Receiver(*queue_); }

private:
    std::unique_ptr<Queue> queue_;
};

/// Any number of producers; their order is kept for each producer alone. Tokens on both sides, as its author advises.
template <std::size_t kBytes>
class ConcurrentLink {
public:
    static constexpr bool kOneProcess = true;
    static constexpr PeerFacts kFacts{"concurrentqueue (threads)", "moodycamel, threads of one process, with tokens",
                                      10e6};
    using Record = InProcessRecord<kBytes>;
    using Queue = moodycamel::ConcurrentQueue<Record>;
    static constexpr unsigned kProducersMax = 8;

    ConcurrentLink() : queue_(std::make_unique<Queue>(peer_slots(kBytes), kProducersMax, 0)) {}

    class Sender {
    public:
        explicit Sender(Queue& queue) : queue_(queue), token_(queue) {}
        void send(std::uint64_t sequence) {
            Payload<kBytes>::write(record_.bytes, sequence);
            for (RoomWait wait; !queue_.try_enqueue(token_, record_);)
                wait();
        }

    private:
        Queue& queue_;
        moodycamel::ProducerToken token_;
        Record record_;
    };

    class Receiver {
    public:
        explicit Receiver(Queue& queue) : queue_(queue), token_(queue) {}
        template <class Sink>
        std::uint64_t drain(std::uint64_t max, Sink&& sink) {
            std::uint64_t taken = 0;
            for (; taken < max && queue_.try_dequeue(token_, record_); ++taken)
                sink(record_.bytes, kBytes);
            return taken;
        }
        [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

    private:
        Queue& queue_;
        moodycamel::ConsumerToken token_;
        Record record_;
    };

    Sender sender(unsigned) { return Sender(*queue_); }
    Receiver receiver() { return Receiver(*queue_); }

private:
    std::unique_ptr<Queue> queue_;
};

}  // namespace ringmain::bench
