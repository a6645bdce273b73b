// What a keeper hands to its parts for one step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "client_table/client_table.hpp"
#include "death_oracle.hpp"
#include "keeper_events.hpp"
#include "ringmain/keeper.hpp"

namespace ringmain {

/// A time that never comes: nothing falls due.
inline constexpr std::int64_t kNothingDue = std::numeric_limits<std::int64_t>::max();

struct KeeperStep {
    std::int64_t now_ns = 0;  ///< Monotonic.
    const client_table::ClientTable& clients;
    const DeathOracle& is_dead;
    KeeperReport& report;
    const KeeperEvents& events;

    /// For people: the client that an owner word names.
    [[nodiscard]] std::string client_text(std::uint64_t owner) const {
        return to_string(clients.describe(layout::ClientId::from_word(layout::client_of(owner))));
    }
};

}  // namespace ringmain
