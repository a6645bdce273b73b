// The public GroupAdmin, and what its subjects share: topics that are open, groups by name.
#include "ringmain/group_admin.hpp"

#include <cerrno>
#include <utility>

#include "error_about.hpp"
#include "group_admin_impl.hpp"
#include "group_table/creation.hpp"
#include "platform/files.hpp"
#include "platform/system_failure.hpp"
#include "topic_paths.hpp"

namespace ringmain {

AdminTopic::AdminTopic(std::shared_ptr<const TopicFiles> files) : files_(std::move(files)), parts_(files_->options().partitions) {}

const AdminTopic::Log& AdminTopic::log(std::uint32_t partition) {
    Part& part = parts_.at(partition);
    if (part.mapping.truncated()) part.mapping = {};
    if (!part.mapping) {
        part.mapping = files_->map_partition(partition, platform::Access::read_only);
        part.log = files_->log_in(part.mapping, partition);
    }
    return part.log;
}

void AdminTopic::look_at_file(std::uint32_t partition) {
    Part& part = parts_.at(partition);
    if (!part.mapping) return;
    try {
        const auto now = platform::shape_of(files_->partition_path(partition));
        if (!now || now->identity != part.mapping.identity() || now->bytes < part.mapping.size()) part.mapping = {};
    } catch (const Error&) {
        // it may not be looked at: nothing is known to have changed
    }
}

AdminTopic& GroupAdmin::Impl::open(std::string_view topic) {
    broker_->check_not_forked();
    const auto known = topics_.find(topic);
    if (known != topics_.end()) {
        if (!known->second.files().deleted() && known->second.files().in_place()) return known->second;
        topics_.erase(known);
    }
    return topics_.emplace(std::string(topic), AdminTopic(broker_->open_topic(topic))).first->second;
}

void GroupAdmin::Impl::forget(std::string_view topic) {
    const auto known = topics_.find(topic);
    if (known != topics_.end()) topics_.erase(known);
}

std::vector<std::string> GroupAdmin::Impl::names(std::string_view topic) const {
    if (!topic.empty()) return {std::string(topic)};
    return broker_->list_topics();
}

group_table::GroupRef GroupAdmin::Impl::find(const AdminTopic& topic, std::string_view group) {
    const auto found = group_table::GroupCreation<Memory>(topic.groups(), 0).find(group);
    if (found.status == group_table::FindStatus::found) return found.group;
    throw error_about(ErrorCode::not_found, "topic '" + topic.name() + "'", "has no consumer group '" + std::string(group) + "'");
}

GroupAdmin::Impl::View GroupAdmin::Impl::view(const AdminTopic& topic, std::string_view group) {
    for (;;) {  // again: it was deleted, and perhaps created anew, in between
        const auto ref = find(topic, group);
        auto found = group_table::view_group(topic.groups(), ref.slot);
        if (found && found->group == ref) return std::move(*found);
    }
}

void GroupAdmin::Impl::check_writable(const AdminTopic& topic) {
    if (!topic.files().groups_writable()) throw platform::system_failure("write", groups_path(topic.files().directory()), EACCES);
}

std::optional<ClientDescription> GroupAdmin::Impl::client_of(std::uint64_t word) const noexcept {
    if (word == 0) return std::nullopt;
    return broker_->clients().describe(layout::ClientId::from_word(layout::client_of(word)));
}

GroupAdmin::GroupAdmin(const Broker& broker) : impl_(std::make_unique<Impl>(broker.impl())) {}
GroupAdmin::GroupAdmin(GroupAdmin&&) noexcept = default;
GroupAdmin& GroupAdmin::operator=(GroupAdmin&&) noexcept = default;
GroupAdmin::~GroupAdmin() = default;

std::vector<GroupSummary> GroupAdmin::list(std::string_view topic) { return impl_->list(topic); }
std::vector<std::string> GroupAdmin::topics_of(std::string_view group) { return impl_->topics_of(group); }
GroupDescription GroupAdmin::describe(std::string_view topic, std::string_view group, const LagOptions& options) {
    return impl_->describe(topic, group, options);
}
std::vector<GroupLag> GroupAdmin::lag(std::string_view topic, std::string_view group, const LagOptions& options) {
    return impl_->lag(topic, group, options);
}
void GroupAdmin::remove(std::string_view topic, std::string_view group, bool force) { impl_->remove(topic, group, force); }
ResetPlan GroupAdmin::plan(std::string_view topic, std::string_view group, const ResetTarget& target) {
    return impl_->plan(topic, group, target, group_table::GroupKind::stream);
}
std::vector<PartitionResetDone> GroupAdmin::execute(const ResetPlan& plan, bool force) { return impl_->execute(plan, force); }
std::vector<LogHolder> GroupAdmin::who_blocks(std::string_view topic) { return impl_->who_blocks(topic); }

}  // namespace ringmain
