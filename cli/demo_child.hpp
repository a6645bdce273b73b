// A forked child that cannot outlive its parent, nor the object that stands for it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "demo_board.hpp"

namespace ringmain::cli::demo {

class Child {
public:
    Child() = default;
    /// Forks; the child runs `work` and exits with 0, or with 1 after leaving what it threw in `error`.
    /// Requires: one thread, and no open broker in this process. Throws std::system_error.
    Child(std::string name, ErrorText& error, const std::function<void()>& work);
    Child(Child&& other) noexcept;
    Child& operator=(Child&& other) noexcept;
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    /// Kills and waits for what still runs.
    ~Child();

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] bool running() const noexcept { return pid_ > 0; }

    /// Looks whether it has ended. Throws std::runtime_error saying how if it ended badly.
    bool ended();
    /// SIGKILL; returns once the kernel says that it is dead. `before`: called right before the signal.
    void kill(const std::function<void()>& before = {}) noexcept;
    /// SIGSTOP; returns once the kernel says that it stands still. False: it has ended.
    bool stop() noexcept;
    /// SIGCONT.
    void resume() noexcept;

private:
    [[nodiscard]] std::string describe_end(int status) const;

    std::string name_;
    pid_t pid_ = -1;
    const ErrorText* error_ = nullptr;
};

}  // namespace ringmain::cli::demo
