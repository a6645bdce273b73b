// The words of the work table: what their bits mean, and nothing else.
//
//   never used, DONE   00 | reason 2 | offset, 60 bits, never 0    finished; names its offset whole: no other lap's can be taken for it
//   READY              01 | count 5 | tag 2 | due 33 | condemned 1, reason 2, 0 7 | lap 12          to be handed out from `due` on
//   LOCKED             10 | count 5 | tag 2 | deadline 33 | slot 10 | lap 12                        somebody has it
//   PREPARING          11 0 | reason 2 | count 5 | deadline 32 (2 ms) | slot 10 | lap 12            somebody prepares its dead letter
//   INTENT             11 1 | reason 2 | count 5 | ticket 42 | lap 12                               the letter is, or will be, at that ticket or nowhere
//
// lap(o) = o / W mod 2^12. Nothing is ever cleared: finished words of the last lap are the free words of this one. A word is
// free for an offset when it is finished and not this one's, or of another lap. count: deliveries begun, this one included.
// tag: grows at every lock, and who gives a record back with the last one makes it wait a millisecond: so that no two locks of an
// offset by one worker have the same word.
#pragma once

#include <bit>
#include <cstdint>

#include "work_table/work_clock.hpp"

namespace ringmain::work_table {

enum class WorkState : std::uint8_t { done, ready, locked, preparing, intent };

/// How an offset was finished.
enum class DoneReason : std::uint8_t { lost, acked, dead, skipped };

/// Why a record goes to the dead letters.
enum class LetterReason : std::uint8_t {
    limit,     // its last delivery was answered with a failure
    rejected,
    expired,   // its time to live is over
    died,      // its last delivery was never answered: the lock ran out, or the worker died
};

inline constexpr std::uint32_t kCountMax = 31;
inline constexpr std::uint64_t kTagMax = 3;
inline constexpr std::uint64_t kTicketMax = (std::uint64_t{1} << 42) - 1;
inline constexpr std::uint64_t kLapMask = (1U << 12) - 1;
inline constexpr std::uint32_t kSlotMask = (1U << 10) - 1;

/// Requires a window that is a power of two.
[[nodiscard]] constexpr std::uint64_t lap_of(std::uint64_t offset, std::uint64_t window) noexcept {
    return offset >> std::countr_zero(window) & kLapMask;
}

[[nodiscard]] constexpr WorkState state_of(std::uint64_t word) noexcept {
    switch (word >> 62) {
        case 0: return WorkState::done;
        case 1: return WorkState::ready;
        case 2: return WorkState::locked;
        default: return (word >> 61 & 1) == 0 ? WorkState::preparing : WorkState::intent;
    }
}

inline constexpr std::uint64_t kDoneOffsets = (std::uint64_t{1} << 60) - 1;
/// The offset in a DONE word: from 1 on, also where offsets need more than 60 bits, so that no such word is the unused one.
[[nodiscard]] constexpr std::uint64_t done_offset(std::uint64_t offset) noexcept { return offset % kDoneOffsets + 1; }
[[nodiscard]] constexpr std::uint64_t done_word(std::uint64_t offset, DoneReason reason) noexcept {
    return std::uint64_t{static_cast<std::uint8_t>(reason)} << 60 | done_offset(offset);
}
[[nodiscard]] constexpr DoneReason done_reason(std::uint64_t word) noexcept { return static_cast<DoneReason>(word >> 60 & 3); }
/// The offset is finished, for ever.
[[nodiscard]] constexpr bool is_done(std::uint64_t word, std::uint64_t offset) noexcept {
    return word >> 62 == 0 && (word & kDoneOffsets) == done_offset(offset);
}

[[nodiscard]] constexpr std::uint64_t lap_bits(std::uint64_t word) noexcept { return word & kLapMask; }
/// The word says nothing of this offset, nor of a later one.
[[nodiscard]] constexpr bool is_free(std::uint64_t word, std::uint64_t lap) noexcept {
    return word >> 62 == 0 || lap_bits(word) != lap;  // requires that it is not DONE of this offset
}

/// READY and LOCKED.
[[nodiscard]] constexpr std::uint64_t tag_of(std::uint64_t word) noexcept { return word >> 55 & 3; }
[[nodiscard]] constexpr std::uint64_t time_of(std::uint64_t word) noexcept { return word >> 22 & kClockMask; }
/// LOCKED and PREPARING.
[[nodiscard]] constexpr std::uint32_t slot_of(std::uint64_t word) noexcept { return static_cast<std::uint32_t>(word >> 12) & kSlotMask; }
/// All but DONE.
[[nodiscard]] constexpr std::uint32_t count_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 62 == 3 ? word >> 54 : word >> 57) & kCountMax;
}

