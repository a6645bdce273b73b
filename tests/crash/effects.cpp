// ptrace, as far as stopping at system calls and at accesses to shared memory needs it.
#include "crash/effects.hpp"

#if defined(__x86_64__)

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

namespace ringmain::crash {

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr int kCallStop = SIGTRAP | 0x80;
constexpr std::uint64_t kCallInstructionBytes = 2;

// What a victim executes when its tracer wants a system call of it. At the same address in parent and child.
[[gnu::naked, gnu::used]] void injected_call() { asm volatile("syscall\n int3"); }

[[noreturn]] void fail(const char* what) {
    throw std::runtime_error(std::string("ptrace: ") + what + ": " + std::strerror(errno));
}

void check(long result, const char* what) {
    if (result == -1)
        fail(what);
}

// The status that the victim stopped with; nothing if it is no more.
std::optional<int> wait_for(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) == -1) {
        if (errno != EINTR)
            return std::nullopt;
    }
    return WIFSTOPPED(status) ? std::optional(WSTOPSIG(status)) : std::nullopt;
}

std::optional<int> go(__ptrace_request how, pid_t pid, int signal = 0) {
    if (pid <= 0 || ::ptrace(how, pid, nullptr, reinterpret_cast<void*>(static_cast<std::intptr_t>(signal))) != 0)
        return std::nullopt;
    return wait_for(pid);
}

user_regs_struct registers(pid_t pid) {
    user_regs_struct values{};
    check(::ptrace(PTRACE_GETREGS, pid, nullptr, &values), "GETREGS");
    return values;
}

void set_registers(pid_t pid, const user_regs_struct& values) {
    check(::ptrace(PTRACE_SETREGS, pid, nullptr, &values), "SETREGS");
}

std::uint64_t fault_address(pid_t pid) {
    siginfo_t info{};
    check(::ptrace(PTRACE_GETSIGINFO, pid, nullptr, &info), "GETSIGINFO");
    return reinterpret_cast<std::uintptr_t>(info.si_addr);
}

std::uint64_t word_of(pid_t pid, std::uint64_t address) {
    std::uint64_t word = 0;
    const iovec here{&word, sizeof word};
    const iovec there{reinterpret_cast<void*>(address), sizeof word};
    if (::process_vm_readv(pid, &here, 1, &there, 1, 0) != static_cast<ssize_t>(sizeof word))
        fail("process_vm_readv");
    return word;
}

std::vector<std::byte> bytes_of(pid_t pid, std::uint64_t page) {
    std::vector<std::byte> bytes(kPage);
    const iovec here{bytes.data(), bytes.size()};
    const iovec there{reinterpret_cast<void*>(page), bytes.size()};
    if (::process_vm_readv(pid, &here, 1, &there, 1, 0) != static_cast<ssize_t>(kPage))
        fail("process_vm_readv");
    return bytes;
}

bool maps_shared_file(const user_regs_struct& call) noexcept {
    return call.orig_rax == SYS_mmap && (call.r10 & MAP_TYPE) != MAP_PRIVATE && (call.r10 & MAP_ANONYMOUS) == 0;
}

