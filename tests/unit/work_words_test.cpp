// The words of the work table: every field survives at its limits, beside every other.
#include "work_table/work_words.hpp"

#include <array>

#include "support/catch.hpp"
#include "layout/work.hpp"
#include "work_table/work_rules.hpp"

using namespace ringmain;
using namespace ringmain::work_table;

namespace {

constexpr std::array<std::uint64_t, 5> kTimes = {0, 1, kClockMask / 2, kClockMask - 1, kClockMask};
constexpr std::array<std::uint32_t, 4> kCounts = {0, 1, 30, kCountMax};
constexpr std::array<std::uint64_t, 3> kLaps = {0, 1, kLapMask};
constexpr std::array<std::uint32_t, 3> kSlots = {0, 1, kSlotMask};
constexpr std::array<std::uint64_t, 9> kOffsets = {0,
                                                   1,
                                                   (std::uint64_t{1} << 32) - 1,
                                                   std::uint64_t{1} << 48,
                                                   (std::uint64_t{1} << 60) - 2,
                                                   (std::uint64_t{1} << 60) - 1,
                                                   std::uint64_t{1} << 60,
                                                   (std::uint64_t{1} << 61) - 1,
                                                   (std::uint64_t{1} << 62) - 1};

}  // namespace

TEST_CASE("a finished word names its offset and its reason, and no neighbour") {
    for (const std::uint64_t offset : kOffsets) {
        for (const DoneReason reason : {DoneReason::lost, DoneReason::acked, DoneReason::dead, DoneReason::skipped}) {
            const std::uint64_t word = done_word(offset, reason);
            INFO("offset " << offset << " reason " << static_cast<int>(reason));
            CHECK(state_of(word) == WorkState::done);
            CHECK(word != 0);
            CHECK(is_done(word, offset));
            CHECK(done_reason(word) == reason);
            CHECK_FALSE(is_done(word, offset + 1));
            CHECK_FALSE(is_done(word, offset - 1));
            CHECK_FALSE(is_done(word, offset + 16));
            CHECK(is_free(word, 5));
        }
    }
}

TEST_CASE("the word that was never used finishes no offset and is free for all") {
    for (const std::uint64_t offset : kOffsets) CHECK_FALSE(is_done(0, offset));
    CHECK(is_free(0, 0));
    CHECK(is_free(0, kLapMask));
}

TEST_CASE("ready and locked words keep count, tag, time, slot and lap") {
    for (const std::uint64_t time : kTimes) {
        for (const std::uint32_t count : kCounts) {
            for (const std::uint64_t lap : kLaps) {
                for (std::uint64_t tag = 0; tag < 4; ++tag) {
                    const std::uint64_t ready = ready_word(count, tag, time, lap);
                    CHECK(state_of(ready) == WorkState::ready);
                    CHECK((count_of(ready) == count && tag_of(ready) == tag && time_of(ready) == time && lap_bits(ready) == lap));
                    CHECK_FALSE(condemned(ready));
                    CHECK_FALSE(is_free(ready, lap));
                    CHECK(is_free(ready, lap ^ 1));
                    for (const std::uint32_t slot : kSlots) {
                        const std::uint64_t locked = locked_word(count, tag, time, slot, lap);
                        CHECK(state_of(locked) == WorkState::locked);
                        CHECK((count_of(locked) == count && tag_of(locked) == tag && time_of(locked) == time));
                        CHECK((slot_of(locked) == slot && lap_bits(locked) == lap));
                        CHECK_FALSE(is_done(locked, 0));
                    }
                }
            }
        }
    }
}

TEST_CASE("condemned, preparing and intent words keep reason, count, time or ticket, slot and lap") {
    constexpr std::array<std::uint64_t, 4> kTickets = {0, 1, kTicketMax - 1, kTicketMax};
    for (const LetterReason reason : {LetterReason::limit, LetterReason::rejected, LetterReason::expired, LetterReason::died}) {
        for (const std::uint32_t count : kCounts) {
            for (const std::uint64_t lap : kLaps) {
                for (const std::uint64_t time : kTimes) {
                    const std::uint64_t ready = condemned_word(count, time, reason, lap);
                    CHECK(state_of(ready) == WorkState::ready);
                    CHECK((condemned(ready) && reason_of(ready) == reason && count_of(ready) == count));
                    CHECK((time_of(ready) == time && lap_bits(ready) == lap));
                    for (const std::uint32_t slot : kSlots) {
                        const std::uint64_t preparing = preparing_word(reason, count, time, slot, lap);
                        CHECK(state_of(preparing) == WorkState::preparing);
                        CHECK((reason_of(preparing) == reason && count_of(preparing) == count && slot_of(preparing) == slot));
                        CHECK((preparing_until(preparing) == (time & ~std::uint64_t{1}) && lap_bits(preparing) == lap));
                    }
                }
                for (const std::uint64_t ticket : kTickets) {
                    const std::uint64_t intent = intent_word(reason, count, ticket, lap);
                    CHECK(state_of(intent) == WorkState::intent);
                    CHECK((reason_of(intent) == reason && count_of(intent) == count && ticket_of(intent) == ticket));
                    CHECK(lap_bits(intent) == lap);
                }
            }
        }
    }
}

