// A yardstick: a log for any number of producers made of one fetch-add, one copy and one store, without any safety.
//
// A producer that stops between the fetch-add and the store stops the reader for ever; one that is a lap late
// overwrites what it finds. That is what the log's tickets, closings and quarantine are compared with.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "bench/common/payload.hpp"
#include "bench/common/shared.hpp"

namespace ringmain::bench {

struct NaiveControl {
    alignas(128) std::atomic<std::uint64_t> end{0};
    alignas(128) std::atomic<std::uint64_t> read{0};  // how far the consumer is; keeps producers from lapping it
};

struct alignas(64) NaiveCell {
    std::atomic<std::uint64_t> sequence{0};  // offset + 1, stored last
    std::uint32_t length = 0;
    std::uint32_t reserved = 0;
    std::byte bytes[48];
};
static_assert(sizeof(NaiveCell) == 64);

template <std::size_t kBytes>
class NaiveLink {
    static_assert(kBytes <= sizeof(NaiveCell::bytes));

public:
    explicit NaiveLink(std::uint64_t cells) : cells_(cells), log_(Shared<NaiveCell>::array(cells)) {}

    class Sender {
    public:
        explicit Sender(NaiveLink& link) : control_(*link.control_), log_(link.log_.get()), mask_(link.cells_ - 1) {}

        void send(std::uint64_t sequence) noexcept {
            Payload<kBytes>::write(record_, sequence);
            const std::uint64_t offset = control_.end.fetch_add(1, std::memory_order_acq_rel);
            for (unsigned spins = 1; offset > read_ + mask_; ++spins) {
                read_ = control_.read.load(std::memory_order_acquire);
                cpu_relax();
                if (spins % 256 == 0)
                    ::sched_yield();
            }
            NaiveCell& cell = log_[offset & mask_];
            cell.length = kBytes;
            std::memcpy(cell.bytes, record_, kBytes);
            cell.sequence.store(offset + 1, std::memory_order_release);
        }

    private:
        NaiveControl& control_;
        NaiveCell* log_;
        std::uint64_t mask_;
        std::uint64_t read_ = 0;  // the consumer's word as last seen
        alignas(64) std::byte record_[kBytes];
    };

    class Receiver {
    public:
        explicit Receiver(NaiveLink& link) : control_(*link.control_), log_(link.log_.get()), mask_(link.cells_ - 1) {}

        template <class Sink>
        std::uint64_t drain(std::uint64_t max, Sink&& sink) noexcept {
            std::uint64_t taken = 0;
            for (; taken < max; ++taken, ++next_) {
                const NaiveCell& cell = log_[next_ & mask_];
                if (cell.sequence.load(std::memory_order_acquire) != next_ + 1)
                    break;
                sink(cell.bytes, cell.length);
            }
            if (taken > 0)
                control_.read.store(next_, std::memory_order_release);
            return taken;
        }
        [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

    private:
        NaiveControl& control_;
        NaiveCell* log_;
        std::uint64_t mask_;
        std::uint64_t next_ = 0;
    };

    Sender sender(unsigned) { return Sender(*this); }
    Receiver receiver() { return Receiver(*this); }

private:
    std::uint64_t cells_;
    Shared<NaiveControl> control_;
    Shared<NaiveCell> log_;
};

}  // namespace ringmain::bench
