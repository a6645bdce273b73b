// Finding queues, and making those that do not exist.
#include "queue_opening.hpp"

#include <cerrno>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dead_letter_topic.hpp"
#include "death_oracle.hpp"
#include "error_about.hpp"
#include "group_table/creation.hpp"
#include "group_table/group_gates.hpp"
#include "partition_log/log_memory.hpp"
#include "partition_log/reader.hpp"
#include "platform/system_failure.hpp"
#include "queue_options.hpp"
#include "seek.hpp"
#include "sound_log.hpp"
#include "topic_paths.hpp"
#include "work_creation.hpp"
#include "work_leftovers.hpp"
#include "work_settings.hpp"

namespace ringmain {

namespace {

using Memory = platform::HostMemory;
using Log = partition_log::LogMemory<Memory>;
using group_table::FindStatus;
using group_table::GroupKind;
using group_table::GroupRef;

std::optional<GroupRef> find_group(const TopicFiles& topic, std::string_view name) {
    const auto found = group_table::GroupCreation<Memory>(topic.groups(), 0).find(name);
    if (found.status == FindStatus::topic_deleted)
        throw error_about(ErrorCode::topic_deleted, "topic '" + topic.name() + "'", "was deleted");
    return found.status == FindStatus::found ? std::optional(found.group) : std::nullopt;
}

bool is_queue(const TopicFiles& topic, GroupRef group) noexcept {
    return group_table::read_options(topic.groups(), group.slot).kind == GroupKind::queue;
}

/// The group, which is a queue; nothing if there is none of the name.
std::optional<GroupRef> find_queue(const TopicFiles& topic, std::string_view name) {
    for (;;) {
        const auto group = find_group(topic, name);
        if (!group)
            return std::nullopt;
        const bool queue = is_queue(topic, *group);
        if (group_table::SetWord set; !topic.groups().set_of(*group, set))
            continue;  // deleted since, and perhaps created anew
        if (queue)
            return group;
        throw error_about(ErrorCode::mismatch, group_text(name, topic.name()),
                          "is no work queue: its partitions are read by members; see 'ringmain group'");
    }
}

/// The logs of a topic's partitions, to find out where a queue begins.
class Logs {
public:
    explicit Logs(const TopicFiles& topic) {
        for (std::uint32_t partition = 0; partition < topic.options().partitions; ++partition) {
            maps_.push_back(topic.map_partition(partition, platform::Access::read_only));
            logs_.emplace_back(maps_.back().data(), geometry_of(maps_.back()), topic.readers(partition), topic.group_gates(partition));
            (void)sound_offsets(logs_.back(), topic.name(), partition);
        }
    }

    [[nodiscard]] std::vector<std::uint64_t> offsets_of(const Position& position) const {
        std::vector<std::uint64_t> offsets;
        for (const Log& log : logs_)
            offsets.push_back(resolve(partition_log::Reader<Memory>(log), position, log.records + log.slack).offset);
        return offsets;
    }

    /// A queue that gates does so from its beginning on, without workers, too. Idempotent: its creator may have died before.
    void begin_to_gate(const TopicFiles& topic, GroupRef group) const noexcept {
        if (!group_table::wants_gates(topic.groups(), group.slot))
            return;
        for (std::uint32_t partition = 0; partition < logs_.size(); ++partition) {
            if (topic.groups().word(group.slot, partition).touched)
                continue;
            (void)group_table::regate(topic.groups(), group.slot, partition, logs_[partition].control->gate_floor,
                                      group_table::BelowFloor::raise);
        }
    }

private:
    std::vector<platform::Mapping> maps_;
    std::vector<Log> logs_;
};

/// What a queue has beside the table, made before anybody can find it.
class Beside {
public:
    Beside(Broker::Impl& broker, const TopicFiles& topic, const layout::WorkSettings& settings, std::uint64_t window)
        : broker_(broker), topic_(topic), settings_(settings), window_(window) {}