/// READY: it is not to be handed out any more, but to go to the dead letters.
[[nodiscard]] constexpr bool condemned(std::uint64_t word) noexcept { return (word >> 21 & 1) != 0; }
/// READY that is condemned, PREPARING, INTENT.
[[nodiscard]] constexpr LetterReason reason_of(std::uint64_t word) noexcept {
    return static_cast<LetterReason>(word >> 62 == 3 ? word >> 59 & 3 : word >> 19 & 3);
}

/// PREPARING: its deadline, in ms.
[[nodiscard]] constexpr std::uint64_t preparing_until(std::uint64_t word) noexcept { return (word >> 22 & 0xffffffff) << 1; }
/// INTENT.
[[nodiscard]] constexpr std::uint64_t ticket_of(std::uint64_t word) noexcept { return word >> 12 & kTicketMax; }

[[nodiscard]] constexpr std::uint64_t ready_word(std::uint32_t count, std::uint64_t tag, std::uint64_t due, std::uint64_t lap) noexcept {
    return std::uint64_t{1} << 62 | std::uint64_t{count} << 57 | (tag & 3) << 55 | (due & kClockMask) << 22 | lap;
}
/// A READY word with another time.
[[nodiscard]] constexpr std::uint64_t due_at(std::uint64_t ready, std::uint64_t due) noexcept {
    return (ready & ~(kClockMask << 22)) | (due & kClockMask) << 22;
}
[[nodiscard]] constexpr std::uint64_t condemned_word(std::uint32_t count, std::uint64_t due, LetterReason reason, std::uint64_t lap) noexcept {
    return ready_word(count, 0, due, lap) | std::uint64_t{1} << 21 | std::uint64_t{static_cast<std::uint8_t>(reason)} << 19;
}
[[nodiscard]] constexpr std::uint64_t locked_word(std::uint32_t count, std::uint64_t tag, std::uint64_t deadline, std::uint32_t slot,
                                                  std::uint64_t lap) noexcept {
    return std::uint64_t{2} << 62 | std::uint64_t{count} << 57 | (tag & 3) << 55 | (deadline & kClockMask) << 22 |
           std::uint64_t{slot} << 12 | lap;
}
[[nodiscard]] constexpr std::uint64_t preparing_word(LetterReason reason, std::uint32_t count, std::uint64_t deadline, std::uint32_t slot,
                                                     std::uint64_t lap) noexcept {
    return std::uint64_t{6} << 61 | std::uint64_t{static_cast<std::uint8_t>(reason)} << 59 | std::uint64_t{count} << 54 |
           (deadline >> 1 & 0xffffffff) << 22 | std::uint64_t{slot} << 12 | lap;
}
[[nodiscard]] constexpr std::uint64_t intent_word(LetterReason reason, std::uint32_t count, std::uint64_t ticket, std::uint64_t lap) noexcept {
    return std::uint64_t{7} << 61 | std::uint64_t{static_cast<std::uint8_t>(reason)} << 59 | std::uint64_t{count} << 54 | ticket << 12 | lap;
}

}  // namespace ringmain::work_table
