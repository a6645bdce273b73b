// How a stage waits for what its children do.
#include "demo_waiting.hpp"

#include <fmt/core.h>

#include <stdexcept>
#include <thread>

#include "signals.hpp"

namespace ringmain::cli::demo {

void Waiting::until(std::string_view what, std::chrono::nanoseconds limit, const std::function<bool()>& reached) const {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!reached()) {
        if (stop_requested())
            throw std::runtime_error("demo: interrupted");
        meanwhile_();
        if (std::chrono::steady_clock::now() > deadline) {
            throw std::runtime_error(
                fmt::format("demo: {} did not come within {:.0f} s", what, static_cast<double>(limit.count()) / 1e9));
        }
        std::this_thread::sleep_for(tick_);
    }
}

void Waiting::for_look(std::string_view what, std::atomic<std::uint32_t>& wanted, const std::atomic<std::uint32_t>& taken) const {
    const std::uint32_t number = wanted.load(std::memory_order_relaxed) + 1;
    wanted.store(number, std::memory_order_release);
    until(what, patience_, [&] { return taken.load(std::memory_order_acquire) == number; });
}

}  // namespace ringmain::cli::demo
