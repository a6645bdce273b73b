// Forking, pinning and reaping of the processes that are measured.
#include "bench/common/process.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <fstream>
#include <set>
#include <system_error>

namespace ringmain::bench {
namespace {

[[noreturn]] void throw_errno(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

sigset_t waited_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

/// Names the core that a logical processor belongs to; processors of one core give the same text.
std::string core_of(int cpu) {
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
    std::string siblings;
    std::getline(file, siblings);
    return siblings.empty() ? std::to_string(cpu) : siblings;
}

[[noreturn]] void run_child(int cpu, pid_t parent, pid_t group, const std::function<void()>& work,
                            const sigset_t& mask) {
    int code = 0;
    try {
        ::setpgid(0, group);  // a Ctrl-C on the terminal is for the parent, which then ends the children
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent)
            ::_exit(1);  // the parent died before the line above
        ::sigprocmask(SIG_SETMASK, &mask, nullptr);
        pin_to_cpu(cpu);
        work();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "child process: %s\n", error.what());
        code = 1;
    }
    std::fflush(stderr);
    ::_exit(code);
}

std::string describe_end(int status) {
    if (WIFSIGNALED(status))
        return "a measured process was ended by signal " + std::to_string(WTERMSIG(status));
    return "a measured process failed with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

std::vector<int> usable_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0)
        throw_errno("sched_getaffinity");
    std::vector<int> first_of_core;
    std::vector<int> siblings;
    std::set<std::string> cores;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &set))
            continue;
        (cores.insert(core_of(cpu)).second ? first_of_core : siblings).push_back(cpu);
    }
    first_of_core.insert(first_of_core.end(), siblings.begin(), siblings.end());
    return first_of_core;
}

void pin_to_cpu(int cpu) {
    if (cpu < 0)
        return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0)
        throw_errno("sched_setaffinity");
}

ChildGroup::ChildGroup() {
    ::signal(SIGCHLD, SIG_DFL);  // an inherited SIG_IGN would reap behind our back
    const sigset_t set = waited_signals();
    ::sigprocmask(SIG_BLOCK, &set, &mask_before_);
}

ChildGroup::~ChildGroup() {
    kill_all();
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

pid_t ChildGroup::start(int cpu, const std::function<void()>& work) {
    std::fflush(nullptr);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0)
        throw_errno("fork");
    if (child == 0)
        run_child(cpu, parent, group_, work, mask_before_);
    // The first child's zombie keeps the group's number until it is reaped, so later ones can always join.
    if (group_ == 0)
        group_ = child;
    ::setpgid(child, group_);  // also here: whichever of the two runs first
    children_.push_back(child);
    return child;
}

bool ChildGroup::reap_one(bool block) {
    for (auto it = children_.begin(); it != children_.end(); ++it) {
        int status = 0;
        const pid_t ended = ::waitpid(*it, &status, block ? 0 : WNOHANG);
        if (ended == 0)
            continue;
        children_.erase(it);
        if (ended > 0 && status != 0 && failure_.empty())
            failure_ = describe_end(status);
        return true;
    }
    return false;
}

void ChildGroup::wait(const std::function<void()>& tick, std::chrono::milliseconds interval) {
    const sigset_t set = waited_signals();
    const timespec patience{interval.count() / 1000, (interval.count() % 1000) * 1'000'000};
    while (!children_.empty() && failure_.empty()) {
        if (reap_one(false))
            continue;
        const int signal = ::sigtimedwait(&set, nullptr, &patience);
        if (signal == SIGINT || signal == SIGTERM) {
            kill_all();
            throw Interrupted(signal);
        }
        if (signal < 0 && tick)
            tick();
    }
    if (failure_.empty())
        return;
    kill_all();
    throw std::runtime_error(failure_);
}

void ChildGroup::wait_for(pid_t child) {
    const sigset_t set = waited_signals();
    while (std::find(children_.begin(), children_.end(), child) != children_.end() && failure_.empty()) {
        if (reap_one(false))
            continue;
        const int signal = ::sigwaitinfo(&set, nullptr);
        if (signal == SIGINT || signal == SIGTERM) {
            kill_all();
            throw Interrupted(signal);
        }
    }
    if (failure_.empty())
        return;
    kill_all();
    throw std::runtime_error(failure_);
}

void ChildGroup::end(pid_t child) noexcept {
    const auto it = std::find(children_.begin(), children_.end(), child);
    if (it == children_.end())
        return;
    children_.erase(it);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
}

void ChildGroup::kill_all() noexcept {
    for (const pid_t child : children_)
        ::kill(child, SIGKILL);
    while (!children_.empty())
        reap_one(true);
}

}  // namespace ringmain::bench
