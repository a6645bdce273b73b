// Everything that programs do with a broker directory, on whatever is there.
#include <array>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "hostile/broker_image.hpp"
#include "hostile/touch.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/producer.hpp"
#include "ringmain/stats.hpp"

namespace ringmain::test {

namespace {

void consume(const Broker& broker) {
    Consumer consumer(broker, {.wait = WaitStrategy::spin, .patience = std::chrono::microseconds(1)});
    std::uint64_t sum = 0;
    attempt([&] { consumer.assign(kImageTopic); });
    const auto read = [&] {
        for (int i = 0; i < 40; ++i) {
            const PollResult result = consumer.poll(16);
            for (const ConsumerRecord& record : result.records)
                sum += touch(record);
            if (result.status != Status::ok || (result.records.empty() && result.gaps.empty()))
                break;
        }
    };
    read();
    for (const Position& to :
         {Position::since(100), Position::last(5), Position::earliest(), Position::at(20), Position::latest()}) {
        attempt([&] { consumer.seek(kImageTopic, 0, to); });
        for (int i = 0; i < 20; ++i)
            (void)consumer.visit([&](const ConsumerRecord& record) { sum += touch(record); });
        read();
    }
    if (sum == 1)
        throw std::runtime_error("unlikely");  // keeps the reads
}

/// Of the topic that waits for its readers.
void hold(const Broker& broker) {
    Consumer consumer(broker, {.wait = WaitStrategy::spin, .patience = std::chrono::microseconds(1)});
    consumer.assign(kImageBlockTopic);
    attempt([&] { consumer.hold_gates("hostile"); });
    Producer producer(broker, kImageBlockTopic);
    for (int i = 0; i < 40; ++i) {
        (void)producer.try_publish({.value = as_bytes("held"), .partition = static_cast<std::uint32_t>(i) % 2});
        if (i % 8 == 0)
            (void)producer.blocking_gate(0);
        if (i % 4 == 0)
            (void)consumer.poll(3);
        consumer.move_gates();
    }
    consumer.drop_gates();
}

void publish(const Broker& broker, bool exclusive) {
    Producer producer(broker, kImageTopic, {.exclusive = exclusive});
    const std::string small = "small";
    const std::string large(2000, 'x');
    std::vector<ProducerRecord> records(5);
    for (std::size_t i = 0; i < records.size(); ++i)
        records[i].value = as_bytes(i % 2 == 0 ? small : large);
    for (int i = 0; i < 6; ++i) {
        (void)producer.try_publish(records[static_cast<std::size_t>(i) % records.size()]);
        (void)producer.try_publish_batch(records);
    }
    Loan loan = producer.loan(1000);
    if (loan.status() == Status::ok)
        (void)producer.try_publish(loan);
    (void)producer.blocking_gate(0);
}

void publish_named(const Broker& broker, bool exclusive) {
    ProducerOptions options;
    options.exclusive = exclusive;
    options.name = "stage";
    Producer producer(broker, kImageTopic, options);
    ProducerRecord record{.value = as_bytes("named"), .sequence = producer.last_sequence()};
    for (int i = 0; i < 20; ++i) {
        ++record.sequence;
        (void)producer.try_publish(record);
    }
}

void inspect(const Broker& broker) {
    attempt([&] { (void)broker.list_topics(); });
    for (const char* topic : {kImageTopic, kImageBlockTopic, kImageLetters}) {
        attempt([&] { (void)broker.describe_topic(topic); });
        attempt([&] { (void)broker.dump(topic, 0, 20); });
    }
    attempt([&] { (void)broker.verify(); });
    attempt([&] {
        StatsReader reader(broker);
        for (int i = 0; i < 2; ++i)
            (void)reader.take();
    });
}

void keep(const Broker& broker) {
    Keeper keeper(broker);
    for (int i = 0; i < 5; ++i)
        (void)keeper.do_work(std::chrono::seconds(i));
}

void retain(const Broker& shared) {
    Broker broker = shared;
    attempt([&] {
        (void)broker.delete_records(kImageTopic, 0, broker.describe_topic(kImageTopic).partitions.at(0).log_end);
    });
    attempt([&] { broker.set_retention(kImageTopic, {std::chrono::milliseconds(100), 3, 100}); });
}

void publish_shared(const Broker& broker) { publish(broker, false); }
void publish_exclusively(const Broker& broker) { publish(broker, true); }
void publish_named_shared(const Broker& broker) { publish_named(broker, false); }
void publish_named_exclusively(const Broker& broker) { publish_named(broker, true); }

constexpr std::array kUses = {
    Use{"inspect", inspect},
    Use{"consume", consume},
    Use{"publish", publish_shared},
    Use{"publish exclusively", publish_exclusively},
    Use{"publish named", publish_named_shared},
    Use{"publish named, exclusively", publish_named_exclusively},
    Use{"hold", hold},
    Use{"keep", keep},
    Use{"queues", use_queues},
    Use{"retry", use_retries},
    Use{"letters", use_letters},
    Use{"groups", use_groups},
    Use{"retain", retain},
};

}  // namespace

std::span<const Use> all_uses() { return kUses; }

void use_broker(const std::filesystem::path& directory) {
    std::optional<Broker> broker;
    attempt([&] { broker.emplace(directory); });
    if (!broker)
        return;
    for (const Use& use : kUses)
        attempt([&] { use.run(*broker); });
    attempt([&] { consume(*broker); });
    for (const char* topic : {kImageTopic, kImageBlockTopic, kImageLetters})
        attempt([&] { broker->delete_topic(topic); });
    attempt([&] { (void)broker->verify(); });
}

}  // namespace ringmain::test
