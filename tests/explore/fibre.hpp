// A thread of an execution: a stack of its own on the one thread of the operating system, entered and left by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace ringmain::explore {

/// What runs on it may be abandoned at any time it has paused: nothing is unwound.
class Fibre {
public:
    Fibre();
    Fibre(const Fibre&) = delete;
    Fibre& operator=(const Fibre&) = delete;

    /// What every later start() runs.
    void set_work(std::function<void()> work) { work_ = std::move(work); }
    /// The next resume() begins the work anew.
    void start() noexcept;
    /// Goes on until the work pauses or ends. True: it ended.
    bool resume() noexcept;
    /// Back to whoever resumed. Only from within.
    void pause() noexcept;

private:
    using Place = void* [5];  // what __builtin_setjmp needs
    static constexpr std::size_t kStackBytes = std::size_t{256} << 10;

    static void enter(unsigned high, unsigned low);
    [[noreturn]] void run();
    void begin(Place& from) noexcept;
    static void change(Place& from, Place& to) noexcept;
    [[noreturn]] static void jump(Place& to) noexcept;

    std::function<void()> work_;
    std::unique_ptr<std::byte[]> stack_;
    Place inside_{};
    Place outside_{};
    bool on_stack_ = false;  // inside_ is where the work paused, or where it waits to begin anew
    bool waiting_ = false;   // at the end of the work
    bool ended_ = true;
};

}  // namespace ringmain::explore
