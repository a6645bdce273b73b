// The broker directory itself: made with the rights that the configuration gives it.
#pragma once

#include "configuration.hpp"
#include "ringmain/broker.hpp"

namespace ringmain::daemon {

/// Opens the directory, or makes it a broker. If `access` is given, a new one can be entered by nobody else until
/// set_directory_access has been called. Throws Error as Broker does.
[[nodiscard]] Broker open_place(const Configuration& configuration);

/// Gives the directory and what the broker itself has in it (not its topics) owner, group and mode; files that carry
/// locks are readable only for those who may write them. False: it was so already. Throws Error permission_denied, io.
bool set_directory_access(const std::filesystem::path& directory, const TopicAccess& access);

}  // namespace ringmain::daemon
