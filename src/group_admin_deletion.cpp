// Deleting groups, and who is in the way of it.
#include "death_oracle.hpp"
#include "error_about.hpp"
#include "group_admin_impl.hpp"
#include "group_table/eviction.hpp"
#include "group_table/sweeping.hpp"
#include "platform/futex.hpp"
#include "queue_opening.hpp"
#include "ringmain/dead_letters.hpp"
#include "work_creation.hpp"

namespace ringmain {

namespace {

std::string name_of(const GroupMemberDescription& member) {
    const std::string client = member.client ? to_string(*member.client) : std::string("closed, expected back");
    return member.static_name.empty() ? client : "'" + member.static_name + "' (" + client + ")";
}

}  // namespace

void GroupAdmin::Impl::refuse_members(const AdminTopic& topic, group_table::GroupRef group, std::string_view what) const {
    group_table::evict_dead(topic.groups(), group.slot, DeathOracle(broker_->clients()));
    const auto view = group_table::view_group(topic.groups(), group.slot);
    if (!view || view->group != group || view->set.live == 0) return;
    std::string names;
    for (const group_table::MemberView& member : view->members) {
        if (member.in_set) names.append(names.empty() ? "" : ", ").append(name_of(describe_member(member)));
    }
    throw error_about(ErrorCode::busy, group_text(view->name, topic.name()),
                      "has members: " + names + "; to " + std::string(what) + " all the same, force it");
}

void GroupAdmin::Impl::wake(const AdminTopic& topic, group_table::GroupRef group) noexcept {
    platform::futex_wake_all(topic.groups().group(group.slot).wake);
}

void GroupAdmin::Impl::remove(std::string_view topic_name, std::string_view group, bool force) {
    AdminTopic& topic = open(topic_name);
    const group_table::GroupRef ref = find(topic, group);
    refuse_queue(topic.files(), ref, group, "ringmain queue delete");
    if (group == kDeadLettersGroup) {
        throw error_about(ErrorCode::invalid_argument, group_text(group, topic_name),
                          "keeps the topic's dead letters and says which are settled: it ends with its topic; to be rid of the letters "
                          "purge them ('ringmain dlq purge')");
    }
    check_writable(topic);
    for (;;) {
        if (!force) refuse_members(topic, ref, "delete it");
        const auto status = group_table::delete_group(topic.groups(), ref, force);
        if (status == group_table::DeleteStatus::has_members) continue;  // one joined since: it is named
        wake(topic, ref);
        (void)remove_work(topic.files(), ref);  // of a group with retries; what is left, a keeper sweeps
        return;
    }
}

}  // namespace ringmain
