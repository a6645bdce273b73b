// Users and groups by name or number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ringmain::daemon {

/// The id of a user or group with that name; nothing if this host knows none.
[[nodiscard]] std::optional<std::uint32_t> user_id(const std::string& name);
[[nodiscard]] std::optional<std::uint32_t> group_id(const std::string& name);

}  // namespace ringmain::daemon
