// The others, as threads: a keeper that recycles and dies, and somebody who closes tickets for no reason at all.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <random>
#include <thread>

#include "concurrency/lives.hpp"
#include "concurrency/mortal_memory.hpp"
#include "concurrency/seed.hpp"
#include "gate_table/gate_table.hpp"
#include "partition_log/tickets.hpp"
#include "recovery/recovery.hpp"
#include "retention/retention.hpp"

namespace ringmain::test {

/// Reaps, releases and closes until `done`; dies at a random point of every fourth round. Several may run at once.
inline void keep_house(const partition_log::LogMemory<MortalMemory>& log, Lives& lives, std::uint32_t actor,
                       std::uint64_t seed, const std::atomic<bool>& done) {
    std::mt19937_64 random(derive_seed(seed, actor));
    Fate::mine().hold_up(derive_seed(seed, actor + 1000), 32);
    const Lives::IsDead is_dead = lives.is_dead();
    std::uint64_t me = lives.begin(actor);
    while (!done.load(std::memory_order_acquire)) {
        const auto points = random() % 4 == 0 ? static_cast<std::uint32_t>(1 + random() % 16) : 0U;
        const bool alive = Fate::mine().survives(points, [&] {
            recovery::reap_producers(log, is_dead);
            gate_table::GateTable<MortalMemory> gates(log.readers);
            for (std::uint32_t i = 0; i < layout::kGatesMax; ++i) {
                const std::uint64_t owner = gates.owner(i);
                if (owner != 0 && is_dead(layout::client_of(owner)))
                    gates.reap(i, owner);
            }
            bool waiting = false;
            for (std::uint64_t i = 0; i < log.records; ++i)
                recovery::release_cell(log, i, is_dead, waiting);
        });
        if (!alive) {
            lives.end(me);
            me = lives.begin(actor);
        }
        std::this_thread::yield();
    }
    lives.end(me);
}

/// Closes tickets near the log's end, open or not, without any patience.
inline void close_at_random(const partition_log::LogMemory<MortalMemory>& log, std::uint64_t seed,
                            const std::atomic<bool>& done) {
    std::mt19937_64 random(seed);
    Fate::mine().hold_up(seed, 16);
    while (!done.load(std::memory_order_acquire)) {
        const std::uint64_t end = log.control->log_end.load(std::memory_order_acquire);
        const std::uint64_t back = 1 + random() % 4;
        if (end - log.first_offset >= back) {
            const auto points = random() % 8 == 0 ? 1U : 0U;
            (void)Fate::mine().survives(points, [&] { (void)partition_log::close_ticket(log, end - back); });
        }
        std::this_thread::yield();
    }
}

/// Applies limits until `done`, by a clock of its own that runs fast; dies at a random point of every fourth step, and is
/// followed by another keeper.
inline void retain(const partition_log::LogMemory<MortalMemory>& log, const Retention& limits, std::uint64_t seed,
                   const std::atomic<bool>& done) {
    constexpr std::uint64_t kStepNs = 20'000'000;
    std::mt19937_64 random(seed);
    Fate::mine().hold_up(seed, 16);
    std::optional<retention::PartitionRetention<MortalMemory>> keeper(std::in_place, log);
    for (retention::Moment now{kStepNs, 1}; !done.load(std::memory_order_acquire); now.now_ns += kStepNs) {
        const auto points = random() % 4 == 0 ? static_cast<std::uint32_t>(1 + random() % 6) : 0U;
        if (!Fate::mine().survives(points, [&] { (void)keeper->step([&] { return limits; }, now, retention::kCellsPerStep); }))
            keeper.emplace(log);
        std::this_thread::yield();
    }
}

/// Deletes up to a place between the log's ends now and then.
inline void delete_at_random(const partition_log::LogMemory<MortalMemory>& log, std::uint64_t seed, const std::atomic<bool>& done) {
    std::mt19937_64 random(seed);
    Fate::mine().hold_up(seed, 16);
    while (!done.load(std::memory_order_acquire)) {
        const partition_log::ControlCheck ends = partition_log::check_control(log);
        if (random() % 16 == 0 && ends.sound()) {
            const auto points = random() % 4 == 0 ? 1U : 0U;
            const std::uint64_t target = ends.start + random() % (ends.end - ends.start + 1);
            (void)Fate::mine().survives(points, [&] { (void)partition_log::delete_before(log, target); });
        }
        std::this_thread::yield();
    }
}

}  // namespace ringmain::test
