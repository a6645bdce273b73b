// What killed creations, resets and deletions of queues left in a topic's `queues`.
#pragma once

#include <cstdint>

#include "client_table/client_table.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Removes what nobody will use: what was in the making when its maker died, directories of groups that are gone or never came
/// to be, words of generations that are over. Any process may, at any time, several at once. Returns how many directories and
/// files.
std::uint64_t sweep_work_leftovers(const TopicFiles& topic, const client_table::ClientTable& clients) noexcept;

/// What it would remove. Looks only.
[[nodiscard]] std::uint64_t count_work_leftovers(const TopicFiles& topic, const client_table::ClientTable& clients) noexcept;

}  // namespace ringmain
