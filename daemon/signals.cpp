// The signals that end a daemon or make it read its file again, and whatever else wakes its main thread.
#include "signals.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <limits>

#include "ringmain/error.hpp"

namespace ringmain::daemon {

namespace {

sigset_t handled_signals() noexcept {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP})
        sigaddset(&set, signal);
    return set;
}

int timeout_ms(std::optional<Signals::Clock::time_point> deadline) noexcept {
    if (!deadline)
        return -1;
    using std::chrono::milliseconds;
    const auto rest = std::chrono::ceil<milliseconds>(*deadline - Signals::Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(rest, 0, std::numeric_limits<int>::max()));
}

}  // namespace

Signals::Signals() {
    const sigset_t handled = handled_signals();
    if (::pthread_sigmask(SIG_BLOCK, &handled, nullptr) == 0) {
        signals_ = ::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
        wakes_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    if (signals_ < 0 || wakes_ < 0)
        throw Error(ErrorCode::io, "signals", "cannot wait for signals", errno);
}

Signals::~Signals() {
    ::close(signals_);
    ::close(wakes_);
}

bool Signals::stop_is_pending() noexcept {
    sigset_t pending;
    return ::sigpending(&pending) == 0 && (sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1);
}

void Signals::wake() const noexcept {
    const std::uint64_t one = 1;
    (void)!::write(wakes_, &one, sizeof one);
}

Signals::Wake Signals::wait(std::optional<Clock::time_point> deadline) noexcept {
    std::array<pollfd, 2> sources{pollfd{signals_, POLLIN, 0}, pollfd{wakes_, POLLIN, 0}};
    if (::poll(sources.data(), sources.size(), timeout_ms(deadline)) <= 0)
        return Wake::deadline;
    std::uint64_t wakes = 0;
    const bool woken = ::read(wakes_, &wakes, sizeof wakes) == sizeof wakes;
    Wake wake = woken ? Wake::woken : Wake::deadline;
    for (signalfd_siginfo info{}; ::read(signals_, &info, sizeof info) == sizeof info;) {
        if (wake == Wake::stop)
            continue;
        last_ = static_cast<int>(info.ssi_signo);
        wake = last_ == SIGHUP ? Wake::reload : Wake::stop;
    }
    return wake;
}

}  // namespace ringmain::daemon
