// What `ringmain stats` shows.
#pragma once

#include <string>

#include "ringmain/stats.hpp"

namespace ringmain::cli {

/// The broker in a few lines, then tables of partitions, groups and clients.
/// `of_all`: nobody asked for some topics alone.
[[nodiscard]] std::string stats_to_text(const BrokerStats& stats, bool of_all = true);

/// Everything, as one JSON object on one line. What is not known is null.
[[nodiscard]] std::string stats_to_json(const BrokerStats& stats, bool of_all = true);

// Parts that `ringmain top` shows, too.
/// "pid 4711", "client 3" if its pid is not known.
[[nodiscard]] std::string name_of(const ClientStats& client);
/// "alive", "stopped", "dead", "unknown".
[[nodiscard]] std::string state_of(const ClientStats& client);
/// "no keeper runs", "a keeper runs, pid 4711", ...
[[nodiscard]] std::string describe_keeper(const KeeperStats& keeper);

}  // namespace ringmain::cli
