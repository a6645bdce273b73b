// How often and when something that failed is tried again, and what becomes of it in the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "ringmain/export.hpp"

namespace ringmain {

/// Exponential: the n-th wait is first * factor^(n-1), at most `max`; each is longer or shorter by up to `jitter` of itself,
/// the same for the same record and attempt.
struct Backoff {
    std::chrono::milliseconds first{1'000};  ///< 0 to 12 h; 0: at once.
    std::chrono::milliseconds max{60'000};   ///< `first` to 12 h.
    double factor = 2.0;                     ///< 1 to 100.
    double jitter = 0.1;                     ///< 0 to 0.5.
    friend bool operator==(const Backoff&, const Backoff&) = default;
};

/// What becomes of a record that failed for the last time.
enum class Exhausted : std::uint8_t {
    dead_letter,  ///< A copy goes to the dead-letter topic, once, and then the record is finished.
    skip,         ///< It is finished, and counted.
    stop,         ///< Its partition stops until somebody acts. Stream groups only.
};
RINGMAIN_API std::string_view to_string(Exhausted exhausted) noexcept;

}  // namespace ringmain