// Calls that change nothing but the caller: its memory, its descriptors (with the locks that they carry), what it
// knows.
bool leaves_nothing(pid_t pid, const user_regs_struct& call) {
    constexpr std::array kNothing = {SYS_mmap,
                                     SYS_munmap,
                                     SYS_mprotect,
                                     SYS_madvise,
                                     SYS_brk,
                                     SYS_mremap,
                                     SYS_membarrier,
                                     SYS_read,
                                     SYS_pread64,
                                     SYS_lseek,
                                     SYS_close,
                                     SYS_dup,
                                     SYS_fcntl,
                                     SYS_fstat,
                                     SYS_stat,
                                     SYS_lstat,
                                     SYS_newfstatat,
                                     SYS_statx,
                                     SYS_statfs,
                                     SYS_fstatfs,
                                     SYS_getdents64,
                                     SYS_access,
                                     SYS_faccessat,
                                     SYS_readlink,
                                     SYS_readlinkat,
                                     SYS_getcwd,
                                     SYS_umask,
                                     SYS_getrandom,
                                     SYS_getpid,
                                     SYS_gettid,
                                     SYS_getuid,
                                     SYS_geteuid,
                                     SYS_getgid,
                                     SYS_getegid,
                                     SYS_getgroups,
                                     SYS_clock_gettime,
                                     SYS_gettimeofday,
                                     SYS_clock_getres,
                                     SYS_nanosleep,
                                     SYS_sched_yield,
                                     SYS_clock_nanosleep,
                                     SYS_rt_sigprocmask,
                                     SYS_rt_sigaction,
                                     SYS_poll,
                                     SYS_ppoll,
                                     SYS_inotify_init1,
                                     SYS_inotify_add_watch,
                                     SYS_inotify_rm_watch,
                                     SYS_pidfd_open,
                                     SYS_epoll_create1,
                                     SYS_epoll_ctl,
                                     SYS_eventfd2,
                                     SYS_uname,
                                     SYS_sched_getaffinity,
                                     SYS_fsync,
                                     SYS_fdatasync,
                                     SYS_prctl,
                                     SYS_getppid};
    const auto number = static_cast<long>(call.orig_rax);
    constexpr std::uint64_t kMakes = O_CREAT | O_TRUNC;
    if (number == SYS_openat2)  // its flags are the first word of a structure
        return (word_of(pid, call.rdx) & kMakes) == 0;
    if (number == SYS_open)
        return (call.rsi & kMakes) == 0;
    if (number == SYS_openat)
        return (call.rdx & kMakes) == 0;
    return std::find(kNothing.begin(), kNothing.end(), number) != kNothing.end();
}

}  // namespace

std::optional<std::string> effects_refused() { return stepping_refused(); }

Effects::Effects(Victim& victim, Points points, std::span<std::byte> inherited)
    : victim_(victim), points_(points), closed_(points == Points::effects ? PROT_READ : PROT_NONE) {
    check(::ptrace(PTRACE_SETOPTIONS, victim.pid(), nullptr, PTRACE_O_TRACESYSGOOD), "SETOPTIONS");
    if (inherited.empty())
        return;
    const auto begin = reinterpret_cast<std::uintptr_t>(inherited.data());
    ranges_.push_back({begin, begin + inherited.size()});
    protect(begin, inherited.size(), closed_);
}

bool Effects::go_to_mark() {
    while (pass_one()) {
    }
    return at_mark_ && !victim_.done();
}

std::uint64_t Effects::advance(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count;) {
        const std::optional<bool> counts = pass_one();
        if (!counts)
            return i;
        if (!*counts)
            continue;
        trace_.push_back(registers(victim_.pid()).rip);
        ++i;
    }
    return count;
}

bool Effects::resume() {
    if (victim_.done())
        return true;
    for (const Range& range : ranges_)
        protect(range.begin, range.end - range.begin, PROT_READ | PROT_WRITE);
    return victim_.resume();
}

Effects::Stop Effects::run_to_stop() {
    const std::optional<int> signal = go(PTRACE_SYSCALL, victim_.pid());
    if (!signal)
        return Stop::ended;
    if (*signal == kCallStop)
        return Stop::call;
    if (*signal == SIGSEGV)
        return Stop::access;
    return *signal == SIGTRAP ? Stop::mark : Stop::ended;
}

std::optional<bool> Effects::pass_one() {
    const Stop stop = run_to_stop();
    at_mark_ = stop == Stop::mark;
    if (stop == Stop::call)
        return pass_call();
    if (stop == Stop::access)
        return pass_access();
    return std::nullopt;
}

