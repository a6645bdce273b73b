// What a keeper hands to its parts for one step, and what they say back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "client_table/client_table.hpp"
#include "death_oracle.hpp"
#include "keeper_events.hpp"
#include "platform/clock.hpp"
#include "retention/by_age.hpp"
#include "ringmain/keeper.hpp"

namespace ringmain {

/// A time that never comes: nothing falls due.
inline constexpr std::int64_t kNothingDue = std::numeric_limits<std::int64_t>::max();

/// Whether `at_ns` is less than `patience_ns` ago. Never is not, nor is what lies ahead: the clock went back.
[[nodiscard]] constexpr bool is_recent(std::optional<std::int64_t> at_ns, std::int64_t now_ns, std::int64_t patience_ns) noexcept {
    return at_ns && now_ns >= *at_ns && now_ns - *at_ns < patience_ns;
}

/// The time by which records age: since the machine was booted, whatever clock a keeper is driven by.
[[nodiscard]] inline retention::Moment this_moment() noexcept {
    return {static_cast<std::uint64_t>(platform::boottime_ns()), platform::boot_hash()};
}

struct KeeperStep {
    std::int64_t now_ns = 0;  ///< Monotonic.
    const client_table::ClientTable& clients;
    const DeathOracle& is_dead;
    std::uint64_t deaths = 0;  ///< How many clients are known to have died; if it grew, some may still hold something.
    KeeperReport& report;
    const KeeperEvents& events;
    retention::Moment moment = this_moment();  ///< Read before anything is looked at.

    bool changed = false;                ///< Something moved, so that more may move soon: the keeper does not slow down.
    std::int64_t due_ns = kNothingDue;   ///< When the next step must be, even if nothing changes until then.
    std::uint64_t cells_left = 1 << 16;  ///< Cells that parts may still visit, so that a step ends however many they are.

    std::uint64_t files_left = 64;       ///< Files that parts may still open, or remove.
    [[nodiscard]] bool grant_file() noexcept {
        if (files_left == 0) return false;
        --files_left;
        return true;
    }

    void due_at(std::int64_t at_ns) noexcept { due_ns = std::min(due_ns, at_ns); }

    /// How many of `wanted` cells a part may visit; some for everybody, also for the last of many.
    [[nodiscard]] std::uint64_t grant_cells(std::uint64_t wanted) noexcept {
        constexpr std::uint64_t kAtLeast = 64;
        const std::uint64_t granted = std::min(wanted, std::max(cells_left, kAtLeast));
        cells_left -= std::min(cells_left, granted);
        return granted;
    }

    /// For people: the client that an owner word names.
    [[nodiscard]] std::string client_text(std::uint64_t owner) const {
        return to_string(clients.describe(layout::ClientId::from_word(layout::client_of(owner))));
    }
};

}  // namespace ringmain
