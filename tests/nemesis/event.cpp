// Events in words.
#include "event.hpp"

#include <array>

namespace ringmain::nemesis {

const char* to_string(Role role) noexcept {
    constexpr std::array kNames{"nemesis", "producer", "member", "worker", "reader",
                                "auditor", "admin",    "keeper", "daemon"};
    return kNames.at(static_cast<std::size_t>(role));
}

const char* to_string(Event::Kind kind) noexcept {
    constexpr std::array kNames{"none",      "failed",         "invoked", "acknowledged", "refused",  "resumed",
                                "began",     "delivered",      "torn",    "gap",          "assigned", "committing",
                                "committed", "commit refused", "revoked", "lost",         "left",     "acquiring",
                                "acquired",  "settling",       "settled", "letter",       "reset",    "sampled",
                                "stopped",   "continued",      "killed",  "exited"};
    const auto index = static_cast<std::size_t>(kind);
    return index < kNames.size() ? kNames[index] : "?";
}

std::string to_string(const Event& event) {
    const bool names_record = life_of(event.id) != 0;
    return std::to_string(event.time / 1'000) + " us " + to_string(event.kind) + " topic " +
           std::to_string(event.topic) + " partition " + std::to_string(event.partition) + " offset " +
           std::to_string(event.offset) + " id " +
           (names_record ? std::to_string(life_of(event.id)) + "/" : std::string()) +
           std::to_string(names_record ? sequence_of(event.id) : event.id) + " aux " + std::to_string(event.aux) +
           " extra " + std::to_string(event.extra);
}

}  // namespace ringmain::nemesis
