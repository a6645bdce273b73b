// What is decided about a group when it is created.
#pragma once

#include <cstdint>

#include "group_table/groups_memory.hpp"

namespace ringmain::group_table {

/// Whose the group's partition words are.
enum class GroupKind : std::uint8_t {
    stream,  // each is owned by a member at a time
    queue,   // nobody owns them: workers of a queue move them together (src/work_table)
};

/// Stored with the group; the first who names it decides. The table itself decides only by the first four.
struct GroupOptions {
    bool gating = false;               ///< On a block topic, log_start may not pass what the group has not committed.
    std::uint64_t lag_records_max = 0; ///< A partition further behind is let go; 0 never.
    std::uint64_t lag_ms_max = 0;      ///< So is one whose next record is older; 0 never. Judged by the keeper.
    GroupKind kind = GroupKind::stream;
    std::uint8_t loss_policy = 0;      ///< What its members do about records that were lost.
    std::uint8_t start_kind = 0;       ///< Where it began: earliest, latest, offset, time.
    std::uint64_t start_value = 0;
    friend bool operator==(const GroupOptions&, const GroupOptions&) = default;
};

/// Requires a slot that is claimed by the caller.
template <class M>
void write_options(const GroupsMemory<M>& groups, std::uint32_t slot, const GroupOptions& options) noexcept {
    auto& group = groups.group(slot);
    const std::uint64_t flags = (options.gating ? 1U : 0U) | std::uint64_t{options.loss_policy} << 8 |
                                std::uint64_t{options.start_kind} << 16 | std::uint64_t{static_cast<std::uint8_t>(options.kind)} << 24;
    group.flags.store(flags, std::memory_order_release);                          // release GROUP_FIELD
    group.lag_records.store(options.lag_records_max, std::memory_order_release);  // release GROUP_FIELD
    group.lag_ms.store(options.lag_ms_max, std::memory_order_release);            // release GROUP_FIELD
    group.start_value.store(options.start_value, std::memory_order_release);      // release GROUP_FIELD
}

/// Whether the group in the slot wants to gate.
template <class M>
[[nodiscard]] bool wants_gates(const GroupsMemory<M>& groups, std::uint32_t slot) noexcept {
    return (groups.group(slot).flags.load(std::memory_order_acquire) & 1) != 0;  // acquire GROUP_FIELD
}

/// The options of the group in the slot; the caller looks at the set again if it must be sure whose they are.
template <class M>
[[nodiscard]] GroupOptions read_options(const GroupsMemory<M>& groups, std::uint32_t slot) noexcept {
    const auto& group = groups.group(slot);
    const std::uint64_t flags = group.flags.load(std::memory_order_acquire);  // acquire GROUP_FIELD
    GroupOptions options;
    options.gating = (flags & 1) != 0;
    options.loss_policy = static_cast<std::uint8_t>(flags >> 8);
    options.start_kind = static_cast<std::uint8_t>(flags >> 16);
    options.kind = (flags >> 24 & 0xff) == 0 ? GroupKind::stream : GroupKind::queue;
    options.lag_records_max = group.lag_records.load(std::memory_order_acquire);  // acquire GROUP_FIELD
    options.lag_ms_max = group.lag_ms.load(std::memory_order_acquire);            // acquire GROUP_FIELD
    options.start_value = group.start_value.load(std::memory_order_acquire);      // acquire GROUP_FIELD
    return options;
}

}  // namespace ringmain::group_table
