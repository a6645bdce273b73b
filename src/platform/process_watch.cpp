// Waking up when a process ends: pidfds in one poll.
#include "platform/process_watch.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace ringmain::platform {

namespace {

Descriptor open_pid(std::uint32_t pid) noexcept {
#if defined(SYS_pidfd_open)
    const long fd = ::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0U);  // closed on exec
    if (fd >= 0)
        return Descriptor(beyond_streams(static_cast<int>(fd)));
#else
    (void)pid;
#endif
    return {};
}

timespec to_timespec(std::chrono::nanoseconds duration) noexcept {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
    return {static_cast<time_t>(seconds.count()), static_cast<long>((duration - seconds).count())};
}

}  // namespace

void ProcessWatch::watch(std::span<const std::uint32_t> pids) {
    std::erase_if(watched_, [&](const auto& one) { return std::find(pids.begin(), pids.end(), one.first) == pids.end(); });
    for (const std::uint32_t pid : pids) {
        if (!watched_.contains(pid))
            watched_.emplace(pid, open_pid(pid));
    }
}

void ProcessWatch::wait(std::chrono::nanoseconds timeout) noexcept {
    constexpr std::size_t kWatchedMax = 1024;  // others are seen when the time is up
    pollfd polled[kWatchedMax + 1];
    std::uint32_t pids[kWatchedMax];
    std::size_t count = 0;
    for (const auto& [pid, descriptor] : watched_) {
        if (!descriptor || count == kWatchedMax)
            continue;
        pids[count] = pid;
        polled[count++] = {descriptor.get(), POLLIN, 0};
    }
    polled[count] = {interrupted_.descriptor(), POLLIN, 0};
    const timespec most = to_timespec(std::max(timeout, std::chrono::nanoseconds::zero()));
    if (::ppoll(polled, count + 1, &most, nullptr) <= 0)
        return;
    if (polled[count].revents != 0)
        interrupted_.clear();
    for (std::size_t i = 0; i < count; ++i) {
        if (polled[i].revents != 0)
            watched_[pids[i]].reset();  // told once: it stays readable for ever
    }
}

}  // namespace ringmain::platform
