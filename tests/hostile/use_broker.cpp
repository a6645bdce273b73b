// Everything that programs do with a broker directory, on whatever is there.
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "hostile/broker_image.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/producer.hpp"
#include "ringmain/queue.hpp"
#include "ringmain/queue_admin.hpp"
#include "ringmain/stats.hpp"

namespace ringmain::test {

namespace {

template <class Call>
void attempt(const Call& call) {
    try {
        call();
    } catch (const Error&) {  // an answer
    }
}

std::uint64_t touch(const ConsumerRecord& record) {
    std::uint64_t sum = record.offset;
    const auto add = [&sum](Bytes bytes) {
        for (const std::byte one : bytes)
            sum += static_cast<std::uint64_t>(one);
    };
    if (record.key)
        add(*record.key);
    if (record.value)
        add(*record.value);
    if (const auto stamp = record.stamp())
        sum += stamp->sequence;
    for (const Header& header : record.headers) {
        add(as_bytes(header.name));
        if (header.value)
            add(*header.value);
    }
    return sum;
}

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
    attempt([&] { consumer.hold_gates("hostile"); });
    consumer.move_gates();
    consumer.drop_gates();
    if (sum == 1)
        throw std::runtime_error("unlikely");  // keeps the reads
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

/// Takes and settles what there is of the queue.
void work(const Broker& broker) {
    QueueWorker worker(broker, kImageTopic, kImageQueue);
    std::uint64_t sum = 0;
    for (int round = 0; round < 6; ++round) {
        const AcquireResult acquired = worker.acquire(5);
        std::size_t i = 0;
        for (const QueueRecord& one : acquired.records) {
            sum += touch(one.record);
            Lock lock = one.lock;
            switch (i++ % 5) {
                case 0: (void)worker.ack(lock); break;
                case 1: (void)worker.nack(lock, std::chrono::milliseconds(0)); break;
                case 2: (void)worker.reject(lock, "hostile"); break;
                case 3: (void)worker.renew(lock); break;
                default: (void)worker.release(lock); break;
            }
        }
    }
    if (sum == 1)
        throw std::runtime_error("unlikely");  // keeps the reads
}

void administer_queues(const Broker& broker) {
    QueueAdmin admin(broker);
    attempt([&] { (void)admin.list(); });
    attempt([&] { (void)admin.describe(kImageTopic, kImageQueue); });
    attempt([&] { (void)admin.ensure(kImageTopic, kImageQueue); });
    attempt([&] { work(broker); });
    attempt([&] { admin.execute(admin.plan(kImageTopic, kImageQueue, ResetTarget::earliest()), true); });
    attempt([&] { work(broker); });
    attempt([&] { (void)admin.describe(kImageTopic, kImageQueue); });
    attempt([&] { admin.remove(kImageTopic, kImageQueue, true); });
    QueueOptions options;
    options.exhausted = options.expired = Exhausted::skip;
    attempt([&] { admin.create(kImageTopic, kImageQueue, options); });
    attempt([&] { work(broker); });
}

}  // namespace

void use_broker(const std::filesystem::path& directory) {
    std::optional<Broker> broker;
    attempt([&] { broker.emplace(directory); });
    if (!broker)
        return;
    attempt([&] { (void)broker->list_topics(); });
    attempt([&] { (void)broker->describe_topic(kImageTopic); });
    attempt([&] { (void)broker->verify(); });
    attempt([&] { (void)broker->dump(kImageTopic, 0, 20); });
    attempt([&] {
        StatsReader reader(*broker);
        for (int i = 0; i < 2; ++i)
            (void)reader.take();
    });
    attempt([&] { consume(*broker); });
    attempt([&] { publish(*broker, false); });
    attempt([&] { publish(*broker, true); });
    attempt([&] { publish_named(*broker, false); });
    attempt([&] { publish_named(*broker, true); });
    attempt([&] {
        Keeper keeper(*broker);
        for (int i = 0; i < 5; ++i)
            (void)keeper.do_work(std::chrono::seconds(i));
    });
    attempt([&] { consume(*broker); });
    attempt([&] { administer_queues(*broker); });
    attempt([&] { (void)broker->delete_records(kImageTopic, 0, broker->describe_topic(kImageTopic).partitions.at(0).log_end); });
    attempt([&] { broker->set_retention(kImageTopic, {std::chrono::milliseconds(100), 3, 100}); });
    attempt([&] { consume(*broker); });
    attempt([&] { (void)broker->verify(kImageTopic); });
}

}  // namespace ringmain::test
