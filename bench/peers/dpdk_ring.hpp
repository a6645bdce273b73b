// A peer: rte_ring of DPDK with the records as its elements, in plain shared memory, without DPDK's environment.
#pragma once

#include <rte_ring_elem.h>

#include <cstdint>
#include <stdexcept>

#include "bench/common/payload.hpp"
#include "bench/common/shared.hpp"
#include "bench/peers/facts.hpp"

namespace ringmain::bench {

enum class RingSenders : std::uint8_t { one, many };

/// One element a call; one receiver. With many senders they wait for each other in the order of their reservations, so
/// one that stops there stops all.
template <std::size_t kBytes, RingSenders kSenders>
class DpdkRingLink {
    static_assert(kBytes % 4 == 0);
    static constexpr unsigned kElement = kBytes;

public:
    static constexpr PeerFacts kFacts =
        kSenders == RingSenders::one
            ? PeerFacts{"rte_ring sp/sc", "DPDK, one producer, one consumer, one element a call", 15e6}
            : PeerFacts{"rte_ring mp/sc", "DPDK, many producers, one consumer, one element a call", 15e6};

    explicit DpdkRingLink(std::uint64_t slots = peer_slots(kBytes))
        : memory_(Shared<std::byte>::array(footprint(slots))), ring_(reinterpret_cast<rte_ring*>(memory_.get())) {
        const unsigned flags = RING_F_SC_DEQ | (kSenders == RingSenders::one ? unsigned{RING_F_SP_ENQ} : 0U);
        if (rte_ring_init(ring_, "bench", static_cast<unsigned>(slots), flags) != 0)
            throw std::runtime_error("rte_ring_init");
        bytes_ = footprint(slots);
    }

    class Sender {
    public:
        explicit Sender(rte_ring* ring) : ring_(ring) {}
        void send(std::uint64_t sequence) {
            Payload<kBytes>::write(record_, sequence);
            for (RoomWait wait; enqueue() != 0;)
                wait();
        }

    private:
        int enqueue() noexcept {
            if constexpr (kSenders == RingSenders::one)
                return rte_ring_sp_enqueue_elem(ring_, record_, kElement);
            return rte_ring_mp_enqueue_elem(ring_, record_, kElement);
        }

        rte_ring* ring_;
        alignas(64) std::byte record_[kBytes];
    };

    class Receiver {
    public:
        explicit Receiver(rte_ring* ring) : ring_(ring) {}
        template <class Sink>
        std::uint64_t drain(std::uint64_t max, Sink&& sink) {
            std::uint64_t taken = 0;
            for (; taken < max && rte_ring_sc_dequeue_elem(ring_, record_, kElement) == 0; ++taken)
                sink(record_, kBytes);
            return taken;
        }
        [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

    private:
        rte_ring* ring_;
        alignas(64) std::byte record_[kBytes];
    };

    Sender sender(unsigned) { return Sender(touched()); }
    Receiver receiver() { return Receiver(touched()); }
    [[nodiscard]] rte_ring* ring() const noexcept { return ring_; }

    static std::uint64_t footprint(std::uint64_t slots) {
        const ssize_t bytes = rte_ring_get_memsize_elem(kElement, static_cast<unsigned>(slots));
        if (bytes < 0)
            throw std::runtime_error("rte_ring_get_memsize_elem");
        return static_cast<std::uint64_t>(bytes);
    }

private:
    rte_ring* touched() const noexcept {
        touch_pages(memory_.get(), bytes_);
        return ring_;
    }

    Shared<std::byte> memory_;
    rte_ring* ring_;
    std::uint64_t bytes_ = 0;
};

}  // namespace ringmain::bench
