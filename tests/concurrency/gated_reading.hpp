// A reader that holds a gate: while it does, nothing may be taken from it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "concurrency/crowd.hpp"
#include "concurrency/lives.hpp"
#include "concurrency/mortal_memory.hpp"
#include "concurrency/reading.hpp"
#include "concurrency/seed.hpp"
#include "gate_table/gate_table.hpp"

namespace ringmain::test {

class GatedReader {
public:
    using M = MortalMemory;
    GatedReader(const partition_log::LogMemory<M>& log, Lives& lives, std::uint32_t actor, const GatedReading& habits,
                std::uint64_t seed)
        : log_(log),
          lives_(&lives),
          gates_(log.readers),
          actor_(actor),
          habits_(habits),
          random_(derive_seed(seed, actor)),
          reader_(log, log.first_offset, Reading::visit, true),
          owner_(lives.begin(actor)) {
        Fate::mine().hold_up(derive_seed(seed, actor + 1000), 64);
    }

    void follow(const std::atomic<bool>& done) {
        for (;;) {
            const bool was_done = done.load(std::memory_order_acquire);
            if (!gate_ && !hold())
                continue;
            const std::uint64_t at = reader_.position();
            const bool found = reader_.step();
            if (reader_.position() != at && gap_under_gate())
                faults_.push_back("lapped at offset " + std::to_string(at) + " behind its gate");
            if (!found) {
                let_go_to_here();
                if (was_done && reader_.position() >= log_.control->log_end.load(std::memory_order_acquire))
                    break;
                std::this_thread::yield();
            } else if (random_() % 4 == 0) {
                let_go_to_here();
            }
            if (random_() % 1000 < habits_.drops)
                drop();
        }
        if (gate_)
            drop();
    }

    [[nodiscard]] ReaderHistory take_history() noexcept {
        ReaderHistory history = reader_.take_history();
        history.faults.insert(history.faults.end(), faults_.begin(), faults_.end());
        return history;
    }

private:
    /// Begins to gate where it would read next, or as near as it still can.
    bool hold() {
        std::optional<std::uint32_t> index;
        std::uint64_t from = 0;
        if (!survives([&] {
                index = gates_.claim(owner_, "test");
                if (index)
                    from = gates_.hold(
                        *index, std::max(reader_.position(), log_.control->log_start.load(std::memory_order_acquire)),
                        log_.control->gate_floor);
            })) {
            return false;
        }
        if (!index) {
            std::this_thread::yield();
            return false;
        }
        gate_ = index;
        // what went before the gate stood is a gap like any other
        while (reader_.position() < from)
            (void)reader_.step();
        gaps_before_ = reader_.gaps();
        return true;
    }

    [[nodiscard]] bool gap_under_gate() {
        const std::size_t gaps = reader_.gaps();
        return std::exchange(gaps_before_, gaps) != gaps;
    }

    void let_go_to_here() noexcept { gates_.move(*gate_, reader_.position()); }

    void drop() {
        const std::uint32_t index = *gate_;
        gate_.reset();
        (void)survives([&] {
            M::point("test.dropping");
            gates_.drop(index);
        });
    }

    template <class Work>
    bool survives(Work&& work) {
        const bool dies = random_() % 100 < habits_.deaths;
        if (Fate::mine().survives(dies ? static_cast<std::uint32_t>(1 + random_() % 3) : 0U, work))
            return true;
        lives_->end(owner_);
        owner_ = lives_->begin(actor_);
        return false;
    }

    partition_log::LogMemory<M> log_;
    Lives* lives_;
    gate_table::GateTable<M> gates_;
    std::uint32_t actor_;
    GatedReading habits_;
    std::mt19937_64 random_;
    FollowingReader<M> reader_;
    std::uint64_t owner_;
    std::optional<std::uint32_t> gate_;
    std::size_t gaps_before_ = 0;
    std::vector<std::string> faults_;
};

}  // namespace ringmain::test
