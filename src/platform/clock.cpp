// The clocks.
#include "platform/clock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <limits>
#include <string_view>

namespace ringmain::platform {

namespace {

// These clocks exist on every Linux, so that the call cannot fail.
std::int64_t read_clock(clockid_t clock) noexcept {
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::uint64_t measure_ticks_per_us() noexcept {
    constexpr std::int64_t kWindowNs = 200'000;
    const std::int64_t from_ns = monotonic_ns();
    const std::uint64_t from_ticks = ticks();
    std::int64_t passed_ns = 0;
    while ((passed_ns = monotonic_ns() - from_ns) < kWindowNs) {
    }
    const std::uint64_t passed = (ticks() - from_ticks) * 1000 / static_cast<std::uint64_t>(passed_ns);
    return std::max<std::uint64_t>(passed, 1);
}

// A kernel without it tells its boots apart by nothing, and its files by their not being kept (tmpfs).
std::string_view boot_id(std::array<char, 64>& buffer) noexcept {
    const int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return {};
    const ssize_t bytes = ::read(fd, buffer.data(), buffer.size());
    ::close(fd);
    return bytes > 0 ? std::string_view(buffer.data(), static_cast<std::size_t>(bytes)) : std::string_view();
}

// What this process's time namespace adds to the monotonic clock. A kernel without such namespaces adds nothing.
std::int64_t measure_monotonic_offset_ns() noexcept {
    std::FILE* const file = std::fopen("/proc/self/timens_offsets", "re");
    if (file == nullptr)
        return 0;
    std::array<char, 16> clock{};
    long long seconds = 0;
    long long nanoseconds = 0;
    std::int64_t offset_ns = 0;
    while (std::fscanf(file, "%15s %lld %lld", clock.data(), &seconds, &nanoseconds) == 3) {
        if (std::string_view(clock.data()) == "monotonic")
            offset_ns = std::int64_t{seconds} * 1'000'000'000 + nanoseconds;
    }
    std::fclose(file);
    return offset_ns;
}

// FNV-1a, 64 bits.
constexpr std::uint64_t kHashPrime = 0x100000001b3;

std::uint64_t measure_shared_boot_hash() noexcept {
    std::array<char, 64> buffer{};
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : boot_id(buffer))
        hash = (hash ^ static_cast<std::uint8_t>(c)) * kHashPrime;
    return std::max<std::uint64_t>(hash, 1);
}

std::uint64_t measure_boot_hash() noexcept {
    std::uint64_t hash = shared_boot_hash();
    struct stat space {};
    if (::stat("/proc/self/ns/time", &space) == 0)
        hash = (hash ^ space.st_ino) * kHashPrime;
    return std::max<std::uint64_t>(hash, 1);
}

}  // namespace

std::int64_t boottime_ns() noexcept { return read_clock(CLOCK_BOOTTIME); }

std::uint64_t boot_hash() noexcept {
    static const std::uint64_t hash = measure_boot_hash();
    return hash;
}

std::uint64_t shared_boot_hash() noexcept {
    static const std::uint64_t hash = measure_shared_boot_hash();
    return hash;
}

std::uint64_t shared_monotonic_ms() noexcept {
    static const std::int64_t offset_ns = measure_monotonic_offset_ns();
    return static_cast<std::uint64_t>((read_clock(CLOCK_MONOTONIC_COARSE) - offset_ns) / 1'000'000);
}

std::uint64_t ticks_per_us() noexcept {
    static const std::uint64_t measured = measure_ticks_per_us();
    return measured;
}

std::int64_t realtime_ns() noexcept { return read_clock(CLOCK_REALTIME); }
std::int64_t realtime_coarse_ns() noexcept { return read_clock(CLOCK_REALTIME_COARSE); }
std::int64_t deadline_after(std::int64_t now_ns, std::chrono::nanoseconds timeout) noexcept {
    constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
    return timeout.count() > kNever - now_ns ? kNever : now_ns + std::max<std::int64_t>(timeout.count(), 0);
}

std::int64_t monotonic_ns() noexcept { return read_clock(CLOCK_MONOTONIC); }

}  // namespace ringmain::platform
