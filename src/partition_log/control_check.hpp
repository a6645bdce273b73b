// Whether a partition's shared offsets can be. They are input as every other shared byte is: whoever finds a contradiction
// moves nothing.
#pragma once

#include <cstdint>
#include <string>

#include "partition_log/cell_word.hpp"
#include "partition_log/log_memory.hpp"
#include "ringmain/status.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain::partition_log {

enum class Contradiction : std::uint8_t {
    none,
    end_impossible,  // log_end is no offset
    start_outside,   // log_start is not within [first offset, log_end]
    end_too_far,     // log_end is further ahead of log_start than tickets in flight can be
};

struct ControlCheck {
    Contradiction found = Contradiction::none;
    std::uint64_t start = 0;
    std::uint64_t end = 0;

    [[nodiscard]] bool sound() const noexcept { return found == Contradiction::none; }
};

/// Holds at any moment of a sound log, whatever others do meanwhile: both words only grow, so the one that must be the
/// larger is read last.
template <class M>
[[nodiscard, gnu::noinline]] ControlCheck check_control(const LogMemory<M>& log) noexcept {
    const std::uint64_t end_before = log.control->log_end.load(std::memory_order_acquire);  // acquire TICKET
    const std::uint64_t start = log.control->log_start.load(std::memory_order_acquire);     // acquire LOG_START
    M::point("control.start_read");
    const std::uint64_t end = log.control->log_end.load(std::memory_order_acquire);         // acquire TICKET
    if (end > kOffsetMax) return {Contradiction::end_impossible, start, end};
    if (start < log.first_offset || start > end) return {Contradiction::start_outside, start, end};
    if (end_before > start && end_before - start > log.records + log.slack) return {Contradiction::end_too_far, start, end_before};
    return {Contradiction::none, start, end};
}

/// For people, e.g. "log end 99 is more than a lap ahead of log start 5".
[[nodiscard]] inline std::string to_text(const ControlCheck& check, std::uint64_t first_offset) {
    const std::string end = std::to_string(check.end);
    switch (check.found) {
        case Contradiction::end_impossible: return "log end " + end + " is impossible";
        case Contradiction::start_outside:
            return "log start " + std::to_string(check.start) + " is outside [" + std::to_string(first_offset) + ", " + end + "]";
        case Contradiction::end_too_far:
            return "log end " + end + " is more than a lap ahead of log start " + std::to_string(check.start);
        case Contradiction::none: break;
    }
    return "log start " + std::to_string(check.start) + " and log end " + end + " agree";
}

/// A ticket two laps ahead of log_start was not given out by a sound log, even if all producers of a lap died. `offset` is
/// read before the call; log_start only grows.
template <class M>
[[nodiscard]] bool out_of_reach(const LogMemory<M>& log, std::uint64_t offset) noexcept {
    const std::uint64_t start = log.control->log_start.load(std::memory_order_acquire);  // acquire LOG_START
    return offset > kOffsetMax || (offset > start && offset - start >= 2 * log.records);
}

/// The cell of log_end is decided already, so log_end has been set back. Requires that no exclusive producer is attached:
/// it commits before it moves log_end.
template <class M>
[[nodiscard]] bool end_is_taken(const LogMemory<M>& log) noexcept {
    const std::uint64_t end = log.control->log_end.load(std::memory_order_acquire);  // acquire TICKET
    const std::uint64_t word = log.cell(end).word.load(std::memory_order_acquire);   // acquire RECORD_COMMIT, TICKET_CLOSE
    // decided just now: then its ticket was taken before, and log_end shows it
    return decided(word, end) && log.control->log_end.load(std::memory_order_acquire) == end;  // acquire TICKET
}

/// Why there is no room: gates hold it, or the words are not to be believed.
template <class M>
[[nodiscard, gnu::noinline]] Status no_room_status(const LogMemory<M>& log) noexcept {
    return check_control(log).sound() ? Status::would_block : Status::corrupt;
}

}  // namespace ringmain::partition_log
