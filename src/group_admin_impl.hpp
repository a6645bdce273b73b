// What the administration of groups keeps open, and what its subjects share.
//
//   group_admin.cpp           opening topics, finding groups
//   group_admin_listing.cpp   lists, descriptions
//   group_admin_lag.cpp       how far behind
//   group_admin_reset.cpp     plans, and doing them
//   group_admin_deletion.cpp  deleting, and who is in the way
//   group_admin_holders.cpp   what holds a log start back
//   group_admin_retries.cpp   retries, as their words say
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker_impl.hpp"
#include "group_table/listing.hpp"
#include "layout/work.hpp"
#include "partition_log/log_memory.hpp"
#include "platform/mapping.hpp"
#include "platform/memory.hpp"
#include "ringmain/group_admin.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// A topic and its logs, mapped read-only when first asked for. A log stays mapped while its topic lives.
class AdminTopic {
public:
    using Memory = platform::HostMemory;
    using Log = partition_log::LogMemory<Memory>;

    explicit AdminTopic(std::shared_ptr<const TopicFiles> files);

    [[nodiscard]] const TopicFiles& files() const noexcept { return *files_; }
    [[nodiscard]] const std::shared_ptr<const TopicFiles>& handle() const noexcept { return files_; }
    [[nodiscard]] const std::string& name() const noexcept { return files_->name(); }
    [[nodiscard]] const group_table::GroupsMemory<Memory>& groups() const noexcept { return files_->groups(); }
    [[nodiscard]] std::uint32_t partitions() const noexcept { return files_->options().partitions; }
    /// Throws Error as TopicFiles::map_partition.
    [[nodiscard]] const Log& log(std::uint32_t partition);
    /// Throws Error corrupt if what was read of the log, or of the topic's other files, was no file any more.
    void check_whole(std::uint32_t partition) const { files_->check_whole(parts_.at(partition).mapping, partition); }
    /// Forgets the log if its path names another file by now, or one that is too short: the next log() says what is wrong.
    void look_at_file(std::uint32_t partition);
    /// Of the file, once log() has mapped it.
    [[nodiscard]] std::uint64_t log_bytes(std::uint32_t partition) const { return parts_.at(partition).mapping.size(); }

private:
    struct Part {
        platform::Mapping mapping;
        Log log;
    };
    std::shared_ptr<const TopicFiles> files_;
    std::vector<Part> parts_;
};

class GroupAdmin::Impl {
public:
    using Memory = AdminTopic::Memory;
    using View = group_table::GroupView;

    explicit Impl(std::shared_ptr<Broker::Impl> broker) : broker_(std::move(broker)) {}

    [[nodiscard]] std::vector<GroupSummary> list(std::string_view topic);
    [[nodiscard]] std::vector<std::string> topics_of(std::string_view group);
    [[nodiscard]] GroupDescription describe(std::string_view topic, std::string_view group, const LagOptions& options);
    [[nodiscard]] std::vector<GroupLag> lag(std::string_view topic, std::string_view group, const LagOptions& options);
    void remove(std::string_view topic, std::string_view group, bool force);
    /// `kind`: what the caller means; a stream group is meant, and a queue found: throws Error mismatch.
    [[nodiscard]] ResetPlan plan(std::string_view topic, std::string_view group, const ResetTarget& target, group_table::GroupKind kind);
    std::vector<PartitionResetDone> execute(const ResetPlan& plan, bool force);
    [[nodiscard]] std::vector<LogHolder> who_blocks(std::string_view topic);

    /// The dead-letter topic that a queue or group is linked to was deleted, or is another one by now.
    [[nodiscard]] bool letters_gone(const layout::WorkSettings& settings);
    /// Throws Error not_found and as Broker::Impl::open_topic.
    [[nodiscard]] AdminTopic& open(std::string_view topic);
    void forget(std::string_view topic);
    /// All groups of the topic, by name. Partitions that cannot be read have lags of 0.
    [[nodiscard]] std::vector<GroupDescription> describe_all(AdminTopic& topic, const LagOptions& options) const;

