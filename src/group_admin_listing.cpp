// Groups, their members and partitions, as they are at this moment.
#include <algorithm>

#include "group_admin_impl.hpp"
#include "platform/clock.hpp"
#include "queue_options.hpp"
#include "topic_geometry.hpp"

namespace ringmain {

namespace {

// What others wrote for show.
std::int64_t time_of(std::uint64_t ns) noexcept { return ns > INT64_MAX ? 0 : static_cast<std::int64_t>(ns); }
std::chrono::milliseconds milliseconds_of(std::uint64_t ms) noexcept { return std::chrono::milliseconds(time_of(ms)); }

OnLoss loss_policy(std::uint8_t stored) noexcept {
    return stored <= static_cast<std::uint8_t>(OnLoss::latest) ? static_cast<OnLoss>(stored) : OnLoss::error;
}

GroupPartitionDescription describe_partition(AdminTopic& topic, const group_table::GroupView& group, std::uint32_t partition,
                                             const GroupLag& lag) {
    const group_table::PartitionView& view = group.partitions[partition];
    GroupPartitionDescription description;
    description.lag = lag;
    if (view.owned) description.owner = view.owner_slot;
    description.generation = view.word.generation;
    description.gates = view.word.gates;
    description.delivered = view.delivered;
    description.committed_ns = time_of(view.committed_ns);
    description.owned_ns = time_of(view.owned_ns);
    description.commits = view.commits;
    description.fenced = view.fenced;
    description.handovers = view.handovers;
    if (!view.word.gates || topic.files().options().when_full != WhenFull::block) {
        const std::uint64_t kept = retained_records(geometry_for(topic.files().options()));
        description.records_until_loss = kept - std::min(kept, description.lag.records);
    }
    return description;
}

}  // namespace

std::string_view to_string(GroupState state) noexcept {
    switch (state) {
        case GroupState::empty: return "empty";
        case GroupState::stable: return "stable";
        case GroupState::rebalancing: return "rebalancing";
        case GroupState::queue: return "queue";
    }
    return "unknown";
}

GroupState state_of(const group_table::GroupView& group) noexcept {
    if (group.options.kind == group_table::GroupKind::queue) return GroupState::queue;
    if (group.set.live == 0) return GroupState::empty;
    const bool all_owned = std::all_of(group.partitions.begin(), group.partitions.end(), [](const auto& part) { return part.owned; });
    return all_owned ? GroupState::stable : GroupState::rebalancing;
}

GroupMemberDescription GroupAdmin::Impl::describe_member(const group_table::MemberView& member) const {
    GroupMemberDescription description;
    description.slot = member.slot;
    description.incarnation = member.incarnation;
    description.in_group = member.in_set;
    description.static_name = member.static_name;
    description.client = client_of(member.client);
    description.last_poll_ns = time_of(member.last_poll_ns);
    description.session_timeout = milliseconds_of(member.session_timeout_ms);
    return description;
}

GroupDescription GroupAdmin::Impl::describe(std::string_view topic_name, std::string_view group, const LagOptions& options) {
    AdminTopic& topic = open(topic_name);
    const View found = view(topic, group);
    GroupDescription description = describe(topic, found, options, lag_in);
    add_retries(topic, found, description);
    return description;
}

std::vector<GroupDescription> GroupAdmin::Impl::describe_all(AdminTopic& topic, const LagOptions& options) const {
    const auto lag_if_readable = [](AdminTopic& of, std::uint32_t slot, std::uint32_t partition, const LagOptions& wanted, std::int64_t now_ns) {
        try {
            return lag_in(of, slot, partition, wanted, now_ns);
        } catch (const Error&) {
            GroupLag lag;
            lag.partition = partition;
            return lag;
        }
    };
    std::vector<GroupDescription> all;
    for (const View& group : group_table::view_groups(topic.groups())) all.push_back(describe(topic, group, options, lag_if_readable));
    std::sort(all.begin(), all.end(), [](const GroupDescription& a, const GroupDescription& b) { return a.name < b.name; });
    return all;
}

GroupDescription GroupAdmin::Impl::describe(AdminTopic& topic, const View& found, const LagOptions& options, LagIn lag_of) const {
    const std::int64_t now_ns = platform::realtime_ns();
    GroupDescription description;
    description.topic = topic.name();
    description.name = found.name;
    description.state = state_of(found);
    description.start = start_of(found.options);
    description.on_loss = loss_policy(found.options.loss_policy);
    description.gating = found.options.gating;
    description.lag_records_max = found.options.lag_records_max;
    description.lag_time_max = milliseconds_of(found.options.lag_ms_max);
    for (const group_table::MemberView& member : found.members) description.members.push_back(describe_member(member));
    for (std::uint32_t partition = 0; partition < topic.partitions(); ++partition) {
        description.partitions.push_back(describe_partition(topic, found, partition, lag_of(topic, found.group.slot, partition, options, now_ns)));
        const auto owner = description.partitions.back().owner;
        for (GroupMemberDescription& member : description.members) {
            if (owner == member.slot) member.partitions.push_back(partition);
        }
    }
    return description;
}

std::vector<GroupSummary> GroupAdmin::Impl::list(std::string_view topic_name) {
    constexpr LagOptions kOffsetsOnly{.time = false, .bytes_records_max = 0};
    std::vector<GroupSummary> all;
    for_each_topic(topic_name, [&](AdminTopic& topic) {
        for (const View& group : group_table::view_groups(topic.groups())) {
            GroupSummary summary{topic.name(), group.name, state_of(group), group.set.members(), group.options.gating, 0, 0};
            for (std::uint32_t partition = 0; partition < topic.partitions(); ++partition) {
                const GroupLag lag = lag_in(topic, group.group.slot, partition, kOffsetsOnly, 0);
                summary.records += lag.records;
                summary.lost += lag.lost;
            }
            all.push_back(std::move(summary));
        }
    });
    std::sort(all.begin(), all.end(), [](const GroupSummary& a, const GroupSummary& b) {
        return a.topic != b.topic ? a.topic < b.topic : a.name < b.name;
    });
    return all;
}

std::vector<std::string> GroupAdmin::Impl::topics_of(std::string_view group) {
    std::vector<std::string> topics;
    for_each_topic({}, [&](AdminTopic& topic) {
        for (const View& view : group_table::view_groups(topic.groups())) {
            if (view.name == group) topics.push_back(topic.name());
        }
    });
    return topics;
}

}  // namespace ringmain
