// Values as JSON.
#include "json_values.hpp"

#include "times.hpp"

namespace ringmain::cli {

nlohmann::ordered_json start_to_json(const Position& start) {
    switch (start.kind) {
        case Position::Kind::latest:
            return "latest";
        case Position::Kind::offset:
            return start.value;
        case Position::Kind::time:
            return "@" + format_time_ns(start.time_ns);
        default:
            return "earliest";
    }
}

}  // namespace ringmain::cli
