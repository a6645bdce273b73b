// Sleeping on the doorbells of several partitions without missing a record.
#include "doorbell_sleep.hpp"

#include <algorithm>

#include "platform/barrier.hpp"
#include "platform/sleep.hpp"

namespace ringmain {

void DoorbellSleep::add(PartitionCursor& cursor) noexcept {
    if (!cursor.topic().readers_writable() || count_ == words_.size()) {
        unheard_ = true;
        return;
    }
    words_[count_++] = {cursor.doorbell().futex_word(), cursor.doorbell().announce_sleeper()};
}

void DoorbellSleep::add(platform::FutexWait word) noexcept {
    if (count_ == words_.size()) {
        unheard_ = true;
        return;
    }
    words_[count_++] = word;
}

void DoorbellSleep::fence() noexcept {
    if (!platform::barrier_everywhere()) unheard_ = true;
}

void DoorbellSleep::sleep(std::chrono::nanoseconds timeout) noexcept {
    const std::chrono::nanoseconds most = unheard_ ? kSleepUnheard : kSleepMax;
    const std::chrono::nanoseconds duration = std::min(timeout, most);
    if (count_ == 0) {
        platform::sleep_ns(duration.count());
    } else {
        platform::futex_wait({words_.data(), count_}, duration);
    }
}

}  // namespace ringmain
