// ptrace, as little of it as single-stepping needs.
#include "crash/victim.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ringmain::crash {

namespace {

void trap() noexcept {
#if defined(__x86_64__)
    asm volatile("int3");
#else
    ::raise(SIGTRAP);
#endif
}

[[noreturn]] void be_victim(const std::function<void()>& operation, std::atomic<std::uint32_t>& done) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0)
        ::_exit(2);
    trap();
    operation();
    done.store(1, std::memory_order_release);
    trap();
    ::_exit(0);
}

// Waits until the child stops. False if it is no more.
bool wait_for_stop(pid_t pid) noexcept {
    int status = 0;
    while (::waitpid(pid, &status, 0) == -1) {
        if (errno != EINTR)
            return false;
    }
    return WIFSTOPPED(status);
}

}  // namespace

std::optional<std::string> stepping_refused() {
    std::atomic<std::uint32_t> done{0};
    Victim probe([] {}, done);
    errno = 0;
    if (probe.step(3) == 3)
        return std::nullopt;
    return std::string("the kernel does not let a process single-step its child: ") + std::strerror(errno);
}

void stay_on_one_core() {
    const int here = ::sched_getcpu();  // where the scheduler found room
    if (here < 0)
        return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(here, &one);
    ::sched_setaffinity(0, sizeof one, &one);
}

Victim::Victim(const std::function<void()>& operation, std::atomic<std::uint32_t>& done) : done_(done) {
    pid_ = ::fork();
    if (pid_ == 0)
        be_victim(operation, done);
    if (pid_ > 0 && !wait_for_stop(pid_))
        pid_ = -1;
}

std::uint64_t Victim::step(std::uint64_t instructions) {
    for (std::uint64_t i = 0; i < instructions; ++i) {
        if (done())
            return i;
        if (pid_ <= 0 || ::ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr) != 0 || !wait_for_stop(pid_))
            return i;
    }
    return instructions;
}

bool Victim::resume() {
    if (done())
        return true;
    if (pid_ <= 0 || ::ptrace(PTRACE_CONT, pid_, nullptr, nullptr) != 0 || !wait_for_stop(pid_))
        return false;
    return done();
}

void Victim::kill() noexcept {
    if (pid_ <= 0)
        return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    // a stop that was pending may be reported before the end
    while (::waitpid(pid_, &status, 0) == pid_ && !WIFEXITED(status) && !WIFSIGNALED(status)) {
    }
    pid_ = -1;
}

}  // namespace ringmain::crash
