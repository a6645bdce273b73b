// What producers look at after a commit: does somebody sleep, is the topic deleted or the partition damaged, does a reader ask
// for a closing?
//
// A sleeper sets the low bit and sleeps on the low half; the producer that finds the bit clears it, counts the wake and
// wakes all. A sleeper that was killed thus costs one useless wake, once.
#pragma once

#include <atomic>
#include <cstdint>

#include "layout/readers.hpp"
#include "partition_log/tickets.hpp"

namespace ringmain::partition_log {

template <class M>
class Doorbell {
public:
    using Word = typename M::template Atomic<std::uint64_t>;
    explicit Doorbell(layout::ReaderBlock<M>& readers) noexcept : readers_(&readers) {}

    /// Looks at another block from now on. Also in a signal handler of the thread that uses this object.
    void move_to(layout::ReaderBlock<M>& readers) noexcept {
        std::atomic_ref(readers_).store(&readers, std::memory_order_relaxed);  // relaxed: the same thread
    }

    /// One load: is there anything to do for a producer? Nearly always not.
    [[nodiscard]] bool quiet() const noexcept {
        // The commit before is ordered by the sleeper's barrier in all processes, or by a full fence of the caller: here
        // only the compiler must keep the order.
        std::atomic_signal_fence(std::memory_order_seq_cst);  // seq_cst: store, then load
        // relaxed: see above
        return (readers_->doorbell.load(std::memory_order_relaxed) & kAttention) == 0;
    }
    [[nodiscard]] bool deleted() const noexcept {
        return (readers_->doorbell.load(std::memory_order_acquire) & layout::kTopicDeleted) != 0;  // acquire DOORBELL
    }

    /// Nothing can be done in the partition with what the handle has open.
    [[nodiscard]] bool gone() const noexcept {
        constexpr std::uint64_t kGone = layout::kTopicDeleted | layout::kPartitionDamaged;
        return (readers_->doorbell.load(std::memory_order_acquire) & kGone) != 0;  // acquire DOORBELL
    }
    [[nodiscard]] bool damaged() const noexcept {
        return (readers_->doorbell.load(std::memory_order_acquire) & layout::kPartitionDamaged) != 0;  // acquire DOORBELL
    }

    /// A sleeper announces itself. Returns what the futex word must still be for it to sleep.
    std::uint32_t announce_sleeper() noexcept {
        // release DOORBELL: the caller looks at the log behind a barrier after this
        return static_cast<std::uint32_t>(readers_->doorbell.fetch_or(layout::kSleepers, std::memory_order_acq_rel) |
                                          layout::kSleepers);
    }

    /// Clears the sleepers' bit. True: the caller must wake the sleepers.
    [[nodiscard]] bool take_sleepers() noexcept {
        std::uint64_t seen = readers_->doorbell.load(std::memory_order_relaxed);  // relaxed: the CAS decides
        while ((seen & layout::kSleepers) != 0) {
            const std::uint32_t counted = static_cast<std::uint32_t>(seen) + 1;  // clears bit 0, counts in the others
            const std::uint64_t to = (seen & ~std::uint64_t{0xffffffffU}) | counted;
            // lost: another producer wakes them, or flags changed
            if (readers_->doorbell.compare_exchange_weak(seen, to, std::memory_order_acq_rel, std::memory_order_relaxed)) return true;
        }
        return false;
    }

    /// A reader that may not write the log asks for the closing of `offset`.
    void request_close(std::uint64_t offset) noexcept {
        readers_->close_request.store(offset + 1, std::memory_order_release);  // release CLOSE_REQUEST
        readers_->doorbell.fetch_or(layout::kCloseRequested, std::memory_order_acq_rel);
    }

    [[nodiscard]] bool close_requested() const noexcept {
        return (readers_->doorbell.load(std::memory_order_acquire) & layout::kCloseRequested) != 0;  // acquire DOORBELL
    }

    /// Serves a request: closes the ticket if it is open. Producers and the keeper call it. True: this call closed it.
    bool serve_close_request(const LogMemory<M>& log) noexcept {
        if ((readers_->doorbell.fetch_and(~std::uint64_t{layout::kCloseRequested}, std::memory_order_acq_rel) & layout::kCloseRequested) == 0) return false;
        const std::uint64_t request = readers_->close_request.exchange(0, std::memory_order_acq_rel);  // acquire CLOSE_REQUEST
        const std::uint64_t end = log.control->log_end.load(std::memory_order_acquire);               // acquire TICKET
        // the request is input: only offsets that can be open
        if (request == 0 || request > end || end - request >= log.records) return false;
        return close_if_open(log, request - 1);
    }

    /// Answers what quiet() found. `wake` wakes who sleeps on futex_word(). Closes first: who asked for it may sleep already.
    template <class Wake>
    void answer(const LogMemory<M>& log, const Wake& wake) noexcept {
        if (serve_close_request(log)) M::fence(std::memory_order_seq_cst);  // the closing before the look for sleepers
        if (take_sleepers()) wake();
    }

    /// The word that sleepers sleep on: the low half (Linux on these machines is little-endian).
    [[nodiscard]] std::atomic<std::uint32_t>* futex_word() const noexcept {
        return reinterpret_cast<std::atomic<std::uint32_t>*>(&readers_->doorbell);
    }

private:
    static constexpr std::uint64_t kAttention = layout::kSleepers | layout::kTopicDeleted | layout::kCloseRequested | layout::kPartitionDamaged;
    layout::ReaderBlock<M>* readers_;
};

}  // namespace ringmain::partition_log
