// Runs a function in a child and stops it before and after each system call, by ptrace.
#include "support/syscall_tracer.hpp"

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <string>

namespace ringmain::test {

namespace {

constexpr int kSyscallStop = SIGTRAP | 0x80;
constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;

// A child that waits to be traced, stopped before its first system call of the body.
class Tracee {
public:
    explicit Tracee(const std::function<void()>& body) : pid_(::fork()) {
        if (pid_ < 0)
            throw std::runtime_error("fork failed");
        if (pid_ == 0)
            run(body);
        if (wait() != State::stopped || ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, kOptions) != 0) {
            throw std::runtime_error("the child cannot be traced");
        }
    }
    Tracee(const Tracee&) = delete;
    Tracee& operator=(const Tracee&) = delete;
    ~Tracee() {
        if (pid_ > 0)
            kill();
    }

    enum class State { stopped, ended };

    /// Goes on to the next stop before or after a system call.
    State next() {
        for (int signal = 0;;) {
            if (::ptrace(PTRACE_SYSCALL, pid_, nullptr, signal) != 0)
                throw std::runtime_error("ptrace failed");
            if (wait() == State::ended)
                return State::ended;
            if (WSTOPSIG(status_) == kSyscallStop)
                return State::stopped;
            signal = WSTOPSIG(status_);
        }
    }

    [[nodiscard]] std::uint64_t system_call() const {
        __ptrace_syscall_info info{};
        ::ptrace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof info, &info);
        return info.op == PTRACE_SYSCALL_INFO_ENTRY ? info.entry.nr : kNone;
    }
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};

    void kill() noexcept {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }

private:
    [[noreturn]] static void run(const std::function<void()>& body) noexcept {
        ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        ::raise(SIGSTOP);
        try {
            body();
        } catch (...) {
            ::_exit(1);
        }
        ::_exit(0);
    }

    State wait() {
        while (::waitpid(pid_, &status_, 0) < 0) {
            if (errno != EINTR)
                throw std::runtime_error("waitpid failed");
        }
        if (WIFSTOPPED(status_))
            return State::stopped;
        pid_ = -1;
        if (!WIFEXITED(status_) || WEXITSTATUS(status_) != 0) {
            throw std::runtime_error("the traced child failed, status " + std::to_string(status_));
        }
        return State::ended;
    }

    pid_t pid_;
    int status_ = 0;
};

}  // namespace

bool can_trace() {
    try {
        return !system_calls_of([] {}).empty();
    } catch (const std::runtime_error&) {
        return false;
    }
}

bool run_killed_at(std::uint64_t stop, const std::function<void()>& body) {
    Tracee child(body);
    for (std::uint64_t i = 0; i <= stop; ++i) {
        if (child.next() == Tracee::State::ended)
            return false;
    }
    child.kill();
    return true;
}

std::vector<std::uint64_t> system_calls_of(const std::function<void()>& body) {
    std::vector<std::uint64_t> calls;
    Tracee child(body);
    while (child.next() == Tracee::State::stopped) {
        if (const std::uint64_t call = child.system_call(); call != Tracee::kNone)
            calls.push_back(call);
    }
    return calls;
}

}  // namespace ringmain::test