TEST_CASE("times beyond the clock's width are taken modulo it") {
    constexpr std::uint64_t kTurn = kClockMask + 1;
    CHECK(time_of(ready_word(1, 0, kTurn + 5, 0)) == 5);
    CHECK(time_of(locked_word(1, 0, 7 * kTurn + 9, 3, 0)) == 9);
    CHECK(preparing_until(preparing_word(LetterReason::limit, 1, kTurn + 8, 3, 0)) == 8);
    CHECK(count_of(locked_word(2, 1, ~std::uint64_t{0}, 0, 0)) == 2);
}

TEST_CASE("laps go round after 4096 windows, for every window and far offsets") {
    for (const std::uint64_t window : {std::uint64_t{1}, std::uint64_t{16}, layout::kWorkWindowMax}) {
        for (const std::uint64_t offset : kOffsets) {
            const std::uint64_t lap = lap_of(offset, window);
            CHECK(lap <= kLapMask);
            CHECK(lap == (offset / window) % 4096);
            CHECK(lap_of(offset + window, window) == (lap + 1) % 4096);
            CHECK(lap_of(offset + 4096 * window, window) == lap);
        }
    }
}

TEST_CASE("the clock may wrap: what is due before and after it is told apart") {
    constexpr std::uint64_t kTurn = kClockMask + 1;
    for (const std::uint64_t now : {std::uint64_t{0}, std::uint64_t{5}, kTurn / 2, kTurn - 5, kTurn - 1, kTurn + 3, 3 * kTurn - 1}) {
        INFO("now " << now);
        CHECK(late(now & kClockMask, now));
        CHECK(late((now - 1) & kClockMask, now));
        CHECK(late((now - 50 * 86'400'000ULL) & kClockMask, now));
        CHECK_FALSE(late((now + 1) & kClockMask, now));
        CHECK_FALSE(late((now + kAheadMaxMs) & kClockMask, now));
        CHECK_FALSE(late((now + kFutureMs) & kClockMask, now));
        CHECK(late((now + kFutureMs + 1) & kClockMask, now));  // garbage is past
        CHECK(until(now + 7, now) == 7);
        CHECK(until(now - 7, now) == 0);
        CHECK(earlier(now + 3, now + 4, now));
        CHECK_FALSE(earlier(now + 4, now + 4, now));
        CHECK_FALSE(earlier(now - 4, now - 3, now));  // both have come: no difference
    }
}

TEST_CASE("the longest lock and the longest back-off behind it are still ahead, also for who is a little behind in time") {
    WorkRules rules;
    rules.lock_ms = kAheadMaxMs;
    rules.backoff_first_ms = kAheadMaxMs;
    rules.backoff_max_ms = kAheadMaxMs;
    rules.backoff_jitter_permille = 500;
    constexpr std::uint64_t kNow = 12'345'678;
    for (std::uint64_t offset = 0; offset < 100; ++offset) {
        const std::uint64_t due = kNow + rules.lock_ms + rules.backoff(offset, 3);
        CHECK_FALSE(late(due, kNow));
        CHECK_FALSE(late(due, kNow - 20));  // a coarse clock, or one that was read a moment before
    }
}

TEST_CASE("the back-off grows by its factor up to its limit, and swings by its jitter") {
    WorkRules rules;
    rules.backoff_jitter_permille = 0;
    CHECK(rules.backoff(7, 1) == 1'000);
    CHECK(rules.backoff(7, 2) == 2'000);
    CHECK(rules.backoff(7, 6) == 32'000);
    CHECK(rules.backoff(7, 7) == 60'000);
    CHECK(rules.backoff(7, kCountMax) == 60'000);
    rules.backoff_jitter_permille = 100;
    bool differs = false;
    for (std::uint64_t offset = 0; offset < 200; ++offset) {
        const std::uint64_t wait = rules.backoff(offset, 3);
        CHECK((wait >= 3'600 && wait <= 4'400));
        CHECK(wait == rules.backoff(offset, 3));
        differs |= wait != 4'000;
    }
    CHECK(differs);
    rules.backoff_first_ms = rules.backoff_max_ms = 0;
    CHECK(rules.backoff(1, 5) == 0);
}

TEST_CASE("the delivery limit is reached, or there is none and the count stays below what a word holds") {
    WorkRules rules;
    rules.delivery_limit = 3;
    CHECK_FALSE(rules.used_up(2));
    CHECK(rules.used_up(3));
    CHECK(rules.used_up(4));
    rules.delivery_limit = 0;
    CHECK_FALSE(rules.used_up(kCountMax));
    std::uint32_t count = 0;
    for (int i = 0; i < 100; ++i) count = rules.next_count(count);
    CHECK(count == kCountMax - 1);
}
