// A tracer that stops its child at each system call and counts those between two marks.
#include "bench/common/system_calls.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <stdexcept>

#include "bench/common/contest.hpp"

namespace ringmain::bench {
namespace {

constexpr int kSystemCallStop = SIGTRAP | 0x80;
constexpr int kNotTraceable = 77;

/// A call that the library has no reason to make.
void mark() noexcept { ::syscall(SYS_getppid); }

[[noreturn]] void run_traced(const std::function<void()>& prepare, const std::function<void()>& work) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0)
        ::_exit(kNotTraceable);
    ::raise(SIGSTOP);
    try {
        prepare();
        mark();
        work();
        mark();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "traced process: %s\n", error.what());
        std::fflush(stderr);
        ::_exit(1);
    }
    ::_exit(0);
}

/// The traced child; killed and reaped if it still is there.
class Traced {
public:
    explicit Traced(pid_t child) noexcept : child_(child) {}
    ~Traced() {
        if (ended_)
            return;
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
    }
    Traced(const Traced&) = delete;
    Traced& operator=(const Traced&) = delete;

    /// Lets it run to its next stop. False once it has ended; `status()` says how.
    bool next_stop() noexcept {
        ended_ = ::waitpid(child_, &status_, 0) != child_ || WIFEXITED(status_) || WIFSIGNALED(status_);
        return !ended_;
    }
    void resume(int signal) noexcept { ::ptrace(PTRACE_SYSCALL, child_, nullptr, signal); }
    [[nodiscard]] int status() const noexcept { return status_; }
    [[nodiscard]] pid_t pid() const noexcept { return child_; }

private:
    pid_t child_;
    int status_ = 0;
    bool ended_ = false;
};

/// The number of the system call that the child is about to make, or nothing at the end of one.
bool entering(pid_t child, std::uint64_t& number) {
    __ptrace_syscall_info info{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) < 0) {
        throw Skipped("the kernel does not tell system calls to tracers");
    }
    number = info.entry.nr;
    return info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

std::uint64_t count_between_marks(Traced& child) {
    std::uint64_t marks = 0;
    std::uint64_t calls = 0;
    while (child.next_stop()) {
        int signal = WSTOPSIG(child.status());
        if (signal == kSystemCallStop) {
            signal = 0;
            std::uint64_t number = 0;
            if (entering(child.pid(), number)) {
                if (number == SYS_getppid) {
                    ++marks;
                } else if (marks == 1) {
                    ++calls;
                }
            }
        }
        child.resume(signal);
    }
    if (!WIFEXITED(child.status()) || WEXITSTATUS(child.status()) != 0 || marks != 2) {
        throw std::runtime_error("the traced process failed");
    }
    return calls;
}

}  // namespace

std::uint64_t count_system_calls(const std::function<void()>& prepare, const std::function<void()>& work) {
    std::fflush(nullptr);
    const pid_t pid = ::fork();
    if (pid < 0)
        throw std::runtime_error("fork failed");
    if (pid == 0)
        run_traced(prepare, work);
    Traced child(pid);
    if (!child.next_stop())
        throw Skipped("ptrace is not allowed here");
    constexpr long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
    if (::ptrace(PTRACE_SETOPTIONS, pid, nullptr, options) != 0)
        throw Skipped("ptrace is not allowed here");
    child.resume(0);
    return count_between_marks(child);
}

}  // namespace ringmain::bench
