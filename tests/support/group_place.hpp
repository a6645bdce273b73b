// A broker with topics of small numbered records, members that note what they are told, and an operator.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "group_table/creation.hpp"
#include "group_table/eviction.hpp"
#include "group_table/listing.hpp"
#include "group_table/reset.hpp"
#include "group_table/sweeping.hpp"
#include "partition_log/log_memory.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/test_broker.hpp"
#include "topic_files.hpp"

namespace ringmain::test {

struct GroupPlace : TestBroker {
    explicit GroupPlace(std::uint32_t partitions = 1, WhenFull when_full = WhenFull::overwrite) { make("t", partitions, when_full); }

    void make(const std::string& topic, std::uint32_t partitions = 1, WhenFull when_full = WhenFull::overwrite) {
        TopicOptions options;
        options.partitions = partitions;
        options.records = 64;
        options.producer_slots = 2;
        options.payload_bytes = 0;
        options.groups = 3;
        options.members = 4;
        options.when_full = when_full;
        broker.create_topic(topic, options);
    }

    /// Records whose values are their offsets.
    void publish(std::uint64_t count, std::uint32_t partition = 0, const std::string& topic = "t") {
        Producer producer(broker, topic);
        for (std::uint64_t i = 0; i < count; ++i) {
            ProducerRecord record;
            record.value = as_bytes("x");
            record.partition = partition;
            REQUIRE(producer.try_publish(record).status == Status::ok);
        }
    }
    void publish_everywhere(std::uint64_t count, std::uint32_t partitions, const std::string& topic = "t") {
        for (std::uint32_t p = 0; p < partitions; ++p) publish(count, p, topic);
    }

    // --- the operator ---

    [[nodiscard]] TopicFiles files(const std::string& topic = "t") const { return {scratch.broker() / "topics" / topic, topic}; }
    [[nodiscard]] group_table::GroupView view(const std::string& group = "g", const std::string& topic = "t") const {
        const TopicFiles open = files(topic);
        for (auto& one : group_table::view_groups(open.groups())) {
            if (one.name == group) return one;
        }
        return {};
    }
    void reset(std::uint32_t partition, std::uint64_t to, const std::string& group = "g") {
        const TopicFiles open = files();
        const auto seen = view(group);
        const group_table::GroupReset reset(open.groups(), seen.group);
        REQUIRE(reset.begin(seen.set, true) == group_table::ResetStatus::begun);
        const platform::Mapping log = open.map_partition(partition, platform::Access::read_only);
        const partition_log::LogMemory<platform::HostMemory> memory(log.data(), geometry_of(log), open.readers(partition));
        (void)reset.set(partition, to, memory.control->gate_floor);
        reset.finish();
    }
    void delete_group(const std::string& group = "g") {
        const TopicFiles open = files();
        REQUIRE(group_table::delete_group(open.groups(), view(group).group, true) == group_table::DeleteStatus::deleted);
    }
};

inline GroupOptions group(const std::string& name = "g") {
    GroupOptions options;
    options.name = name;
    return options;
}

/// What a listener was told, e.g. "assigned t/0 t/1".
struct Told {
    std::vector<std::string> calls;

    void note(std::string call, std::span<const TopicPartition> partitions) {
        for (const TopicPartition& one : partitions) call += " " + std::string(one.topic) + "/" + std::to_string(one.partition);
        calls.push_back(std::move(call));
    }
    [[nodiscard]] GroupListener listener() {
        return {[this](auto partitions) { note("assigned", partitions); }, [this](auto partitions) { note("revoked", partitions); },
                [this](auto partitions) { note("lost", partitions); }, [this](auto partitions) { note("let_go", partitions); }};
    }
    [[nodiscard]] std::vector<std::string> take() { return std::exchange(calls, {}); }
};

/// Polls all of them until they agree: each partition is held once, and several rounds change nothing.
inline void settle(std::span<Consumer* const> members, std::size_t partitions) {
    for (int round = 0, quiet = 0; quiet < 3; ++round) {
        REQUIRE(round < 2000);
        std::size_t held = 0;
        for (Consumer* const member : members) {
            (void)member->poll(0);
            held += member->assignment().size();
        }
        quiet = held == partitions ? quiet + 1 : 0;
        if (quiet == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}
inline void settle(std::initializer_list<Consumer*> members, std::size_t partitions) {
    settle(std::span<Consumer* const>(members.begin(), members.size()), partitions);
}

inline std::vector<std::uint64_t> offsets_of(const PollResult& result) {
    std::vector<std::uint64_t> offsets;
    for (const ConsumerRecord& record : result.records) offsets.push_back(record.offset);
    return offsets;
}

inline CommitResult commit_at(Consumer& consumer, std::uint64_t offset, std::uint32_t partition = 0, std::string_view topic = "t") {
    const PartitionOffset one{topic, partition, offset};
    return consumer.commit(std::span(&one, 1));
}

/// The answer for the only partition of a commit.
inline CommitOutcome outcome(const CommitResult& result) {
    REQUIRE(result.partitions.size() == 1);
    return result.partitions[0].outcome;
}

/// Polls until something other than ok comes, for at most ten seconds.
inline Status poll_for_news(Consumer& consumer) {
    for (int i = 0; i < 10'000; ++i) {
        const PollResult result = consumer.poll(16, std::chrono::milliseconds(1));
        if (result.status != Status::ok) return result.status;
    }
    return Status::ok;
}

}  // namespace ringmain::test

namespace Catch {
template <>
struct StringMaker<ringmain::Status> {
    static std::string convert(ringmain::Status status) { return std::string(ringmain::to_string(status)); }
};
template <>
struct StringMaker<ringmain::CommitOutcome> {
    static std::string convert(ringmain::CommitOutcome outcome) { return std::string(ringmain::to_string(outcome)); }
};
}  // namespace Catch
