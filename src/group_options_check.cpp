// What a member may ask for.
#include "group_options_check.hpp"

#include <chrono>
#include <string>

#include "error_about.hpp"
#include "ringmain/dead_letters.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain {

namespace {

[[noreturn]] void refuse(const std::string& object, const std::string& what) {
    throw error_about(ErrorCode::invalid_argument, object, what);
}

void check_start(const Position& start) {
    if (start.kind == Position::Kind::last || start.kind == Position::Kind::committed) {
        refuse("start", "of a group is earliest, latest, an offset or a time");
    }
    if (start.kind == Position::Kind::offset && start.value > kOffsetMax) {
        refuse("start offset " + std::to_string(start.value), "is outside 0.." + std::to_string(kOffsetMax));
    }
}

}  // namespace

void check_group_options(const GroupOptions& options) {
    using namespace std::chrono_literals;
    if (options.name.empty() || options.name.size() > kGroupNameBytesMax) {
        refuse("group '" + options.name + "'", "cannot be: a name has 1 to " + std::to_string(kGroupNameBytesMax) +
                                                   " bytes, this one " + std::to_string(options.name.size()));
    }
    if (options.name == kDeadLettersGroup)
        refuse("group '" + options.name + "'", kReservedGroupText);
    if (options.static_name.size() > kStaticNameBytesMax) {
        refuse("static name '" + options.static_name + "'", "has " + std::to_string(options.static_name.size()) +
                                                                " bytes; at most " +
                                                                std::to_string(kStaticNameBytesMax));
    }
    if (options.session_timeout < 100ms || options.session_timeout > 1h) {
        refuse("session_timeout",
               "of " + std::to_string(options.session_timeout.count()) + " ms is outside 100..3600000");
    }
    if (options.lag_time_max < 0ms)
        refuse("lag_time_max", "of " + std::to_string(options.lag_time_max.count()) + " ms is negative");
    if (!options.gating && (options.lag_records_max != 0 || options.lag_time_max != 0ms)) {
        refuse(options.lag_records_max != 0 ? "lag_records_max" : "lag_time_max",
               "says when a gating group is let go, and group '" + options.name + "' does not gate");
    }
    check_start(options.start);
}

}  // namespace ringmain
