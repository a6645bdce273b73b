// Random bytes from the kernel: identities, never secrets.
#include "platform/random.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "platform/clock.hpp"

namespace ringmain::platform {

namespace {

// For the kernel that does not answer: distinct values in this process, very likely distinct ones between processes.
std::uint64_t mixed_word() noexcept {
    static std::atomic<std::uint64_t> counter{0};
    // relaxed: only distinctness matters
    std::uint64_t x = counter.fetch_add(0x9e3779b97f4a7c15, std::memory_order_relaxed);
    x ^= static_cast<std::uint64_t>(realtime_ns()) ^ static_cast<std::uint64_t>(::getpid()) << 40;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

}  // namespace

std::uint64_t random_word() noexcept {
    std::uint64_t word = 0;
    // Up to 256 bytes are delivered whole or not at all.
    if (::getrandom(&word, sizeof word, 0) == static_cast<ssize_t>(sizeof word))
        return word;
    return mixed_word();
}

std::array<std::uint8_t, 16> random_id() noexcept {
    const std::array<std::uint64_t, 2> words = {random_word(), random_word()};
    std::array<std::uint8_t, 16> id{};
    std::memcpy(id.data(), words.data(), id.size());
    return id;
}

}  // namespace ringmain::platform
