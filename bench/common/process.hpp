// Pinned child processes: started together, waited for together, never left behind.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace ringmain::bench {

/// SIGINT or SIGTERM arrived while children ran; they have been ended.
class Interrupted : public std::runtime_error {
public:
    explicit Interrupted(int signal) : std::runtime_error("interrupted"), signal_(signal) {}
    [[nodiscard]] int signal() const noexcept { return signal_; }

private:
    int signal_;
};

/// The logical processors this process may use, those of different cores first, so that the first two do not share one.
std::vector<int> usable_cpus();

/// Pins the calling thread; a negative number leaves it where it is. Throws std::system_error.
void pin_to_cpu(int cpu);

/// The children of one measurement, in a process group of their own. The destructor kills and reaps what still runs; a
/// child dies with its parent. While a group exists, SIGINT and SIGTERM are taken by wait() instead of ending the
/// program.
class ChildGroup {
public:
    ChildGroup();
    ~ChildGroup();
    ChildGroup(const ChildGroup&) = delete;
    ChildGroup& operator=(const ChildGroup&) = delete;

    /// Forks; the child pins itself and runs `work`. What it throws goes to stderr and fails wait().
    pid_t start(int cpu, const std::function<void()>& work);

    /// Until all children ended well. Throws std::runtime_error when one did not (the others are killed), Interrupted
    /// on a signal. `tick` is called every `interval` meanwhile.
    void wait(const std::function<void()>& tick = {},
              std::chrono::milliseconds interval = std::chrono::milliseconds(250));

    /// Until this one child ended well, while the others go on.
    void wait_for(pid_t child);

    /// Kills and reaps one child on purpose; that is no failure.
    void end(pid_t child) noexcept;

private:
    bool reap_one(bool block);
    void kill_all() noexcept;

    std::vector<pid_t> children_;
    pid_t group_ = 0;
    sigset_t mask_before_{};
    std::string failure_;
};

}  // namespace ringmain::bench
