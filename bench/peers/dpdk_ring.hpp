// A peer: rte_ring of DPDK with the records as its elements, in plain shared memory, without DPDK's environment.
#pragma once

#include <rte_ring_elem.h>

#include <cstdint>
#include <stdexcept>

#include "bench/common/payload.hpp"
#include "bench/common/shared.hpp"
#include "bench/peers/facts.hpp"

namespace ringmain::bench {

enum class RingSenders : std::uint8_t {
    one,
    many,   ///< They wait for each other in the order of their reservations: one that stops there stops all.
    crowd,  ///< Relaxed: the last one to finish moves the tail for all. For senders that share processors.
};

/// One element a call; one receiver.
template <std::size_t kBytes, RingSenders kSenders>
class DpdkRingLink {
    static_assert(kBytes % 4 == 0);
    static constexpr unsigned kElement = kBytes;

public:
    static constexpr PeerFacts facts() {
        switch (kSenders) {
            case RingSenders::one:
                return {"rte_ring sp/sc", "DPDK, one producer, one consumer, one element a call", 15e6};
            case RingSenders::many:
                return {"rte_ring mp/sc", "DPDK, many producers, one consumer, one element a call", 15e6};
            case RingSenders::crowd:
                return {"rte_ring rts/sc", "DPDK, many producers in relaxed order, one consumer, one element a call",
                        15e6};
        }
    }
    static constexpr PeerFacts kFacts = facts();

    explicit DpdkRingLink(std::uint64_t slots = peer_slots(kBytes))
        : memory_(Shared<std::byte>::array(footprint(slots))), ring_(reinterpret_cast<rte_ring*>(memory_.get())) {
        if (rte_ring_init(ring_, "bench", static_cast<unsigned>(slots), flags()) != 0)
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
            if constexpr (kSenders == RingSenders::crowd)
                return rte_ring_mp_rts_enqueue_bulk_elem(ring_, record_, kElement, 1, nullptr) == 1 ? 0 : -1;
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
    static constexpr unsigned flags() noexcept {
        constexpr unsigned kReceiver = RING_F_SC_DEQ;
        if (kSenders == RingSenders::one)
            return kReceiver | RING_F_SP_ENQ;
        return kSenders == RingSenders::crowd ? kReceiver | RING_F_MP_RTS_ENQ : kReceiver;
    }

    rte_ring* touched() const noexcept {
        touch_pages(memory_.get(), bytes_);
        return ring_;
    }

    Shared<std::byte> memory_;
    rte_ring* ring_;
    std::uint64_t bytes_ = 0;
};

}  // namespace ringmain::bench
