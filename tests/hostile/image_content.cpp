// What is in the broker whose bytes are damaged: something of every kind.
#include "hostile/image_content.hpp"

#include <chrono>
#include <stdexcept>
#include <string>

#include "hostile/broker_image.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/dead_letters.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/producer.hpp"
#include "ringmain/queue.hpp"
#include "ringmain/queue_admin.hpp"
#include "ringmain/retry.hpp"

namespace ringmain::test {

using namespace std::chrono_literals;

namespace {

void require(bool held, const char* what) {
    if (!held)
        throw std::runtime_error(std::string("the image cannot be made: ") + what);
}

void publish_some(const Broker& broker) {
    Producer producer(broker, kImageTopic);
    const std::string large(3000, 'L');
    const Header headers[] = {{"name", as_bytes("value")}, {"null", std::nullopt}};
    for (std::int64_t i = 0; i < 22; ++i) {
        const std::string text = "record " + std::to_string(i);
        ProducerRecord record;
        record.value = as_bytes(i % 4 == 0 ? large : text);
        if (i % 3 != 0)
            record.key = as_bytes(text);
        if (i % 5 == 0)
            record.headers = headers;
        record.timestamp_ns = i * 10;
        require(producer.publish(record).status == Status::ok, "publish");
    }
    ProducerOptions options;
    options.name = "stage";
    Producer stage(broker, kImageTopic, options);
    const std::uint64_t last = stage.last_sequence();
    for (std::uint64_t sequence = last + 1; sequence <= last + 3; ++sequence)
        require(stage.publish({.value = as_bytes("named"), .sequence = sequence}).status == Status::ok,
                "publish under a name");
}

/// Fails what it gets, some at once: letters, of which one is replayed and one purged.
void make_letters(const Broker& broker) {
    RetryOptions options;
    options.attempts = 2;
    options.backoff = {0ms, 0ms, 1, 0};
    RetryRunner runner(broker, kImageTopic, {.name = kImageRetries}, options);
    int calls = 0;
    for (int i = 0; i < 20; ++i) {
        (void)runner.run_once([&](const ConsumerRecord&) {
            ++calls;
            return calls % 3 == 0   ? Handled::success()
                   : calls % 3 == 1 ? Handled::failure("no luck")
                                    : Handled::rejected("no use");
        });
    }
    runner.close();
    DeadLetters letters(broker);
    std::vector<std::uint64_t> offsets;
    letters.read(kImageLetters, {}, [&](const ConsumerRecord& record, const DecodedLetter&) {
        offsets.push_back(record.offset);
        return offsets.size() < 2;
    });
    require(offsets.size() == 2, "letters");
    require(letters.replay(kImageLetters, {.offset = offsets[0]}).replayed == 1, "replay");
    require(letters.purge(kImageLetters, {.offset = offsets[1]}).purged == 1, "purge");
}

// A keeper leaves its marks of what was published.
void mark(const Broker& broker) {
    Keeper keeper(broker);
    for (int step = 0; step < 3; ++step)
        (void)keeper.do_work(std::chrono::seconds(step));
}

GroupOptions member_of(const char* group, const char* static_name = "", bool gating = false) {
    GroupOptions options;
    options.name = group;
    options.static_name = static_name;
    options.gating = gating;
    options.on_loss = OnLoss::earliest;
    options.delivery = Delivery::manual;
    return options;
}

}  // namespace

class ImageHolders {
public:
    explicit ImageHolders(const Broker& broker)
        : producer_(broker, kImageTopic),
          loan_(producer_.loan(2'500)),
          exclusive_(broker, kImageBlockTopic, {.exclusive = true}),
          gate_(broker),
          member_(broker, member_of(kImageGroup)),
          static_(broker, member_of(kImageGroup, "static")),
          gating_(broker, member_of(kImageGroup, "", true)),
          worker_(broker, kImageTopic, kImageQueue) {
        require(loan_.status() == Status::ok, "loan");
        for (std::uint32_t i = 0; i < 8; ++i)
            require(exclusive_.publish({.value = as_bytes("held"), .partition = i % 2}).status == Status::ok,
                    "publish");
        gate_.assign(kImageBlockTopic);
        gate_.hold_gates("gate");
        for (Consumer* const one : {&member_, &static_})
            one->subscribe(kImageTopic);
        gating_.subscribe(kImageBlockTopic);
        for (int i = 0; i < 20; ++i) {
            for (Consumer* const one : {&member_, &static_, &gating_}) {
                (void)one->poll(2);
                (void)one->commit();
            }
        }
        work();
    }

private:
    /// A record in every state: acknowledged, failed and waiting, rejected, in hand.
    void work() {
        const AcquireResult acquired = worker_.acquire(6);
        require(acquired.records.size() == 6, "acquire");
        const Lock first = acquired.records[0].lock;
        const Lock third = acquired.records[2].lock;
        const Lock fourth = acquired.records[3].lock;
        require(worker_.ack(first).settled == Settled::done, "ack");
        require(worker_.ack(third).settled == Settled::done, "ack");
        require(worker_.nack(fourth, 1h).settled == Settled::done, "nack");
    }

    Producer producer_;
    Loan loan_;
    Producer exclusive_;
    Consumer gate_;
    Consumer member_;
    Consumer static_;
    Consumer gating_;
    QueueWorker worker_;
};

void make_image_topics(Broker& broker) {
    TopicOptions options;
    options.records = 16;
    options.producer_slots = 4;
    options.cell_bytes = 64;
    options.payload_bytes = 1 << 16;
    options.groups = 4;
    options.members = 4;
    options.retention = {std::chrono::hours(1), 15, 1 << 16};
    broker.create_topic(kImageTopic, options);
    options.partitions = 2;
    options.payload_bytes = 0;
    options.retention = {};
    options.when_full = WhenFull::block;
    broker.create_topic(kImageBlockTopic, options);
}

void EndHolders::operator()(ImageHolders* holders) const noexcept { delete holders; }

HeldImage fill_image(Broker& broker) {
    make_image_topics(broker);
    publish_some(broker);
    make_letters(broker);
    publish_some(broker);
    QueueOptions options;
    options.exhausted = options.expired = Exhausted::skip;
    QueueAdmin(broker).create(kImageTopic, kImageQueue, options);
    mark(broker);
    return HeldImage(new ImageHolders(broker));
}

}  // namespace ringmain::test
