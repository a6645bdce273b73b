// What consumers and workers of queues may ask for alike.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "error_about.hpp"

namespace ringmain {

/// Throws Error invalid_argument (option, value, range).
inline void check_reading(std::chrono::nanoseconds patience, std::size_t buffer_bytes) {
    using namespace std::chrono_literals;
    if (patience < 1us || patience > 1s) {
        throw error_about(ErrorCode::invalid_argument, "patience",
                          "of " + std::to_string(patience.count()) + " ns is outside 1000..1000000000");
    }
    if (buffer_bytes == 0 || buffer_bytes > (std::size_t{1} << 40)) {
        throw error_about(ErrorCode::invalid_argument, "buffer_bytes",
                          "of " + std::to_string(buffer_bytes) + " is outside 1..1099511627776");
    }
}

}  // namespace ringmain
