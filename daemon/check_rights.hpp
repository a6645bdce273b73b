// Whether this process could give files the rights that a configuration wants for them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "ringmain/topic_options.hpp"

namespace ringmain::daemon {

/// Why files that this process makes cannot be given to the owner and the group of `access`; nothing: they can.
[[nodiscard]] std::optional<std::string> why_not_give(const TopicAccess& access);

/// The same of what is there, with the rights `found`.
[[nodiscard]] std::optional<std::string> why_not_change(const std::filesystem::path& path, const TopicAccess& found,
                                                        const TopicAccess& access);

/// Why nothing can be made in a directory; nothing: it can.
[[nodiscard]] std::optional<std::string> why_not_make_in(const std::filesystem::path& directory);

}  // namespace ringmain::daemon
