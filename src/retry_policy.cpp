// Names of what becomes of records that failed for the last time.
#include "ringmain/retry_policy.hpp"

namespace ringmain {

std::string_view to_string(Exhausted exhausted) noexcept {
    switch (exhausted) {
        case Exhausted::dead_letter: return "dead_letter";
        case Exhausted::skip: return "skip";
        case Exhausted::stop: return "stop";
    }
    return "unknown";
}

}  // namespace ringmain
