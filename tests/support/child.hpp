// A fork()ed child that runs a function, and is ended by its id whatever happens to the test.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace ringmain::test {

class Child {
public:
    /// The child's exit code is what `body` returns; 99 if it throws.
    explicit Child(const std::function<int()>& body) : pid_(::fork()) {
        if (pid_ < 0)
            throw std::runtime_error("fork failed");
        if (pid_ == 0)
            run(body);
    }
    Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
    Child& operator=(Child&&) = delete;
    ~Child() {
        if (pid_ < 0)
            return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    void signal(int number) const noexcept { ::kill(pid_, number); }

    /// SIGKILL, and waits until it is gone.
    void kill() noexcept {
        ::kill(pid_, SIGKILL);
        ::waitpid(std::exchange(pid_, -1), nullptr, 0);
    }

    /// Its exit code; 128 + signal if it was killed; -1 if it still runs after `timeout` (it is then killed).
    int wait(std::chrono::milliseconds timeout = std::chrono::seconds(30)) noexcept {
        const auto deadline = std::chrono::steady_clock::now() + timeout;
        int status = 0;
        while (::waitpid(pid_, &status, WNOHANG) == 0) {
            if (std::chrono::steady_clock::now() > deadline) {
                kill();
                return -1;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

private:
    [[noreturn]] static void run(const std::function<int()>& body) noexcept {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        int code = 99;
        try {
            code = body();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "child: %s\n", error.what());
        } catch (...) {
            std::fputs("child: something that is no std::exception was thrown\n", stderr);
        }
        ::_exit(code);
    }

    pid_t pid_;
};

}  // namespace ringmain::test
