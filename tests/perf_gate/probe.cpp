// Makes one kind of call a given number of times, for an instruction counter: ringmain_instruction_probe VARIANT COUNT.
//
// Everything else that it does is the same for every COUNT, so the difference of two runs is the calls alone.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/common/scratch.hpp"
#include "ringmain/ringmain.hpp"

namespace {

using namespace ringmain;

constexpr const char* kTopic = "probe";
constexpr std::uint64_t kRingRecords = 4096;        // small, so that publishing is in steady laps after the warm-up
constexpr std::uint64_t kReadableRecords = 65'536;  // for the readers: nothing is overwritten
constexpr std::size_t kBatch = 16;

void require(bool good) {
    if (!good)
        throw std::runtime_error("the log did not answer ok");
}

struct Stage {
    Broker broker;
    std::uint64_t count = 0;
};

TopicOptions ring_options(std::uint64_t records) {
    TopicOptions options;
    options.records = records;
    options.producer_slots = 4;
    options.payload_bytes = 1 << 20;
    return options;
}

ProducerRecord stamped(const std::vector<std::byte>& value) {
    ProducerRecord record;
    record.value = value;
    record.partition = 0;
    record.timestamp_ns = 1;
    return record;
}

void publish_times(Producer& producer, const ProducerRecord& record, std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i)
        require(producer.publish(record).status == Status::ok);
}

void publish(const Stage& stage, std::size_t bytes, const ProducerOptions& options, bool own_clock = false) {
    Broker broker = stage.broker;
    broker.create_topic(kTopic, ring_options(kRingRecords));
    Producer producer(broker, kTopic, options);
    const std::vector<std::byte> value(bytes, std::byte{7});
    ProducerRecord record = stamped(value);
    if (own_clock)
        record.timestamp_ns.reset();
    publish_times(producer, record, 2 * kRingRecords);
    publish_times(producer, record, stage.count);
}

void publish_batches(const Stage& stage) {
    Broker broker = stage.broker;
    broker.create_topic(kTopic, ring_options(kRingRecords));
    Producer producer(broker, kTopic);
    const std::vector<std::byte> value(40, std::byte{7});
    const std::vector<ProducerRecord> batch(kBatch, stamped(value));
    for (std::uint64_t i = 0; i < (2 * kRingRecords + stage.count) / kBatch; ++i) {
        require(producer.publish_batch(batch).status == Status::ok);
    }
}

Consumer filled_topic(const Stage& stage) {
    Broker broker = stage.broker;
    broker.create_topic(kTopic, ring_options(kReadableRecords));
    Producer producer(broker, kTopic);
    const std::vector<std::byte> value(40, std::byte{7});
    publish_times(producer, stamped(value), kReadableRecords);
    Consumer consumer(broker, {.wait = WaitStrategy::spin});
    consumer.assign(kTopic, 0);
    require(consumer.poll(256).records.size() == 256);
    return consumer;
}

void poll(const Stage& stage) {
    Consumer consumer = filled_topic(stage);
    for (std::uint64_t done = 0; done < stage.count;) {
        const std::size_t found = consumer.poll(250).records.size();
        require(found == 250);
        done += found;
    }
}

void visit(const Stage& stage) {
    Consumer consumer = filled_topic(stage);
    std::uint64_t bytes = 0;
    for (std::uint64_t done = 0; done < stage.count; ++done) {
        require(consumer.visit([&bytes](const ConsumerRecord& record) { bytes += record.value->size(); }) ==
                VisitStatus::valid);
    }
    require(bytes == 40 * stage.count);
}

const std::map<std::string, std::function<void(const Stage&)>> kVariants{
    {"publish_40", [](const Stage& stage) { publish(stage, 40, {}); }},
    {"publish_40_clock", [](const Stage& stage) { publish(stage, 40, {}, true); }},
    {"publish_40_exclusive", [](const Stage& stage) { publish(stage, 40, {.exclusive = true}); }},
    {"publish_1024", [](const Stage& stage) { publish(stage, 1024, {}); }},
    {"publish_batch_16", publish_batches},
    {"poll_40", poll},
    {"visit_40", visit},
};

}  // namespace

int main(int argc, char** argv) {
    const auto variant = argc == 3 ? kVariants.find(argv[1]) : kVariants.end();
    if (variant == kVariants.end()) {
        std::fprintf(stderr, "usage: ringmain_instruction_probe VARIANT COUNT\n");
        return 2;
    }
    try {
        const bench::ScratchDirectory scratch;
        variant->second({Broker(scratch.broker(), Broker::Mode::open_or_create), std::stoull(argv[2])});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ringmain_instruction_probe: %s\n", error.what());
        return 1;
    }
    return 0;
}
