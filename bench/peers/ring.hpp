// A yardstick: the textbook single-producer, single-consumer ring of 64-byte slots with cached indices.
//
// No recovery, no retention, no second reader, no offsets: what a careful engineer writes in an afternoon. The producer
// stores its index per record, the consumer per record or once per run of records.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "bench/common/payload.hpp"
#include "bench/common/shared.hpp"

namespace ringmain::bench {

struct RingIndices {
    alignas(128) std::atomic<std::uint64_t> head{0};  // next to read; stored by the consumer
    alignas(128) std::atomic<std::uint64_t> tail{0};  // next to write; stored by the producer
};

struct alignas(64) RingSlot {
    std::uint32_t length = 0;
    std::byte bytes[60];
};
static_assert(sizeof(RingSlot) == 64);

/// `kRun`: how many records the consumer takes before it stores its index.
template <std::size_t kBytes, std::uint64_t kRun = 1>
class RingLink {
    static_assert(kBytes <= sizeof(RingSlot::bytes));

public:
    explicit RingLink(std::uint64_t slots) : slots_(slots), ring_(Shared<RingSlot>::array(slots)) {}

    class Sender {
    public:
        explicit Sender(RingLink& link) : indices_(*link.indices_), ring_(link.ring_.get()), mask_(link.slots_ - 1) {}

        void send(std::uint64_t sequence) noexcept {
            Payload<kBytes>::write(record_, sequence);
            for (unsigned spins = 1; tail_ - head_ > mask_; ++spins) {
                head_ = indices_.head.load(std::memory_order_acquire);
                if (spins % 1024 == 0)
                    ::sched_yield();
            }
            RingSlot& slot = ring_[tail_ & mask_];
            slot.length = kBytes;
            std::memcpy(slot.bytes, record_, kBytes);
            indices_.tail.store(++tail_, std::memory_order_release);
        }

    private:
        RingIndices& indices_;
        RingSlot* ring_;
        std::uint64_t mask_;
        std::uint64_t tail_ = 0;
        std::uint64_t head_ = 0;  // the consumer's index as last seen
        alignas(64) std::byte record_[kBytes];
    };

    class Receiver {
    public:
        explicit Receiver(RingLink& link) : indices_(*link.indices_), ring_(link.ring_.get()), mask_(link.slots_ - 1) {}

        template <class Sink>
        std::uint64_t drain(std::uint64_t max, Sink&& sink) noexcept {
            if (head_ == tail_)
                tail_ = indices_.tail.load(std::memory_order_acquire);
            std::uint64_t taken = 0;
            while (taken < max && head_ != tail_) {
                const RingSlot& slot = ring_[head_ & mask_];
                sink(slot.bytes, slot.length);
                ++head_;
                ++taken;
                if (kRun == 1 || head_ % kRun == 0)
                    indices_.head.store(head_, std::memory_order_release);
            }
            if (kRun > 1 && taken > 0)
                indices_.head.store(head_, std::memory_order_release);
            return taken;
        }
        [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

    private:
        RingIndices& indices_;
        RingSlot* ring_;
        std::uint64_t mask_;
        std::uint64_t head_ = 0;
        std::uint64_t tail_ = 0;  // the producer's index as last seen
    };

    Sender sender(unsigned) { return Sender(*this); }
    Receiver receiver() { return Receiver(*this); }

private:
    std::uint64_t slots_;
    Shared<RingIndices> indices_;
    Shared<RingSlot> ring_;
};

}  // namespace ringmain::bench
