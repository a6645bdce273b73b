// A topic, its dead-letter topic, and letters in it as workers write them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker_impl.hpp"
#include "dead_letter_log.hpp"
#include "dead_letter_topic.hpp"
#include "partition_cursor.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/dead_letters.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/test_broker.hpp"

namespace ringmain::test {

struct LetterPlace : TestBroker {
    explicit LetterPlace(std::uint32_t partitions = 1, const TopicOptions& options = small()) {
        TopicOptions chosen = options;
        chosen.partitions = partitions;
        broker.create_topic("orders", chosen);
        letters = provide_dead_letter_topic(broker.impl(), *open("orders"), "billing", "");
    }

    static TopicOptions small() {
        TopicOptions options;
        options.records = 64;
        options.producer_slots = 2;
        options.cell_bytes = 64;
        options.payload_bytes = 1 << 16;
        return options;
    }

    [[nodiscard]] std::shared_ptr<const TopicFiles> open(const std::string& topic) const {
        return broker.impl()->open_topic(topic);
    }

    struct Published {
        std::uint32_t partition = 0;
        std::uint64_t offset = 0;
    };
    Published publish(const std::string& topic, const ProducerRecord& record) {
        Producer producer(broker, topic);
        const PublishResult published = producer.try_publish(record);
        REQUIRE(published.status == Status::ok);
        return {published.partition, published.offset};
    }

    /// Writes a letter as a worker does.
    void write(const std::string& topic, std::uint32_t partition, const work_table::LetterOf& letter,
               const std::string& group = "billing", const std::string& error = {}) {
        const PartitionCursor cursor(open(topic), partition);
        // who comes and goes for each letter leaves the rest of an extent behind
        auto& logs = writers[topic + "/" + group + "/" + letters.name + to_string(letters.id)];
        if (!logs)
            logs = std::make_unique<DeadLetterLogs>(broker.impl(), open(topic), group, letters);
        DeadLetterLog log(*logs, partition, cursor.reader());
        log.set_errors(letter.offset, error, error);
        REQUIRE(log.prepare(letter) == Status::ok);
        const auto ticket = log.take_ticket();
        REQUIRE(ticket.status == Status::ok);
        REQUIRE(log.commit_at(ticket.offset, letter) == work_table::Sent::committed);
    }

    /// Publishes a record and makes a letter of it; the value is its text. Returns the record's offset.
    std::uint64_t send(const ProducerRecord& record, const std::string& group = "billing",
                       const std::string& error = "no account",
                       work_table::LetterReason reason = work_table::LetterReason::limit, std::uint32_t attempts = 5) {
        const Published published = publish("orders", record);
        write("orders", published.partition, {published.offset, attempts, reason}, group, error);
        return published.offset;
    }
    std::uint64_t send(std::string_view value, const std::string& group = "billing",
                       const std::string& error = "no account") {
        return send(ProducerRecord{.value = as_bytes(value), .partition = 0}, group, error);
    }

    /// Values of the letters that are not settled, by partition and offset.
    [[nodiscard]] std::vector<std::string> values(const LetterFilter& filter = {},
                                                  const std::string& topic = "orders.dlq") const {
        std::vector<std::string> values;
        DeadLetters(broker).read(topic, filter, [&](const ConsumerRecord& record, const DecodedLetter&) {
            values.emplace_back(text_or(record.value, "null"));
            return true;
        });
        return values;
    }

    /// How often each value was replayed to a topic: records that say where they come from.
    [[nodiscard]] std::map<std::string, int> replayed_values(const std::string& topic = "orders") const {
        std::map<std::string, int> values;
        Consumer consumer(broker);
        consumer.assign(topic);
        for (PollResult result = consumer.poll(); !result.records.empty(); result = consumer.poll()) {
            for (const ConsumerRecord& record : result.records) {
                if (record.headers.find(kReplayedFromHeader))
                    ++values[std::string(text_or(record.value, "null"))];
            }
        }
        return values;
    }

    DeadLetterTopic letters;
    std::map<std::string, std::unique_ptr<DeadLetterLogs>> writers;
};

}  // namespace ringmain::test
