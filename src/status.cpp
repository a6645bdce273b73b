// Names of what a data-path call answers.
#include "ringmain/status.hpp"

namespace ringmain {

std::string_view to_string(Status status) noexcept {
    switch (status) {
        case Status::ok:
            return "ok";
        case Status::would_block:
            return "would_block";
        case Status::too_large:
            return "too_large";
        case Status::invalid:
            return "invalid";
        case Status::exhausted:
            return "exhausted";
        case Status::cannot_attach:
            return "cannot_attach";
        case Status::loan_outstanding:
            return "loan_outstanding";
        case Status::topic_deleted:
            return "topic_deleted";
        case Status::forked:
            return "forked";
        case Status::misuse:
            return "misuse";
        case Status::evicted:
            return "evicted";
        case Status::fenced_instance:
            return "fenced_instance";
        case Status::group_deleted:
            return "group_deleted";
        case Status::position_lost:
            return "position_lost";
        case Status::commit_refused:
            return "commit_refused";
        case Status::duplicate:
            return "duplicate";
        case Status::no_group:
            return "no_group";
        case Status::corrupt:
            return "corrupt";
        case Status::not_attempted:
            return "not_attempted";
    }
    return "unknown";
}

}  // namespace ringmain
