// Sleeping on a word in shared memory until somebody changes it. Always bounded.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ringmain::platform {

struct FutexWait {
    std::atomic<std::uint32_t>* word = nullptr;
    std::uint32_t expected = 0;
};

/// Most words that one call can wait for.
inline constexpr std::size_t kFutexWaitMax = 128;

/// Sleeps until a word differs from what is expected, a wake, a signal or the time-out. More than one word needs
/// futex_waitv (Linux 5.16); without it, and beyond kFutexWaitMax words, it waits on the first ones and at most 1 ms.
void futex_wait(std::span<const FutexWait> words, std::chrono::nanoseconds timeout) noexcept;

/// Wakes everybody who sleeps on the word, in all processes.
void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept;

}  // namespace ringmain::platform
