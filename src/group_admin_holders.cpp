// What holds the log start of a `block` topic back: groups that gate, and readers with a gate of their own.
#include <algorithm>

#include "damage.hpp"
#include "gate_table/gate_table.hpp"
#include "group_admin_impl.hpp"
#include "partition_log/reader.hpp"
#include "platform/clock.hpp"
#include "ringmain/dead_letters.hpp"

namespace ringmain {

namespace {

using Memory = AdminTopic::Memory;
using Log = AdminTopic::Log;

/// Behind: the end is read after the offset, so nothing is negative.
LogHolder holder_at(const AdminTopic& topic, std::uint32_t partition, const Log& log, std::uint64_t offset, std::int64_t now_ns) {
    const partition_log::Reader<Memory> reader(log);
    LogHolder holder;
    holder.topic = topic.name();
    holder.partition = partition;
    holder.offset = offset;
    holder.log_start = reader.log_start();
    holder.log_end = reader.log_end();
    holder.records = holder.log_end - std::min(holder.log_end, offset);
    holder.time = age_of_first(log, std::max(offset, holder.log_start), holder.log_end, now_ns);
    return holder;
}

/// A producer that finds no room moves the log start up to the lowest holder first.
std::uint64_t room_behind(const Log& log, const LogHolder& lowest) noexcept {
    const std::uint64_t room = log.records - log.slack;
    const std::uint64_t kept_from = std::min(std::max(lowest.log_start, lowest.offset), lowest.log_end);
    return room - std::min(room, lowest.log_end - kept_from);
}

const group_table::MemberView* owner_of(const group_table::GroupView& group, const group_table::PartitionView& part) {
    if (!part.owned) return nullptr;
    const auto found = std::find_if(group.members.begin(), group.members.end(),
                                    [&](const group_table::MemberView& member) { return member.slot == part.owner_slot; });
    return found == group.members.end() ? nullptr : &*found;
}

}  // namespace

void GroupAdmin::Impl::add_holders(AdminTopic& topic, std::uint32_t partition, const std::vector<View>& groups,
                                   std::vector<LogHolder>& holders) const {
    const Log& log = topic.log(partition);
    const std::int64_t now_ns = platform::realtime_ns();
    const std::size_t first = holders.size();
    for (const View& group : groups) {
        const group_table::PartitionView& part = group.partitions[partition];
        if (!part.word.gates) continue;
        LogHolder& holder = holders.emplace_back(holder_at(topic, partition, log, part.word.committed, now_ns));
        holder.name = group.name;
        holder.group = true;
        holder.queue = group.options.kind == group_table::GroupKind::queue;
        holder.letters = group.name == kDeadLettersGroup;
        holder.delivered = part.delivered;
        holder.since_ns = part.committed_ns > INT64_MAX ? 0 : static_cast<std::int64_t>(part.committed_ns);
        if (const group_table::MemberView* owner = owner_of(group, part)) {
            holder.static_name = owner->static_name;
            holder.client = client_of(owner->client);
        }
    }
    const gate_table::GateTable<Memory> gates(log.readers);
    for (std::uint32_t i = 0; i < layout::kGatesMax; ++i) {
        const std::uint64_t owner = gates.owner(i);
        const std::uint64_t word = gates.word(i);
        if (!layout::has_begun(owner) || !gates.held(word)) continue;
        LogHolder& holder = holders.emplace_back(holder_at(topic, partition, log, gates.offset_of(word), now_ns));
        holder.name = gates.name(i);
        holder.client = client_of(owner);
    }
    const auto begin = holders.begin() + static_cast<std::ptrdiff_t>(first);
    std::stable_sort(begin, holders.end(), [](const LogHolder& a, const LogHolder& b) { return a.offset < b.offset; });
    if (begin == holders.end()) return;
    begin->lowest = true;
    const std::uint64_t room = room_behind(log, *begin);
    std::for_each(begin, holders.end(), [room](LogHolder& holder) { holder.room_records = room; });
}

std::vector<LogHolder> GroupAdmin::Impl::who_blocks(std::string_view topic_name) {
    std::vector<LogHolder> holders;
    for_each_topic(topic_name, [&](AdminTopic& topic) {
        if (topic.files().options().when_full != WhenFull::block) return;
        const std::vector<View> groups = group_table::view_groups(topic.groups());
        for (std::uint32_t partition = 0; partition < topic.partitions(); ++partition) {
            const std::size_t before = holders.size();
            try {
                add_holders(topic, partition, groups, holders);
                topic.check_whole(partition);
            } catch (const Error& error) {
                topic.files().check_whole();
                if (!is_damage(error)) throw;
                holders.resize(before);  // nobody waits for it: nobody can publish there
            }
        }
    });
    return holders;
}

}  // namespace ringmain
