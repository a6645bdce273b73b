// Forking the guardian, and what it does all its life: it reads a pipe to its end.
#include "bench/common/guardian.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <system_error>

namespace ringmain::bench {
namespace {

[[noreturn]] void throw_errno(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

/// A session of its own, so that what ends a process group does not end it; none of the maker's files, so that nobody waits
/// for their end because of it.
void leave_company(int pipe) noexcept {
    ::setsid();
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
        ::signal(signal, SIG_IGN);
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        ::dup2(nothing, stream);
    ::dup2(pipe, STDERR_FILENO + 1);
    const auto files_max = static_cast<int>(::sysconf(_SC_OPEN_MAX));
    constexpr int kEnough = 1024;  // without close_range (Linux 5.9)
    if (::close_range(STDERR_FILENO + 2, ~0U, 0) == 0)
        return;
    for (int file = STDERR_FILENO + 2; file < std::min(files_max, kEnough); ++file)
        ::close(file);
}

[[noreturn]] void stand_guard(int pipe, const std::function<void()>& clean_up) noexcept {
    leave_company(pipe);
    char byte = 0;
    while (::read(STDERR_FILENO + 1, &byte, 1) < 0 && errno == EINTR) {
    }
    try {
        clean_up();
    } catch (const std::exception&) {
        // nobody is left to be told
    }
    ::_exit(0);
}

}  // namespace

Guardian::Guardian(const std::function<void()>& clean_up) : maker_(::getpid()) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw_errno("a pipe to the guardian");
    std::fflush(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
        ::close(ends[1]);
        stand_guard(ends[0], clean_up);
    }
    ::close(ends[0]);
    alive_ = ends[1];
    if (pid_ < 0) {
        const int failure = errno;
        ::close(alive_);
        throw std::system_error(failure, std::generic_category(), "fork of the guardian");
    }
}

Guardian::~Guardian() {
    if (::getpid() != maker_)
        return;
    ::kill(pid_, SIGKILL);  // before the pipe is closed: there is nothing left to clean up
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    ::close(alive_);
}

}  // namespace ringmain::bench
