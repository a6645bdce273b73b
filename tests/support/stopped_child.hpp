// A child that stops itself with SIGSTOP once it has what it should hold: until its test kills it or lets it go on.
#pragma once

#include <sys/wait.h>

#include <csignal>
#include <functional>
#include <stdexcept>

#include "support/child.hpp"

namespace ringmain::test {

/// Returns once the child is stopped.
class StoppedChild {
public:
    /// `body` sets up what the child holds, and calls `stop()`; what it owns lives as long as the child.
    explicit StoppedChild(const std::function<void(const std::function<void()>& stop)>& body)
        : child_([&] {
              body([] { ::raise(SIGSTOP); });
              return 0;
          }) {
        int status = 0;
        if (::waitpid(child_.pid(), &status, WUNTRACED) != child_.pid() || !WIFSTOPPED(status))
            throw std::runtime_error("the child ended before it stopped");
    }

    [[nodiscard]] pid_t pid() const noexcept { return child_.pid(); }
    void kill() noexcept { child_.kill(); }
    /// Lets it go on to its end.
    int finish() noexcept {
        child_.signal(SIGCONT);
        return child_.wait();
    }

private:
    Child child_;
};

}  // namespace ringmain::test
