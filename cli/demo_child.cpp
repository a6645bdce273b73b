// Forking, watching and ending the demo's children, each by its process id.
#include "demo_child.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace ringmain::cli::demo {

namespace {

[[noreturn]] void run_child(pid_t parent, ErrorText& error, const std::function<void()>& work) noexcept {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)
        ::_exit(1);             // it died before the line above
    ::signal(SIGINT, SIG_IGN);  // the terminal sends it to all; the parent ends the children in order
    ::signal(SIGTERM, SIG_DFL);
    ::signal(SIGHUP, SIG_DFL);
    try {
        work();
    } catch (const std::exception& failure) {
        set_text(error, failure.what());
        ::_exit(1);
    }
    ::_exit(0);  // the parent's objects, and its buffered output, are not ours to destroy
}

}  // namespace

Child::Child(std::string name, ErrorText& error, const std::function<void()>& work)
    : name_(std::move(name)), error_(&error) {
    const pid_t parent = ::getpid();
    std::fflush(nullptr);
    pid_ = ::fork();
    if (pid_ < 0)
        throw std::system_error(errno, std::generic_category(), "demo: fork of the " + name_);
    if (pid_ == 0)
        run_child(parent, error, work);
}

Child::Child(Child&& other) noexcept
    : name_(std::move(other.name_)), pid_(std::exchange(other.pid_, -1)), error_(other.error_) {}

Child& Child::operator=(Child&& other) noexcept {
    if (this != &other) {
        kill();
        name_ = std::move(other.name_);
        pid_ = std::exchange(other.pid_, -1);
        error_ = other.error_;
    }
    return *this;
}

Child::~Child() { kill(); }

bool Child::ended() {
    if (!running())
        return true;
    int status = 0;
    const pid_t waited = ::waitpid(pid_, &status, WNOHANG);
    if (waited == 0 || (waited < 0 && errno == EINTR))
        return false;
    pid_ = -1;
    if (waited > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    throw std::runtime_error(describe_end(waited > 0 ? status : 0));
}

void Child::kill(const std::function<void()>& before) noexcept {
    if (!running())
        return;
    if (before)
        before();
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
}

bool Child::stop() noexcept {
    if (!running())
        return false;
    ::kill(pid_, SIGSTOP);
    siginfo_t state{};
    while (::waitid(P_PID, static_cast<id_t>(pid_), &state, WSTOPPED | WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    return state.si_code == CLD_STOPPED;
}

void Child::resume() noexcept {
    if (running())
        ::kill(pid_, SIGCONT);
}

std::string Child::describe_end(int status) const {
    if (WIFSIGNALED(status)) {
        return fmt::format("demo: the {} was ended by signal {} ({})", name_, WTERMSIG(status),
                           ::strsignal(WTERMSIG(status)));
    }
    return fmt::format("demo: the {} failed: {}", name_, (*error_)[0] != '\0' ? error_->data() : "it did not say why");
}

}  // namespace ringmain::cli::demo
