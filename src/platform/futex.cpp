// Sleeping on a word in shared memory, by futex(2) and futex_waitv(2).
#include "platform/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <ctime>

#include "platform/clock.hpp"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449  // the same number on every architecture
#endif

namespace ringmain::platform {

namespace {

// The kernel's struct futex_waitv, named apart so that headers older than Linux 5.16 do as well.
struct WaitEntry {
    std::uint64_t value;
    std::uint64_t address;
    std::uint32_t flags;
    std::uint32_t reserved;
};
static_assert(sizeof(WaitEntry) == 24);
constexpr std::uint32_t kWaitEntry32Bits = 2;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kLongestWait = 3600 * kSecond;  // so that no sum overflows; callers loop
constexpr std::int64_t kPartialWait = 1'000'000;       // when not all words can be waited for

std::atomic<bool> g_waitv_works{true};

timespec timespec_of(std::int64_t ns) noexcept {
    timespec time{};
    time.tv_sec = static_cast<time_t>(ns / kSecond);
    time.tv_nsec = static_cast<decltype(time.tv_nsec)>(ns % kSecond);
    return time;
}

void wait_for_one(const FutexWait& wait, std::int64_t timeout_ns) noexcept {
    const timespec timeout = timespec_of(timeout_ns);
    // Every way to return (changed, woken, signal, time-out) means the same to the caller: look again.
    ::syscall(SYS_futex, wait.word, FUTEX_WAIT, wait.expected, &timeout, nullptr, 0);
}

// False if the kernel does not know the call.
bool wait_for_many(std::span<const FutexWait> words, std::int64_t timeout_ns) noexcept {
    std::array<WaitEntry, kFutexWaitMax> entries{};
    for (std::size_t i = 0; i < words.size(); ++i) {
        entries[i] = {words[i].expected, reinterpret_cast<std::uintptr_t>(words[i].word), kWaitEntry32Bits, 0};
    }
    const timespec deadline = timespec_of(monotonic_ns() + timeout_ns);
    const auto count = static_cast<unsigned>(words.size());
    if (::syscall(SYS_futex_waitv, entries.data(), count, 0U, &deadline, CLOCK_MONOTONIC) >= 0)
        return true;
    return errno != ENOSYS && errno != EPERM;  // EPERM: a seccomp filter that is older than the call
}

}  // namespace

void futex_wait(std::span<const FutexWait> words, std::chrono::nanoseconds timeout) noexcept {
    if (words.empty() || timeout.count() <= 0)
        return;
    const std::int64_t timeout_ns = std::min<std::int64_t>(timeout.count(), kLongestWait);
    if (words.size() == 1)
        return wait_for_one(words.front(), timeout_ns);

    // relaxed: a hint; whoever reads it late makes one failing call more
    if (g_waitv_works.load(std::memory_order_relaxed)) {
        const bool all = words.size() <= kFutexWaitMax;
        if (wait_for_many(all ? words : words.first(kFutexWaitMax),
                          all ? timeout_ns : std::min(timeout_ns, kPartialWait)))
            return;
        g_waitv_works.store(false, std::memory_order_relaxed);
    }
    wait_for_one(words.front(), std::min(timeout_ns, kPartialWait));
}

void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept {
    ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace ringmain::platform
