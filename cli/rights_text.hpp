// Users, groups and permission bits as people write and read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ringmain/topic_options.hpp"

namespace ringmain::cli {

/// The id of a user or group with that name; nothing if this host knows none.
[[nodiscard]] std::optional<std::uint32_t> user_id(const std::string& name);
[[nodiscard]] std::optional<std::uint32_t> group_id(const std::string& name);

/// Octal digits, e.g. "0640"; nothing if there is anything else.
[[nodiscard]] std::optional<std::uint32_t> parse_mode(std::string_view text) noexcept;
[[nodiscard]] std::string mode_to_text(std::uint32_t mode);

/// What is given of it, with names where this host knows them: "owner root (0), group 4242, mode 0640".
[[nodiscard]] std::string rights_to_text(const TopicAccess& access);

/// The line of it in a description of a topic.
[[nodiscard]] std::string access_line(const TopicAccess& access);

}  // namespace ringmain::cli
