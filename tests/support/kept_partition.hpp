// A partition of a real topic under a keeper whose clocks a test moves.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker_impl.hpp"
#include "partition_keeper.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

class KeptPartition {
public:
    explicit KeptPartition(const Broker& broker, const std::string& topic)
        : broker_(broker), files_(broker.impl()->open_topic(topic)), keeper_(std::in_place, *files_, 0) {}

    /// Another keeper process.
    void restart() { keeper_.emplace(*files_, 0); }
    /// The machine boots.
    void reboot() {
        restart();
        moment_ = {3'000'000'000, moment_.boot + 1};
    }

    KeeperReport step() {
        KeeperReport report;
        const DeathOracle is_dead(broker_.impl()->clients());
        const KeeperEvents tell([this](const KeeperEvent& event) { events.push_back(event); });
        KeeperStep step{now_ns_, broker_.impl()->clients(), is_dead, 0, report, tell};
        step.moment = moment_;
        keeper_->step(step, false);
        return report;
    }
    /// Steps every 10 ms for as long. Returns how many records went.
    std::uint64_t run(std::chrono::milliseconds time) {
        std::uint64_t expired = 0;
        for (std::chrono::milliseconds ran{0}; ran < time; ran += kStep) {
            now_ns_ += std::chrono::nanoseconds(kStep).count();
            moment_.now_ns += static_cast<std::uint64_t>(std::chrono::nanoseconds(kStep).count());
            expired += step().expired_records;
        }
        return expired;
    }

    std::vector<KeeperEvent> events;

    static constexpr std::chrono::milliseconds kStep{10};

private:
    Broker broker_;
    std::shared_ptr<const TopicFiles> files_;
    std::optional<PartitionKeeper> keeper_;
    std::int64_t now_ns_ = 1'000'000'000;
    retention::Moment moment_{5'000'000'000, 7};
};

/// Publishes `count` records of `bytes` bytes.
inline void publish(const Broker& broker, const std::string& topic, int count, std::size_t bytes = 10,
                    std::optional<std::int64_t> timestamp_ns = {}) {
    Producer producer(broker, topic);
    const std::string value(bytes, 'x');
    for (int i = 0; i < count; ++i) {
        ProducerRecord record;
        record.value = as_bytes(value);
        record.timestamp_ns = timestamp_ns;
        REQUIRE(producer.publish(record).status == Status::ok);
    }
}

}  // namespace ringmain::test
