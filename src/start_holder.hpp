// What holds a log start back, in words.
#pragma once

#include <string>

#include "client_table/client_table.hpp"
#include "partition_log/log_start.hpp"
#include "platform/memory.hpp"

namespace ringmain {

/// For people: "group 'billing'", or "gate 'reader' of client 3, pid 4711, alive"; empty if nothing held it.
[[nodiscard]] std::string holder_to_text(const partition_log::LogMemory<platform::HostMemory>& log,
                                         const partition_log::StartMoved& moved, const client_table::ClientTable& clients);

}  // namespace ringmain
