// Whoever goes by offsets that cannot be waits for ever, or does to records what nobody asked for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "error_about.hpp"
#include "partition_log/control_check.hpp"
#include "partition_log/log_memory.hpp"
#include "platform/memory.hpp"

namespace ringmain {

/// The log's offsets, which do not contradict each other. Throws Error corrupt.
inline partition_log::ControlCheck sound_offsets(const partition_log::LogMemory<platform::HostMemory>& log, std::string_view topic,
                                                 std::uint32_t partition) {
    const partition_log::ControlCheck check = partition_log::check_control(log);
    if (check.sound()) return check;
    throw error_about(ErrorCode::corrupt, partition_text(topic, partition),
                      "is damaged: " + to_text(check, log.first_offset) + "; run 'ringmain verify'");
}

}  // namespace ringmain
