// What a call on the data path answers. No call on the data path throws or allocates.
#pragma once

#include <cstdint>
#include <string_view>

#include "ringmain/export.hpp"

namespace ringmain {

/// The answer of a data-path call. Set-up calls throw `Error` instead.
enum class [[nodiscard]] Status : std::uint8_t {
    ok,                ///< Done.
    would_block,       ///< A `block` topic is full: a gate or an extent holds it. Try again after the reader moved on.
    too_large,         ///< The record or batch is over a limit of the topic; nothing was reserved.
    invalid,           ///< An argument can never be right (no such partition, header name too long); nothing was reserved.
    exhausted,         ///< Every cell met was quarantined: dead producers and no keeper for a whole lap. Run a keeper.
    cannot_attach,     ///< The partition cannot be attached to now (busy, no slot, no rights); Producer::attach says why.
    loan_outstanding,  ///< The producer's extent is pinned by an unpublished loan. Publish or drop the loan first.
    topic_deleted,     ///< The topic was deleted; the handle is dead. Open it again if it was created anew.
    forked,            ///< The handle was inherited through fork(). Open a handle of your own.
    misuse,            ///< The handle is in use by another thread at this moment.
    evicted,           ///< The member was taken out of its group, and its partitions went to others. The next poll joins again.
    fenced_instance,   ///< Another process joined with this member's static name. This one does not come back by itself.
    group_deleted,     ///< The group was deleted, or the topic with it. Subscribe again to begin anew.
    position_lost,     ///< The group's position was lost to retention, and its policy is to wait for somebody to seek.
    commit_refused,    ///< See the partitions of the result.
    duplicate,         ///< The sequence is not above the last one of this producer's name in the partition: it is in the log, or passed.
    no_group,          ///< The consumer has no group.
    corrupt,           ///< Shared bytes contradict the layout. Run `ringmain verify`.
    not_attempted,     ///< Nothing is wrong with this record: another one of its batch stopped the batch before it.
};

/// The name of a status, as written in the enumeration.
RINGMAIN_API std::string_view to_string(Status status) noexcept;

}  // namespace ringmain