    /// Calls `use(topic)` for the topic, or for all of them that are not deleted meanwhile.
    template <class Use>
    void for_each_topic(std::string_view topic, const Use& use);
    /// Throws Error permission_denied: resets and deletions write the groups file.
    static void check_writable(const AdminTopic& topic);
    [[nodiscard]] std::optional<ClientDescription> client_of(std::uint64_t word) const noexcept;
    [[nodiscard]] Broker::Impl& broker() const noexcept { return *broker_; }
    [[nodiscard]] const std::shared_ptr<Broker::Impl>& shared_broker() const noexcept { return broker_; }

private:
    /// `topic`, or all topics.
    [[nodiscard]] std::vector<std::string> names(std::string_view topic) const;
    /// Throws Error not_found.
    [[nodiscard]] static group_table::GroupRef find(const AdminTopic& topic, std::string_view group);
    [[nodiscard]] static View view(const AdminTopic& topic, std::string_view group);

    /// Members that are proven dead need not be waited for. Throws Error busy if others are in the group.
    void refuse_members(const AdminTopic& topic, group_table::GroupRef group, std::string_view what) const;
    /// After a change that its members should look at.
    static void wake(const AdminTopic& topic, group_table::GroupRef group) noexcept;

    using LagIn = GroupLag (*)(AdminTopic&, std::uint32_t slot, std::uint32_t partition, const LagOptions&, std::int64_t now_ns);
    [[nodiscard]] GroupDescription describe(AdminTopic& topic, const View& group, const LagOptions& options, LagIn lag_of) const;
    /// If the group has retries.
    void add_retries(AdminTopic& topic, const View& group, GroupDescription& description);
    [[nodiscard]] GroupMemberDescription describe_member(const group_table::MemberView& member) const;
    void add_holders(AdminTopic& topic, std::uint32_t partition, const std::vector<View>& groups, std::vector<LogHolder>& holders) const;

    std::shared_ptr<Broker::Impl> broker_;
    std::map<std::string, AdminTopic, std::less<>> topics_;
};

/// How far the group in the slot is behind in a partition. `now_ns`: since the Unix epoch. Throws Error as AdminTopic::log.
[[nodiscard]] GroupLag lag_in(AdminTopic& topic, std::uint32_t slot, std::uint32_t partition, const LagOptions& options,
                              std::int64_t now_ns);
/// How old the first record in [from, to) is; nothing if there is none.
[[nodiscard]] std::optional<std::chrono::milliseconds> age_of_first(const AdminTopic::Log& log, std::uint64_t from, std::uint64_t to,
                                                                    std::int64_t now_ns) noexcept;
/// Keys, values and headers of the records in [from, from + count): added up, or extrapolated from `records_max` of them.
struct RecordBytes {
    std::uint64_t bytes = 0;
    bool estimated = false;
};
[[nodiscard]] RecordBytes bytes_of_records(const AdminTopic::Log& log, std::uint64_t from, std::uint64_t count,
                                           std::uint64_t records_max) noexcept;
[[nodiscard]] GroupState state_of(const group_table::GroupView& group) noexcept;

/// Throws Error: mismatch (another topic, by now), invalid_argument (partitions missing or twice, a group that cannot be).
void check_plan(const ResetPlan& plan, const AdminTopic& topic);
/// Throws Error: invalid_argument (beyond the log end), corrupt, and, unless forced, busy (a partition is not as it was planned).
void check_targets(const ResetPlan& plan, AdminTopic& topic, bool gating, bool force);
/// Where a partition of the plan is put: its target, or where the log start, or the floor of a group that gates, may be by now.
[[nodiscard]] std::uint64_t target_now(const PartitionReset& reset, AdminTopic& topic, bool gating);

template <class Use>
void GroupAdmin::Impl::for_each_topic(std::string_view topic, const Use& use) {
    for (const std::string& name : names(topic)) {
        try {
            use(open(name));
        } catch (const Error& error) {
            const bool gone = error.code() == ErrorCode::not_found || error.code() == ErrorCode::topic_deleted;
            if (!topic.empty() || !gone) throw;
        }
    }
}

}  // namespace ringmain
