// How long locks last, and what becomes of records that failed: the settings of a queue as the structures need them.
#pragma once

#include <cstdint>

#include "work_table/work_clock.hpp"
#include "work_table/work_words.hpp"

namespace ringmain::work_table {

/// What becomes of a record that is not to be delivered any more.
enum class EndOf : std::uint8_t {
    dead_letter,
    skip,
};

struct WorkRules {
    std::uint64_t lock_ms = 30'000;
    std::uint64_t backoff_first_ms = 1'000;
    std::uint64_t backoff_max_ms = 60'000;
    std::uint32_t backoff_factor_permille = 2'000;
    std::uint32_t backoff_jitter_permille = 100;
    std::uint32_t delivery_limit = 5;  ///< 0: none
    std::uint32_t in_flight_max = 0;   ///< of all workers together; 0: none
    EndOf exhausted = EndOf::dead_letter;
    EndOf expired = EndOf::dead_letter;

    /// No delivery comes after so many. Without a limit counts stay one below what the word can hold.
    [[nodiscard]] constexpr bool used_up(std::uint32_t count) const noexcept { return delivery_limit != 0 && count >= delivery_limit; }
    [[nodiscard]] constexpr std::uint32_t next_count(std::uint32_t count) const noexcept {
        return count + 1 < kCountMax ? count + 1 : kCountMax - 1;
    }

    /// The wait after the `count`-th delivery, count >= 1. The same for everybody who computes it.
    [[nodiscard]] constexpr std::uint64_t backoff(std::uint64_t offset, std::uint32_t count) const noexcept {
        std::uint64_t wait = backoff_first_ms;
        for (std::uint32_t i = 1; i < count && wait < backoff_max_ms; ++i) wait = wait * backoff_factor_permille / 1000;
        if (wait > backoff_max_ms) wait = backoff_max_ms;
        const std::uint64_t swing = wait * backoff_jitter_permille / 1000;
        if (swing != 0) wait = wait - swing + mix(offset, count) % (2 * swing + 1);
        return wait < kAheadMaxMs ? wait : kAheadMaxMs;
    }

    [[nodiscard]] constexpr EndOf end_of(LetterReason reason) const noexcept {
        return reason == LetterReason::expired ? expired : exhausted;
    }

private:
    [[nodiscard]] static constexpr std::uint64_t mix(std::uint64_t offset, std::uint32_t count) noexcept {
        std::uint64_t x = (offset + 1) * 0x9e3779b97f4a7c15 + count;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
        x = (x ^ x >> 27) * 0x94d049bb133111eb;
        return x ^ x >> 31;
    }
};

/// How long a worker may take to prepare a dead letter before another one does.
inline constexpr std::uint64_t kLetterLockMs = 1'000;
/// How long an announced letter may stay unpublished before somebody closes its ticket.
inline constexpr std::uint64_t kIntentPatienceMs = 10;
/// How often words are looked at that nobody said are due: the bound on every mistake of `next_due`.
inline constexpr std::uint64_t kSweepMs = 100;

}  // namespace ringmain::work_table
