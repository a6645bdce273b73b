// How often each kind of event happened in the keeper.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "ringmain/keeper.hpp"

namespace ringmain::daemon {

/// Thread safety: all calls from any thread.
class KeeperEventCounts {
public:
    void add(const KeeperEvent& event) noexcept {
        const auto kind = static_cast<std::size_t>(event.kind);
        if (kind < counts_.size())
            counts_[kind].fetch_add(1, std::memory_order_relaxed);  // relaxed: a figure, which orders nothing
    }
    [[nodiscard]] std::uint64_t of(KeeperEventKind kind) const noexcept {
        return counts_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);  // relaxed: see add
    }

    /// Calls `call` with each kind that there is.
    template <class Call>
    static void for_each_kind(const Call& call) {
        for (std::size_t kind = 0; kind <= static_cast<std::size_t>(KeeperEventKind::keeping_resumed); ++kind)
            call(static_cast<KeeperEventKind>(kind));
    }

private:
    std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(KeeperEventKind::keeping_resumed) + 1> counts_{};
};

}  // namespace ringmain::daemon
