// What a queue is, without any of the ways in which it is made: one entry for each offset, and a clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "work_table/letters.hpp"
#include "work_table/work_rules.hpp"

namespace ringmain::test {

enum class EntryState : std::uint8_t {
    fresh,   // nobody has looked at it
    ready,   // to be handed out from `time` on, or, condemned, to be ended
    locked,  // until `time`
    ending,  // somebody writes its letter, or died in doing so
    done,
};

struct ReferenceEntry {
    EntryState state = EntryState::fresh;
    std::uint32_t count = 0;
    std::uint64_t time = 0;
    std::uint32_t slot = 0;
    std::uint64_t word = 0;  // locked: proof of the lock
    bool condemned = false;
    work_table::LetterReason reason = work_table::LetterReason::limit;
    work_table::DoneReason outcome = work_table::DoneReason::lost;
    // the record
    bool skip = false;
    std::uint64_t published = 0;
    std::uint64_t delay_ms = 0;
    std::uint64_t ttl_ms = 0;

    [[nodiscard]] bool done() const noexcept { return state == EntryState::done; }
    void finish(work_table::DoneReason how) noexcept {
        state = EntryState::done;
        outcome = how;
    }
};

struct ReferenceAcquired {
    std::vector<std::uint64_t> offsets;
    bool empty = false;
    bool window_full = false;
};

/// One partition. The offsets are those of the log.
struct ReferenceWork {
    work_table::WorkRules rules;
    std::uint64_t window = 0;
    std::uint64_t log_records = 0;
    std::uint64_t first = 0;
    std::uint64_t now = 0;
    std::uint64_t log_start = 0;
    bool refuses = false;  // the dead-letter topic does
    std::uint64_t start = 0;
    std::uint64_t frontier = 0;
    std::vector<ReferenceEntry> entries;

    [[nodiscard]] std::uint64_t end() const noexcept { return first + entries.size(); }
    [[nodiscard]] ReferenceEntry& at(std::uint64_t offset) { return entries.at(offset - first); }
    [[nodiscard]] bool gone(std::uint64_t offset) const noexcept { return log_start > offset; }
    [[nodiscard]] bool expired(const ReferenceEntry& entry) const noexcept {
        return entry.ttl_ms != 0 && now > entry.published + entry.ttl_ms;
    }
    [[nodiscard]] std::uint64_t backoff(std::uint64_t offset, std::uint32_t count) const noexcept {
        return rules.backoff(offset, count == 0 ? 1 : count);
    }
    [[nodiscard]] std::uint64_t due(std::uint64_t offset) {
        const ReferenceEntry& entry = at(offset);
        return entry.state == EntryState::locked ? entry.time + backoff(offset, entry.count) : entry.time;
    }
    /// Something other than a loss is to happen to what was handed out before.
    [[nodiscard]] bool anything_due(std::uint64_t when) {
        for (std::uint64_t offset = start; offset < std::min(frontier, end()); ++offset) {
            const ReferenceEntry& entry = at(offset);
            const bool waits = entry.state == EntryState::ready || entry.state == EntryState::locked;
            if (waits && due(offset) <= when) return true;
        }
        return false;
    }

    void end_record(std::uint64_t offset, work_table::LetterReason why) {
        ReferenceEntry& entry = at(offset);
        entry.reason = why;
        if (rules.end_of(why) == work_table::EndOf::skip) return entry.finish(work_table::DoneReason::skipped);
        if (!refuses) return entry.finish(work_table::DoneReason::dead);
        entry.state = EntryState::ready;
        entry.condemned = true;
        entry.time = now + std::max(work_table::kLetterAgainMs, backoff(offset, entry.count));
    }

    void make_ready(ReferenceEntry& entry, std::uint32_t count, std::uint64_t when) {
        entry.state = EntryState::ready;
        entry.count = count;
        entry.time = when;
    }

    /// True if the worker has it now.
    bool take(std::uint64_t offset, std::uint32_t slot) {
        ReferenceEntry& entry = at(offset);
        if (entry.done()) return false;
        const bool first_sight = entry.state == EntryState::fresh;
        if (!first_sight && !gone(offset) && due(offset) > now) return false;
        // an offset without a record is known for one as long as its cell is no later one's
        const bool skipped = first_sight && entry.skip && end() <= offset + log_records;
        if (skipped || gone(offset)) {
            entry.finish(skipped ? work_table::DoneReason::skipped : work_table::DoneReason::lost);
            return false;
        }
        if (entry.condemned) {
            end_record(offset, entry.reason);
            return false;
        }
        if (expired(entry)) {
            end_record(offset, work_table::LetterReason::expired);
            return false;
        }
        if (first_sight && entry.delay_ms != 0) {
            make_ready(entry, 0, std::max(now, std::min(entry.published, now) + entry.delay_ms));
            return false;
        }
        if (!first_sight && rules.used_up(entry.count)) {
            end_record(offset, entry.state == EntryState::locked ? work_table::LetterReason::died : work_table::LetterReason::limit);
            return false;
        }
        entry.state = EntryState::locked;
        entry.count = rules.next_count(entry.count);
        entry.time = now + rules.lock_ms;
        entry.slot = slot;
        return true;
    }

    /// `swept`: what was handed out before is looked at. `look(offset)`: brings up to date what a dead worker was ending.
    ReferenceAcquired acquire(std::uint32_t slot, std::size_t count, bool swept, const std::function<void(std::uint64_t)>& look) {
        ReferenceAcquired got;
        if (swept) sweep(slot, count, got, look);
        bool looked_for_lost = false;
        while (got.offsets.size() < count && !got.empty && !got.window_full) {
            frontier = std::max(frontier, start);
            if (frontier >= end()) {
                got.empty = true;
            } else if (frontier >= start + window && !looked_for_lost && gone(start)) {
                looked_for_lost = true;
                sweep(slot, count, got, look);
            } else if (frontier >= start + window) {
                got.window_full = !move_on();
            } else if (const std::uint64_t offset = frontier++; take(offset, slot)) {
                got.offsets.push_back(offset);
            }
        }
        move_on();
        return got;
    }

    void sweep(std::uint32_t slot, std::size_t count, ReferenceAcquired& got, const std::function<void(std::uint64_t)>& look) {
        for (std::uint64_t offset = start; offset < std::min({frontier, end(), start + window}); ++offset) {
            if (at(offset).done()) continue;
            if (got.offsets.size() == count) break;
            if (at(offset).state == EntryState::ending) {
                look(offset);
            } else if (take(offset, slot)) {
                got.offsets.push_back(offset);
            }
        }
    }

    bool move_on() {
        if (log_start > start + window && first_unfinished(start + window) == start + window) {
            for (std::uint64_t offset = start; offset < log_start; ++offset) {
                if (!at(offset).done()) at(offset).finish(work_table::DoneReason::lost);
            }
            start = log_start;
            return true;
        }
        const std::uint64_t before = start;
        start = first_unfinished(end());
        return start != before;
    }
    [[nodiscard]] std::uint64_t first_unfinished(std::uint64_t before) {
        std::uint64_t offset = start;
        while (offset < before && offset < end() && at(offset).done()) ++offset;
        return offset;
    }
};

}  // namespace ringmain::test