    bool make(GroupRef group) noexcept {
        try {
            NewWork work{group, settings_, window_, {}};
            for (std::uint32_t partition = 0; partition < topic_.options().partitions; ++partition)
                work.generations.push_back(topic_.groups().word(group.slot, partition).generation);
            made_ = make_work(topic_, broker_.work_name(), work) == WorkMade::made;
        } catch (...) {
            failure_ = std::current_exception();
        }
        return !failure_;
    }
    void unmake(GroupRef group) noexcept {
        if (std::exchange(made_, false))
            (void)remove_work(topic_, group);  // what is left, a keeper sweeps
    }
    void rethrow() const { std::rethrow_exception(failure_); }

private:
    Broker::Impl& broker_;
    const TopicFiles& topic_;
    const layout::WorkSettings& settings_;
    std::uint64_t window_;
    bool made_ = false;
    std::exception_ptr failure_;
};

[[noreturn]] void fail(FindStatus status, const TopicFiles& topic, std::string_view queue, const Beside& beside) {
    if (status == FindStatus::unmade)
        beside.rethrow();
    if (status == FindStatus::topic_deleted)
        throw error_about(ErrorCode::topic_deleted, "topic '" + topic.name() + "'", "was deleted");
    if (status == FindStatus::limit) {
        throw error_about(ErrorCode::limit, queue_text(topic.name(), queue),
                          "cannot be created: the topic's " + std::to_string(topic.groups().groups_max()) + " groups are all taken");
    }
    throw error_about(ErrorCode::invalid_argument, queue_text(topic.name(), queue), "has no valid name");
}

}  // namespace

GroupRef require_queue(const TopicFiles& topic, std::string_view queue) {
    if (const auto group = find_queue(topic, queue))
        return *group;
    throw error_about(ErrorCode::not_found, "topic '" + topic.name() + "'", "has no queue '" + std::string(queue) + "'");
}

WorkFiles open_queue(std::shared_ptr<const TopicFiles> topic, std::string_view queue, platform::Access access) {
    const GroupRef group = require_queue(*topic, queue);
    if (access == platform::Access::read_write) {
        if (!topic->groups_writable())
            throw platform::system_failure("write", groups_path(topic->directory()), EACCES);
        if (group_table::wants_gates(topic->groups(), group.slot))
            Logs(*topic).begin_to_gate(*topic, group);
    }
    return {std::move(topic), group, std::string(queue), access};
}

QueueOptions options_of(WorkFiles& work) {
    return queue_options_of(work.settings(), group_table::read_options(work.topic().groups(), work.group().slot),
                            work.part(0).geometry.window);
}

bool create_queue(const std::shared_ptr<Broker::Impl>& broker, const std::shared_ptr<const TopicFiles>& topic, std::string_view queue,
                  const QueueOptions& options) {
    const QueueOptions stored = checked_queue_options(topic->name(), queue, topic->options(), options);
    if (!topic->groups_writable())
        throw platform::system_failure("write", groups_path(topic->directory()), EACCES);
    if (find_queue(*topic, queue))
        return false;
    sweep_work_leftovers(*topic, broker->clients());  // first, because they may hold the space that is needed
    layout::WorkSettings settings = work_settings_of(stored);
    if (!stored.dead_letter_topic.empty()) {
        const DeadLetterTopic letters = provide_dead_letter_topic(broker, *topic, queue, stored.dead_letter_topic);
        set_letters(settings, letters.name, letters.id, letters.partitions);
    }
    const Logs logs(*topic);
    const std::vector<std::uint64_t> start = logs.offsets_of(stored.start);
    Beside beside(*broker, *topic, settings, stored.window);
    group_table::GroupCreation<Memory> creation(topic->groups(), broker->client().word());
    const auto found = creation.find_or_create(
        queue, group_options_of(stored), [&](std::uint32_t partition) noexcept { return start[partition]; }, DeathOracle(broker->clients()), beside);
    switch (found.status) {
        case FindStatus::created: logs.begin_to_gate(*topic, found.group); return true;
        case FindStatus::found: (void)find_queue(*topic, queue); return false;
        default: fail(found.status, *topic, queue, beside);
    }
}

WorkFiles ensure_queue(const std::shared_ptr<Broker::Impl>& broker, const std::shared_ptr<const TopicFiles>& topic, std::string_view queue,
                       const QueueOptions& options, platform::Access access, bool* created) {
    const QueueOptions wanted = checked_queue_options(topic->name(), queue, topic->options(), options);
    for (;;) {
        const bool made = create_queue(broker, topic, queue, options);
        try {
            WorkFiles work = open_queue(topic, queue, access);
            check_same_queue_options(topic->name(), queue, options_of(work), wanted);
            if (created != nullptr)
                *created = made;
            return work;
        } catch (const Error& error) {
            if (error.code() != ErrorCode::not_found)
                throw;  // else it was deleted since
        }
    }
}

void refuse_queue(const TopicFiles& topic, GroupRef group, std::string_view name, std::string_view command) {
    if (!is_queue(topic, group))
        return;
    throw error_about(ErrorCode::mismatch, group_text(name, topic.name()),
                      "is a work queue; see '" + std::string(command) + "'");
}

}  // namespace ringmain
