// How a stage waits for what its children do: with an eye on them, and not for ever.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

namespace ringmain::cli::demo {

class Waiting {
public:
    /// `meanwhile` is called at each tick: looks after the children, shows progress; what it throws ends the waiting.
    /// `patience`: for anything that takes milliseconds unless something is wrong.
    Waiting(std::chrono::milliseconds tick, std::chrono::seconds patience, std::function<void()> meanwhile)
        : tick_(tick), patience_(patience), meanwhile_(std::move(meanwhile)) {}

    /// Throws std::runtime_error if `reached` does not come true within `limit`, or the user interrupts.
    void until(std::string_view what, std::chrono::nanoseconds limit, const std::function<bool()>& reached) const;
    /// Asks a child for a look at something, and waits until it is taken.
    void for_look(std::string_view what, std::atomic<std::uint32_t>& wanted, const std::atomic<std::uint32_t>& taken) const;

private:
    std::chrono::milliseconds tick_;
    std::chrono::seconds patience_;
    std::function<void()> meanwhile_;
};

}  // namespace ringmain::cli::demo
