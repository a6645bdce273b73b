// Explanations of statuses.
#include "status_text.hpp"

#include <fmt/core.h>

#include <string_view>

namespace ringmain::cli {

namespace {

std::string_view meaning(Status status) noexcept {
    switch (status) {
        case Status::ok:
            return "done";
        case Status::would_block:
            return "the topic is full and something holds its oldest records";
        case Status::too_large:
            return "larger than the topic's largest record";
        case Status::invalid:
            return "a partition or header that cannot be";
        case Status::exhausted:
            return "every cell is held by a dead producer; run ringmaind, or any keeper";
        case Status::loan_outstanding:
            return "a loan is outstanding";
        case Status::topic_deleted:
            return "the topic was deleted meanwhile";
        case Status::forked:
            return "the handle was inherited through fork";
        case Status::cannot_attach:
            return "the partition takes no further producer: all slots are held, or one is exclusive";
        case Status::misuse:
            return "the handle is in use by another thread";
        case Status::evicted:
            return "this member was silent for too long, and its partitions went to others";
        case Status::fenced_instance:
            return "another process joined with this member's static name";
        case Status::group_deleted:
            return "the group was deleted meanwhile";
        case Status::position_lost:
            return "the group's position was lost to retention; 'ringmain group reset' moves it";
        case Status::commit_refused:
            return "a partition's position could not be committed";
        case Status::duplicate:
            return "the producer's name has this sequence, or a later one, in the log already";
        case Status::no_group:
            return "the consumer has no group";
        case Status::corrupt:
            return "the topic's files contradict themselves; run 'ringmain verify'";
        case Status::not_attempted:
            return "another record of its batch stopped the batch";
    }
    return "unknown status";
}

}  // namespace

std::string explain(Status status) { return fmt::format("{}: {}", to_string(status), meaning(status)); }

}  // namespace ringmain::cli
