// Names of what groups answer.
#include "ringmain/group.hpp"

namespace ringmain {

std::string_view to_string(Delivery delivery) noexcept {
    switch (delivery) {
        case Delivery::at_least_once:
            return "at_least_once";
        case Delivery::at_most_once:
            return "at_most_once";
        case Delivery::manual:
            return "manual";
    }
    return "unknown";
}

std::string_view to_string(OnLoss policy) noexcept {
    switch (policy) {
        case OnLoss::error:
            return "error";
        case OnLoss::earliest:
            return "earliest";
        case OnLoss::latest:
            return "latest";
    }
    return "unknown";
}

std::string_view to_string(CommitOutcome outcome) noexcept {
    switch (outcome) {
        case CommitOutcome::committed:
            return "committed";
        case CommitOutcome::not_applied:
            return "not_applied";
        case CommitOutcome::stale:
            return "stale";
        case CommitOutcome::beyond_position:
            return "beyond_position";
        case CommitOutcome::fenced:
            return "fenced";
        case CommitOutcome::not_assigned:
            return "not_assigned";
    }
    return "unknown";
}

}  // namespace ringmain
