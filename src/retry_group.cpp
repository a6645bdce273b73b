// The stream group whose failures are retried: found, or made with what its retries need.
#include "retry_group.hpp"

#include "dead_letter_topic.hpp"
#include "error_about.hpp"
#include "group_member.hpp"
#include "group_table/creation.hpp"
#include "retries_moved.hpp"
#include "retry_options.hpp"
#include "work_creation.hpp"
#include "work_settings.hpp"

namespace ringmain {

namespace {

using Memory = platform::HostMemory;

/// Throws Error mismatch for a queue's name.
std::optional<group_table::GroupRef> find_stream_group(const TopicFiles& topic, const std::string& name) {
    const auto found = group_table::GroupCreation<Memory>(topic.groups(), 0).find(name);
    if (found.status != group_table::FindStatus::found)
        return std::nullopt;
    if (group_table::read_options(topic.groups(), found.group.slot).kind == group_table::GroupKind::queue) {
        throw error_about(ErrorCode::mismatch, group_text(name, topic.name()),
                          "is a work queue: its records are acquired by workers, and retried by its own rules");
    }
    return found.group;
}

WorkFiles open_same(const std::shared_ptr<const TopicFiles>& topic, group_table::GroupRef group,
                    const std::string& name, const RetryOptions& options) {
    WorkFiles files(topic, group, name, platform::Access::read_write);
    check_same_retries(topic->name(), name, files.settings(), options);
    return files;
}

}  // namespace

WorkFiles provide_retries(const std::shared_ptr<Broker::Impl>& broker, const std::shared_ptr<const TopicFiles>& topic,
                          const GroupOptions& group, const RetryOptions& options) {
    if (const auto found = find_stream_group(*topic, group.name); found && has_retries(*topic, *found))
        return open_same(topic, *found, group.name, options);
    // what speaks against the dead letters does so before there is a group, which perhaps would hold producers back
    layout::WorkSettings settings = work_settings_of(options);
    if (options.exhausted == Exhausted::dead_letter) {
        const DeadLetterTopic letters =
            provide_dead_letter_topic(broker, *topic, group.name, options.dead_letter_topic);
        set_letters(settings, letters.name, letters.id, letters.partitions);
    }
    GroupMember::Nobody nobody;
    const GroupMember made(broker, topic, group, GroupMember::Role::bystander, nobody);
    NewWork work{made.group(), settings, window_max(topic->options()), {}};
    work.generations.assign(topic->options().partitions, 0);
    (void)make_work(*topic, broker->work_name(), work);  // exists: another first runner was faster
    return open_same(topic, made.group(), group.name, options);
}

}  // namespace ringmain
