// Children that count what they do, so that one that hangs is told from one that is slow.
#pragma once

#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "support/child.hpp"

namespace ringmain::test {

/// For one use of a broker, on a machine that does other things.
inline constexpr auto kPatience = std::chrono::seconds(30);

/// Memory that a child and its parent both see.
class Shared {
public:
    Shared()
        : counter_(static_cast<std::atomic<std::uint64_t>*>(
              ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    ~Shared() { ::munmap(counter_, 4096); }
    std::atomic<std::uint64_t>& operator*() const noexcept { return *counter_; }
    [[nodiscard]] std::atomic<std::uint64_t>& operator[](std::size_t index) const noexcept { return counter_[index]; }

private:
    std::atomic<std::uint64_t>* counter_;
};

/// Waits for a child that counts what it does. Returns as Child::wait; -1 if the counter stands still; the child is
/// killed then.
inline int wait_while_it_counts(Child& child, const std::atomic<std::uint64_t>& counter) {
    std::uint64_t seen = counter.load(std::memory_order_acquire);
    for (;;) {
        const auto until = std::chrono::steady_clock::now() + kPatience;
        while (std::chrono::steady_clock::now() < until) {
            siginfo_t ended{};
            if (::waitid(P_PID, static_cast<id_t>(child.pid()), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                ended.si_pid != 0)
                return child.wait();
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        const std::uint64_t now = counter.load(std::memory_order_acquire);
        if (now == seen) {
            child.kill();
            return -1;
        }
        seen = now;
    }
}

}  // namespace ringmain::test
