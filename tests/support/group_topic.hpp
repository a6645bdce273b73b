// A topic with consumer groups and members that do exactly what they are told, by the group table alone.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker_impl.hpp"
#include "group_table/creation.hpp"
#include "group_table/membership.hpp"
#include "group_table/positions.hpp"
#include "group_table/sweeping.hpp"
#include "partition_log/log_memory.hpp"
#include "partition_log/log_start.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "topic_files.hpp"

namespace ringmain::test {

class GroupTopic {
public:
    using Memory = platform::HostMemory;
    using Log = partition_log::LogMemory<Memory>;

    /// The topic exists.
    GroupTopic(const Broker& broker, std::string_view name) : broker_(broker), files_(broker.impl()->open_topic(name)) {
        for (std::uint32_t partition = 0; partition < files_->options().partitions; ++partition) {
            maps_.push_back(files_->map_partition(partition, platform::Access::read_write));
            logs_.emplace_back(maps_.back().data(), geometry_of(maps_.back()), files_->readers(partition), files_->group_gates(partition));
        }
    }

    [[nodiscard]] const Broker& broker() const noexcept { return broker_; }
    [[nodiscard]] const TopicFiles& files() const noexcept { return *files_; }
    [[nodiscard]] const group_table::GroupsMemory<Memory>& groups() const noexcept { return files_->groups(); }
    [[nodiscard]] const Log& log(std::uint32_t partition) const { return logs_.at(partition); }
    [[nodiscard]] auto floors() const {
        return [this](std::uint32_t partition) -> const std::atomic<std::uint64_t>& { return log(partition).control->gate_floor; };
    }

    /// A group that begins at `start` in all partitions.
    group_table::GroupRef create(std::string_view name, const group_table::GroupOptions& options = {}, std::uint64_t start = 0) const {
        group_table::GroupCreation<Memory> creation(groups(), broker_.impl()->client().word());
        const auto found = creation.find_or_create(
            name, options, [=](std::uint32_t) { return start; }, [](std::uint64_t) { return false; });
        REQUIRE(found.status == group_table::FindStatus::created);
        return found.group;
    }

    void publish(std::uint32_t partition, std::uint64_t count, std::string_view value = "x", std::int64_t timestamp_ns = 0) const {
        Producer producer(broker_, files_->name());
        ProducerRecord record;
        record.partition = partition;
        record.value = as_bytes(value);
        if (timestamp_ns != 0) record.timestamp_ns = timestamp_ns;
        for (std::uint64_t i = 0; i < count; ++i) REQUIRE(producer.publish(record).status == Status::ok);
    }

private:
    Broker broker_;
    std::shared_ptr<const TopicFiles> files_;
    std::vector<platform::Mapping> maps_;
    std::vector<Log> logs_;
};

class GroupTopicMember {
public:
    GroupTopicMember(const GroupTopic& topic, group_table::GroupRef group, std::string static_name = {}, std::uint64_t client = 0)
        : topic_(topic),
          static_name_(std::move(static_name)),
          member_(topic.groups(), group, client != 0 ? client : topic.broker().impl()->client().word(), {static_name_, 45'000}) {
        REQUIRE(member_.join([](std::uint64_t) { return false; }, topic.floors()) == group_table::JoinStatus::joined);
    }
    GroupTopicMember(const GroupTopicMember&) = delete;
    GroupTopicMember& operator=(const GroupTopicMember&) = delete;

    void take(std::uint32_t partition) {
        const auto got = member_.positions().acquire(partition, 1'000'000'000);
        REQUIRE(got.status == group_table::AcquireStatus::acquired);
        generations_[partition] = got.generation;
    }
    group_table::CommitStatus commit(std::uint32_t partition, std::uint64_t offset, std::uint64_t now_ns = 2'000'000'000) {
        group_table::CommitItem item;
        item.tenure = {partition, generations_[partition]};
        item.position = item.offset = offset;
        (void)member_.positions().commit({&item, 1}, topic_.floors(), now_ns);
        return item.status;
    }
    void poll(std::uint64_t now_ns) { member_.count_poll(now_ns); }
    void leave() { member_.leave(); }
    void close() { member_.detach(); }
    [[nodiscard]] group_table::LookStatus look() { return member_.look().status; }
    [[nodiscard]] group_table::Positions<platform::HostMemory> positions() const { return member_.positions(); }
    [[nodiscard]] std::uint32_t generation(std::uint32_t partition) const { return generations_.at(partition); }
    [[nodiscard]] std::uint32_t slot() const { return member_.slot(); }

private:
    const GroupTopic& topic_;
    std::string static_name_;
    group_table::Membership<platform::HostMemory> member_;
    std::map<std::uint32_t, std::uint32_t> generations_;
};

/// A group whose committed offsets are these, and that has no members any more.
inline group_table::GroupRef group_at(const GroupTopic& topic, std::string_view name, const std::vector<std::uint64_t>& committed,
                                      const group_table::GroupOptions& options = {}) {
    const auto group = topic.create(name, options);
    GroupTopicMember member(topic, group);
    for (std::uint32_t partition = 0; partition < committed.size(); ++partition) {
        member.take(partition);
        REQUIRE(member.commit(partition, committed[partition]) == group_table::CommitStatus::committed);
    }
    member.leave();
    return group;
}

}  // namespace ringmain::test