bool Effects::pass_call() {
    const pid_t pid = victim_.pid();
    user_regs_struct call = registers(pid);
    const bool watch = maps_shared_file(call);
    if (watch) {
        call.rdx = static_cast<unsigned long long>(closed_);
        set_registers(pid, call);
    }
    if (closed_ == PROT_NONE && call.orig_rax == SYS_futex)
        throw std::runtime_error("the kernel cannot read the futex word of a victim that is stopped at loads");
    if (go(PTRACE_SYSCALL, pid) != kCallStop)
        return false;  // it ended in it, as the next look tells
    const auto result = static_cast<std::int64_t>(registers(pid).rax);
    if (watch && result > 0)
        ranges_.push_back({static_cast<std::uint64_t>(result), static_cast<std::uint64_t>(result) + call.rsi});
    return points_ == Points::accesses || !leaves_nothing(pid, call);
}

std::optional<bool> Effects::pass_access() {
    std::vector<OpenPage> opened;
    do {
        if (!open_page(fault_address(victim_.pid()), opened))
            return std::nullopt;
        const std::optional<int> signal = go(PTRACE_SINGLESTEP, victim_.pid());
        if (signal == SIGTRAP)
            return close_pages(opened) || points_ == Points::accesses;
        if (signal != SIGSEGV)
            return std::nullopt;
    } while (true);  // the access goes across the end of a page
}

// False if the fault is the victim's own.
bool Effects::open_page(std::uint64_t address, std::vector<OpenPage>& opened) {
    const std::uint64_t page = address / kPage * kPage;
    const bool again =
        std::any_of(opened.begin(), opened.end(), [page](const OpenPage& one) { return one.at == page; });
    if (again || !is_watched(address))
        return false;
    protect(page, kPage, PROT_READ | PROT_WRITE);
    opened.push_back({page, bytes_of(victim_.pid(), page)});
    return true;
}

// Says whether a byte of them is another.
bool Effects::close_pages(const std::vector<OpenPage>& opened) {
    bool changed = false;
    for (const OpenPage& page : opened) {
        changed |= bytes_of(victim_.pid(), page.at) != page.before;
        protect(page.at, kPage, closed_);
    }
    return changed;
}

bool Effects::is_watched(std::uint64_t address) const noexcept {
    return std::any_of(ranges_.begin(), ranges_.end(),
                       [address](const Range& range) { return range.begin <= address && address < range.end; });
}

// The victim does it, as nobody else can.
void Effects::protect(std::uint64_t at, std::uint64_t bytes, int rights) {
    const pid_t pid = victim_.pid();
    const user_regs_struct before = registers(pid);
    user_regs_struct call = before;
    call.rip = reinterpret_cast<std::uintptr_t>(&injected_call);
    call.orig_rax = ~0ULL;  // no call is to be restarted
    call.rax = SYS_mprotect;
    call.rdi = at;
    call.rsi = bytes;
    call.rdx = static_cast<unsigned long long>(rights);
    set_registers(pid, call);
    if (go(PTRACE_SINGLESTEP, pid) != SIGTRAP)
        fail("an injected call did not return");
    const user_regs_struct after = registers(pid);
    if (after.rip != call.rip + kCallInstructionBytes || after.rax != 0)
        fail("an injected call failed");
    user_regs_struct restored = before;
    restored.orig_rax = ~0ULL;
    set_registers(pid, restored);
}

}  // namespace ringmain::crash

#else

#include <stdexcept>

namespace ringmain::crash {

std::optional<std::string> effects_refused() { return "stopping at accesses to shared memory is written for x86-64"; }

Effects::Effects(Victim& victim, Points points, std::span<std::byte>) : victim_(victim), points_(points), closed_(0) {
    throw std::runtime_error(*effects_refused());
}
bool Effects::go_to_mark() { return false; }
std::uint64_t Effects::advance(std::uint64_t) { return 0; }
bool Effects::resume() { return false; }

}  // namespace ringmain::crash

#endif
