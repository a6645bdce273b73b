// Waking up when a process ends: pidfds in one epoll.
#include "platform/process_watch.hpp"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "platform/system_failure.hpp"

namespace ringmain::platform {

namespace {

// What epoll tells about a descriptor: a pid, or one of these.
constexpr std::uint64_t kInterrupted = std::uint64_t{1} << 32;
constexpr std::uint64_t kAdded = std::uint64_t{1} << 33;

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

bool poll_too(int poll, int descriptor, std::uint64_t about) noexcept {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = about;
    return ::epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

std::size_t most_descriptors() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    return std::min<std::size_t>(limit.rlim_cur / ProcessWatch::kDescriptorsShare, ProcessWatch::kWatchedMax);
}

// Rounded up: waits that are a little too short would be many.
int milliseconds_of(std::chrono::nanoseconds timeout) noexcept {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
    return static_cast<int>(std::clamp<decltype(ms)>(ms, 0, std::numeric_limits<int>::max()));
}

}  // namespace

ProcessWatch::ProcessWatch() : poll_(beyond_streams(::epoll_create1(EPOLL_CLOEXEC))) {
    if (!poll_ || !poll_too(poll_.get(), interrupted_.descriptor(), kInterrupted))
        throw system_failure("make a descriptor for", "epoll", errno);
}

// The pid names the process both before and after the descriptor was opened, so the descriptor is that process's.
Descriptor ProcessWatch::open(const ProcessIdentity& process) noexcept {
    if (process.pid == 0 || process.pid_namespace == 0 || process.start_ticks == 0 || open_ >= most_descriptors() ||
        start_ticks_of(process.pid) != process.start_ticks) {
        return {};
    }
    Descriptor opened = open_pid(process.pid);
    if (!opened || start_ticks_of(process.pid) != process.start_ticks || !poll_too(poll_.get(), opened.get(), process.pid))
        return {};
    ++open_;
    return opened;
}

void ProcessWatch::close(Watched& one) noexcept {
    if (!one.descriptor)
        return;
    ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, one.descriptor.get(), nullptr);  // a fork()ed child may still hold the file
    one.descriptor.reset();
    --open_;
}

void ProcessWatch::watch(std::span<const ProcessIdentity> processes) {
    std::map<std::uint32_t, const ProcessIdentity*> wanted;  // a pid of another namespace means somebody else here
    for (const ProcessIdentity& process : processes) {
        if (process.pid_namespace == pid_namespace_)
            wanted[process.pid] = &process;
    }
    for (auto one = watched_.begin(); one != watched_.end();) {
        const auto still = wanted.find(one->first);
        const bool stays = still != wanted.end() && still->second->start_ticks == one->second.start_ticks;
        if (!stays)
            close(one->second);
        one = stays ? std::next(one) : watched_.erase(one);
    }
    for (const auto& [pid, process] : wanted) {
        Watched& one = watched_[pid];
        one.start_ticks = process->start_ticks;
        if (!one.descriptor)
            one.descriptor = open(*process);  // also if that pid has ended before: start times are too coarse to tell
    }
}

void ProcessWatch::add(int descriptor) noexcept { (void)poll_too(poll_.get(), descriptor, kAdded); }

bool ProcessWatch::wait(std::chrono::nanoseconds timeout) noexcept {
    std::array<epoll_event, 16> events;  // what does not fit is told next time
    const int count = ::epoll_wait(poll_.get(), events.data(), events.size(), milliseconds_of(timeout));
    bool ended = false;
    for (int i = 0; i < count; ++i) {
        const std::uint64_t about = events[static_cast<std::size_t>(i)].data.u64;
        if (about == kInterrupted)
            interrupted_.clear();
        if (about >= kInterrupted)
            continue;
        ended = true;
        close(watched_[static_cast<std::uint32_t>(about)]);  // told once: it would stay readable for ever
    }
    return ended;
}

}  // namespace ringmain::platform
