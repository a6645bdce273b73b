// What programs do with the groups, queues, retries and letters of a broker, on whatever is there.
#include <chrono>
#include <stdexcept>
#include <string>

#include "hostile/broker_image.hpp"
#include "hostile/touch.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/dead_letters.hpp"
#include "ringmain/group_admin.hpp"
#include "ringmain/queue.hpp"
#include "ringmain/queue_admin.hpp"
#include "ringmain/retry.hpp"

namespace ringmain::test {

namespace {

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
                case 0:
                    (void)worker.ack(lock);
                    break;
                case 1:
                    (void)worker.nack(lock, std::chrono::milliseconds(0));
                    break;
                case 2:
                    (void)worker.reject(lock, "hostile");
                    break;
                case 3:
                    (void)worker.renew(lock);
                    break;
                default:
                    (void)worker.release(lock);
                    break;
            }
        }
    }
    if (sum == 1)
        throw std::runtime_error("unlikely");  // keeps the reads
}

}  // namespace

void use_queues(const Broker& broker) {
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

namespace {

/// A member that does all that members do.
void be_member(const Broker& broker, const char* topic, const char* group, const char* static_name, bool gating) {
    GroupOptions options;
    options.name = group;
    options.static_name = static_name;
    options.gating = gating;
    options.on_loss = OnLoss::earliest;
    options.listener.revoked = [](auto) {};
    Consumer consumer(broker, options);
    consumer.subscribe(topic);
    std::uint64_t sum = 0;
    for (int round = 0; round < 6; ++round) {
        for (const ConsumerRecord& record : consumer.poll(4).records)
            sum += touch(record);
        (void)consumer.visit([&](const ConsumerRecord& record) { sum += touch(record); });
        (void)consumer.commit();
        for (const TopicPartition& one : consumer.assignment()) {
            attempt([&] { (void)consumer.committed(one.topic, one.partition); });
            attempt([&] { (void)consumer.seek(one.topic, one.partition, Position::committed()); });
            if (round == 3)
                attempt([&] { (void)consumer.replay(one.topic, one.partition, Position::earliest()); });
        }
    }
    (void)consumer.close();
    if (sum == 1)
        throw std::runtime_error("unlikely");  // keeps the reads
}

}  // namespace

void use_groups(const Broker& broker) {
    GroupAdmin admin(broker);
    attempt([&] { (void)admin.list(); });
    attempt([&] { (void)admin.who_blocks(); });
    for (const bool blocks : {false, true}) {
        const char* const topic = blocks ? kImageBlockTopic : kImageTopic;
        attempt([&] { (void)admin.describe(topic, kImageGroup, {}); });
        attempt([&] { (void)admin.lag(topic, kImageGroup); });
        attempt([&] { be_member(broker, topic, kImageGroup, "static", false); });
        attempt([&] { be_member(broker, topic, kImageGroup, "", false); });
        attempt([&] { be_member(broker, topic, "another", "", blocks); });
        for (const ResetTarget& target :
             {ResetTarget::earliest(), ResetTarget::latest(), ResetTarget::shifted(-3), ResetTarget::since(100)})
            attempt([&] { (void)admin.execute(admin.plan(topic, kImageGroup, target), true); });
        attempt([&] { (void)admin.lag(topic, kImageGroup); });
        attempt([&] { admin.remove(topic, kImageGroup, true); });
    }
}

void use_retries(const Broker& broker) {
    RetryOptions options;
    options.attempts = 2;
    options.backoff = {std::chrono::milliseconds(0), std::chrono::milliseconds(0), 1, 0};
    RetryRunner runner(broker, kImageTopic, {.name = kImageRetries}, options);
    std::uint64_t sum = 0;
    for (int i = 0; i < 8; ++i) {
        const RunResult result = runner.run_once([&](const ConsumerRecord& record, const Attempt&) {
            sum += touch(record);
            return sum % 3 == 0   ? Handled::success()
                   : sum % 3 == 1 ? Handled::failure("no luck")
                                  : Handled::rejected("no use");
        });
        if (result.status != Status::ok)
            break;
    }
}

void use_letters(const Broker& broker) {
    DeadLetters letters(broker);
    std::uint64_t sum = 0;
    attempt([&] { (void)letters.topics_of(); });
    attempt([&] { (void)letters.summarize(kImageLetters); });
    attempt([&] { (void)letters.count(kImageLetters); });
    attempt([&] {
        letters.read(kImageLetters, {}, [&](const ConsumerRecord& record, const DecodedLetter& decoded) {
            sum += touch(record) + (decoded.letter ? decoded.letter->offset + decoded.letter->last_error.size() : 0);
            return true;
        });
    });
    ReplayOptions options;
    options.timeout = std::chrono::nanoseconds(0);
    int asked = 0;
    options.stop = [&] { return ++asked > 4; };
    attempt([&] { (void)letters.replay(kImageLetters, {}, options); });
    options.to = kImageBlockTopic;
    asked = 0;
    attempt([&] { (void)letters.replay(kImageLetters, {}, options); });
    attempt([&] { (void)letters.purge(kImageLetters, {}); });
    if (sum == 1)
        throw std::runtime_error("unlikely");  // keeps the reads
}

}  // namespace ringmain::test
