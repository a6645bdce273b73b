// Moving the log start: the only way in which records leave a partition.
//
// Overwrite: whoever writes the cell of offset o, or closes the ticket o, first makes log_start > o - N, so that a reader
// of o - N learns of its loss. Block: log_start moves only to where no gate is passed (advance, below).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "gate_table/gate_table.hpp"
#include "group_table/group_gates.hpp"
#include "partition_log/control_check.hpp"
#include "partition_log/intents.hpp"
#include "partition_log/log_memory.hpp"

namespace ringmain::partition_log {

/// Raises a word that only grows. Returns its value afterwards.
template <class Atomic>
std::uint64_t raise(Atomic& word, std::uint64_t to, std::memory_order order) noexcept {
    std::uint64_t seen = word.load(std::memory_order_relaxed);  // relaxed: the CAS decides
    while (seen < to) {
        // a lost race means that somebody else moved it; it only grows, so there is no ABA
        if (word.compare_exchange_weak(seen, to, order, std::memory_order_relaxed)) return to;
    }
    return seen;
}

/// The first offset that may not be written before log_start has passed the one a lap before it.
template <class M>
[[nodiscard]] bool needs_start(const LogMemory<M>& log, std::uint64_t offset) noexcept {
    return !log.in_first_lap(offset);
}

/// Overwrite policy: makes log_start > offset - N. Block policy: it is so already, by the room check. What named producers
/// intended below the start that is returned is settled: the cells of one lap before may be used.
/// release LOG_START: the caller fences before it overwrites; a reader that sees new bytes sees this start.
template <class M>
std::uint64_t pass_previous_lap(const LogMemory<M>& log, std::uint64_t offset) noexcept {
    const std::uint64_t previous = offset - log.records;
    std::uint64_t start = log.control->log_start.load(std::memory_order_acquire);
    // release LOG_START: whoever sees this start sees the log_end that it is below; the bytes are ordered by the caller's
    // release fence or by its acq_rel closing CAS
    if (!log.block && start <= previous) start = raise(log.control->log_start, previous + log.chunk, std::memory_order_release);
    settle_intents(log, start);
    return start;
}

/// What stopped log_start, or nothing: the lowest gate, of one kind or the other, if it kept the start below the target.
struct StartMoved {
    std::uint64_t start = 0;
    std::optional<std::uint32_t> gate;   // index of a reader's gate
    std::optional<std::uint32_t> group;  // slot of a group
};

/// The lowest of all gates.
struct Held {
    std::optional<std::uint32_t> gate;
    std::optional<std::uint32_t> group;
    std::uint64_t offset = 0;

    Held(const gate_table::LowestGate& reader, const group_table::LowestGroup& lowest_group) noexcept
        : gate(reader.index), offset(reader.offset) {
        if (!lowest_group.slot || (gate && offset <= lowest_group.offset)) return;
        gate.reset();
        group = lowest_group.slot;
        offset = lowest_group.offset;
    }
    [[nodiscard]] bool below(std::uint64_t target) const noexcept { return (gate || group) && offset < target; }
};

/// Block policy, and retention: moves log_start towards `target` without passing a gate. Groups that are further behind than
/// they want to hold are let go. Anybody may, at any time; a mover that sleeps in here does no harm: from the announced floor
/// on nobody can begin to gate below it. Requires target <= log_end.
template <class M>
StartMoved advance_start(const LogMemory<M>& log, std::uint64_t target) noexcept {
    const gate_table::GateTable<M> gates(log.readers);
    const std::uint64_t end = log.control->log_end.load(std::memory_order_relaxed);  // relaxed: older is less lag
    const Held first(gates.lowest(), log.groups.lowest_after_letting_go(target, end));
    const std::uint64_t to = first.below(target) ? first.offset : target;
    raise(log.control->gate_floor, to, std::memory_order_acq_rel);  // release GATE_FLOOR: announced
    M::point("start.announced");
    // the floor's store before the second look at the gates; pairs with the fences in GateTable::hold and in regate
    M::fence(std::memory_order_seq_cst);
    const Held second(gates.lowest(), log.groups.lowest());
    const bool held = second.below(to);
    M::point("start.looked");
    if (!held) raise(log.control->log_start, to, std::memory_order_acq_rel);
    // acquire LOG_START
    const std::uint64_t start = log.control->log_start.load(std::memory_order_acquire);
    if (start >= target) return {start, std::nullopt, std::nullopt};
    const Held& by = held ? second : first;
    return {start, by.gate, by.group};
}

/// Deletes what is before `target`, as far as gates let it; an overwrite topic has none, whatever its readers' block says.
/// Anybody may, at any time. Requires target <= log_end. What named producers intended below is settled by whoever uses the
/// cells again.
template <class M>
StartMoved delete_before(const LogMemory<M>& log, std::uint64_t target) noexcept {
    if (log.block) return advance_start(log, target);
    // release LOG_START: whoever sees this start sees the log_end that it is below; no byte is overwritten by it
    raise(log.control->log_start, target, std::memory_order_acq_rel);
    M::point("start.deleted");
    return {log.control->log_start.load(std::memory_order_acquire), std::nullopt, std::nullopt};  // acquire LOG_START
}

/// has_room, when the log start as last seen leaves none.
template <class M>
[[nodiscard, gnu::noinline]] bool make_room(const LogMemory<M>& log, std::uint64_t& start_seen) noexcept {
    const std::uint64_t room = log.records - log.slack;
    start_seen = log.control->log_start.load(std::memory_order_acquire);  // acquire LOG_START: gates' reads ended
    const std::uint64_t end = log.control->log_end.load(std::memory_order_relaxed);
    if (end - start_seen < room) return true;
    if (!check_control(log).sound()) return false;  // nothing is moved by what cannot be; no_room_status tells
    const std::uint64_t target = std::min(end, end - room + log.chunk);
    start_seen = advance_start(log, target).start;
    return log.control->log_end.load(std::memory_order_relaxed) - start_seen < room;
}

/// Block policy: is there room for one more ticket (or batch)? Moves log_start if not. log_start is read before log_end,
/// so that what looks free really is.
template <class M>
[[nodiscard, gnu::always_inline]] inline bool has_room(const LogMemory<M>& log, std::uint64_t& start_seen) noexcept {
    // relaxed: start is older
    if (log.control->log_end.load(std::memory_order_relaxed) - start_seen < log.records - log.slack) [[likely]] return true;
    return make_room(log, start_seen);
}

}  // namespace ringmain::partition_log
