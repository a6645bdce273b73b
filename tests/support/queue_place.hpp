// A topic with a queue, and workers that do exactly what they are told, by the work table alone.
#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker_impl.hpp"
#include "platform/clock.hpp"
#include "queue_opening.hpp"
#include "ringmain/queue_admin.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/group_topic.hpp"
#include "support/test_broker.hpp"
#include "work_table/acquiring.hpp"
#include "work_table/settling.hpp"
#include "work_table/workers.hpp"

namespace ringmain::test {

/// Whether it is there or not is all that a test asks of a record.
struct AnyRecords {
    const work_table::WorkMemory<platform::HostMemory>& work;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;  // offset, lock word

    work_table::Peeked peek(std::uint64_t offset) noexcept {
        partition_log::RecordView view;
        return {work.reader().look(offset, view), {}, false};
    }
    static work_table::Received copy(std::uint64_t) noexcept { return work_table::Received::record; }
    bool copy_plain(std::uint64_t offset) noexcept { return peek(offset).found == partition_log::Found::record; }
    static void drop() noexcept {}
    void took(std::uint64_t offset, std::uint64_t word) { taken.emplace_back(offset, word); }
    static void lost(std::uint64_t, std::uint64_t) noexcept {}
    static void corrupt(std::uint64_t) noexcept {}
};

/// One worker of a queue.
class TestWorker {
public:
    using Memory = platform::HostMemory;
    using Work = work_table::WorkMemory<Memory>;

    TestWorker(const Broker& broker, std::string_view topic, std::string_view queue, std::uint64_t client = 0)
        : topic_(broker, topic),
          files_(open_queue(broker.impl()->open_topic(topic), queue, platform::Access::read_write)),
          workers_(files_.workers(), layout::kWorkersMax),
          client_(client != 0 ? client : broker.impl()->client().word()) {
        const auto slot = workers_.join(client_, [](std::uint64_t) { return false; }, [](std::uint32_t, std::uint64_t) { return true; });
        REQUIRE(slot);
        slot_ = *slot;
    }
    TestWorker(const TestWorker&) = delete;
    TestWorker& operator=(const TestWorker&) = delete;

    [[nodiscard]] Work work(std::uint32_t partition) {
        const WorkFiles::Part& part = files_.part(partition);
        return {part.base, part.geometry, topic_.groups(), topic_.log(partition)};
    }
    /// {offset, lock} of up to `count` records.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> acquire(std::size_t count, std::uint32_t partition = 0, std::uint64_t later_ms = 0) {
        const Work memory = work(partition);
        AnyRecords records{memory, {}};
        (void)work_table::Acquiring(memory, files_.rules(), letters_, slot_).acquire(count, platform::shared_monotonic_ms() + later_ms, records);
        return records.taken;
    }
    work_table::Answer ack(const std::pair<std::uint64_t, std::uint64_t>& lock, std::uint32_t partition = 0) {
        return settling(partition).ack(lock.first, lock.second).answer;
    }
    work_table::Answer nack(const std::pair<std::uint64_t, std::uint64_t>& lock, std::uint32_t partition = 0) {
        return settling(partition).nack(lock.first, lock.second, {}, platform::shared_monotonic_ms()).answer;
    }
    void leave() { workers_.leave(slot_, client_); }
    void reopen(std::uint32_t partition) { files_.reopen(partition); }
    [[nodiscard]] std::uint32_t slot() const noexcept { return slot_; }
    [[nodiscard]] WorkFiles& files() noexcept { return files_; }
    [[nodiscard]] const GroupTopic& topic() const noexcept { return topic_; }

private:
    [[nodiscard]] work_table::Settling<Memory, work_table::NoLetters> settling(std::uint32_t partition) {
        return {work(partition), files_.rules(), letters_, slot_};
    }

    GroupTopic topic_;
    WorkFiles files_;
    work_table::Workers<Memory> workers_;
    work_table::NoLetters letters_;
    std::uint64_t client_;
    std::uint32_t slot_ = 0;
};

/// Topic t of two partitions with 64 cells each.
struct QueuePlace : TestBroker {
    explicit QueuePlace(WhenFull when_full = WhenFull::overwrite) {
        broker.create_topic("t", small(when_full));
        admin.emplace(broker);
        topic.emplace(broker, "t");
    }
    [[nodiscard]] static TopicOptions small(WhenFull when_full = WhenFull::overwrite) {
        TopicOptions options;
        options.partitions = 2;
        options.records = 64;
        options.producer_slots = 2;
        options.payload_bytes = 0;
        options.groups = 3;
        options.members = 4;
        options.when_full = when_full;
        return options;
    }
    /// A queue whose records are skipped in the end, so that there is no dead-letter topic.
    [[nodiscard]] static QueueOptions plain() {
        QueueOptions options;
        options.exhausted = options.expired = Exhausted::skip;
        return options;
    }
    [[nodiscard]] std::filesystem::path directory() const { return scratch.broker() / "topics" / "t"; }
    [[nodiscard]] std::filesystem::path work_of(std::string_view queue) const {
        return open_queue(broker.impl()->open_topic("t"), queue, platform::Access::read_only).directory();
    }
    /// Names in the topic's `queues`.
    [[nodiscard]] std::vector<std::string> queue_directories() const { return names_in(directory() / "queues"); }
    [[nodiscard]] static std::vector<std::string> names_in(const std::filesystem::path& path) {
        std::vector<std::string> names;
        if (!std::filesystem::exists(path)) return names;
        for (const auto& entry : std::filesystem::directory_iterator(path)) names.push_back(entry.path().filename().string());
        std::sort(names.begin(), names.end());
        return names;
    }
    std::optional<QueueAdmin> admin;
    std::optional<GroupTopic> topic;
};

}  // namespace ringmain::test
