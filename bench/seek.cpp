// How long does it take to find a record, and to attach to a topic that exists?
//
// Seeks go to random places among 2^20 records. Attaching is everything from a path to the first record: the broker is
// opened, the producer attached and one record published; or the consumer made, the topic assigned and one record read.
#include <chrono>
#include <random>
#include <string>

#include "bench/common/contest.hpp"
#include "bench/common/duel.hpp"
#include "bench/contestants/library_link.hpp"

namespace {

using namespace ringmain::bench;
using ringmain::Position;

constexpr std::size_t kBytes = 40;
constexpr std::uint64_t kRecords = std::uint64_t{1} << 20;
constexpr std::int64_t kRecordNs = 1'000'000;  // from one record's timestamp to the next
constexpr std::uint64_t kSeeks = 200'000;
constexpr std::uint64_t kAttachments = 200;
constexpr const char* kTopic = "history";

void fill(ringmain::Producer& producer, std::uint64_t records) {
    alignas(64) std::byte bytes[kBytes];
    ringmain::ProducerRecord record;
    record.value = ringmain::Bytes(bytes, kBytes);
    for (std::uint64_t i = 0; i < records; ++i) {
        Payload<kBytes>::write(bytes, i);
        record.timestamp_ns = static_cast<std::int64_t>(i) * kRecordNs;
        require_ok(producer.publish(record).status);
    }
}

/// The topic that is searched; lives as long as the program.
void make_history(ScratchBroker& scratch) {
    ringmain::TopicOptions options;
    options.records = kRecords;
    options.payload_bytes = 0;
    scratch.broker().create_topic(kTopic, options);
    ringmain::Producer producer(scratch.broker(), kTopic);
    fill(producer, kRecords);
}

/// Reads all records once: what is measured afterwards is not the first touch of a page.
void read_all(ringmain::Consumer& consumer) {
    for (std::uint64_t read = 0; read < kRecords;) {
        const ringmain::PollResult result = consumer.poll();
        require_ok(result.status);
        read += result.records.size();
    }
}

template <class PositionOf>
Sample seek_cost(const ContestOptions& options, ScratchBroker& scratch, bool read, PositionOf position_of) {
    Shared<double> mean_ns;
    ChildGroup group;
    group.start(options.cpus[0], [&] {
        ringmain::Consumer consumer{ringmain::Broker(scratch.broker().directory())};
        consumer.assign(kTopic, 0);
        read_all(consumer);
        std::mt19937_64 random(1);
        std::uint64_t misses = 0;
        const std::uint64_t seeks = options.scaled(kSeeks, 100);
        const std::uint64_t from = ticks_now();
        for (std::uint64_t i = 0; i < seeks; ++i) {
            const std::uint64_t place = random() % kRecords;
            misses += static_cast<std::uint64_t>(consumer.seek(kTopic, 0, position_of(place)).offset != place);
            if (read)
                misses += static_cast<std::uint64_t>(consumer.poll(1).records.front().offset != place);
        }
        *mean_ns = ticks_to_ns(ticks_now() - from) / static_cast<double>(seeks);
        if (misses != 0)
            throw std::runtime_error("a seek went astray");
    });
    group.wait();
    return {*mean_ns, {}};
}

void add_seeks(Contest& contest, ScratchBroker& scratch) {
    const ContestOptions& options = contest.options();
    const auto by_offset = [](std::uint64_t place) { return Position::at(place); };
    const auto by_time = [](std::uint64_t place) {
        return Position::since(static_cast<std::int64_t>(place) * kRecordNs);
    };
    contest.add({"seek by offset", "ns", "mean of random places, with the choice of the place",
                 [&options, &scratch, by_offset] { return seek_cost(options, scratch, false, by_offset); }});
    contest.add({"seek by offset and read", "ns", "the same, and a poll of one record",
                 [&options, &scratch, by_offset] { return seek_cost(options, scratch, true, by_offset); }});
    contest.add({"seek by time", "ns", "mean of random times among 2^20 records",
                 [&options, &scratch, by_time] { return seek_cost(options, scratch, false, by_time); }});
}

struct Size {
    const char* name;
    std::uint64_t records;
    std::uint64_t payload_bytes;
};

/// The median of `attach(directory, topic)`.
template <class Attach>
Sample attach_cost(const ContestOptions& options, ScratchBroker& scratch, const Size& size, Attach attach) {
    ringmain::TopicOptions topic;
    topic.records = size.records;
    topic.payload_bytes = size.payload_bytes;
    const std::string name = "attached";
    scratch.broker().create_topic(name, topic);
    {
        ringmain::Producer producer(scratch.broker(), name);
        fill(producer, 1);
    }
    Shared<Histogram> ns;
    {
        ChildGroup group;
        group.start(options.cpus[0], [&] {
            for (std::uint64_t i = 0; i < options.scaled(kAttachments, 5); ++i) {
                const std::uint64_t from = ticks_now();
                attach(scratch.broker().directory(), name);
                ns->record(static_cast<std::uint64_t>(ticks_to_ns(ticks_now() - from)));
            }
        });
        group.wait();
    }
    scratch.broker().delete_topic(name);
    Sample sample = latency_sample(*ns);
    sample.value /= 1000;
    for (auto& [percentile, value] : sample.extras)
        value /= 1000;
    return sample;
}

void publish_first(const std::filesystem::path& directory, const std::string& topic) {
    ringmain::Producer producer(ringmain::Broker(directory), topic);
    fill(producer, 1);
}

void read_first(const std::filesystem::path& directory, const std::string& topic) {
    ringmain::Consumer consumer{ringmain::Broker(directory)};
    consumer.assign(topic, 0);
    if (consumer.poll(1).records.size() != 1)
        throw std::runtime_error("the first record is not there");
}

void add_attachments(Contest& contest, ScratchBroker& scratch) {
    const ContestOptions& options = contest.options();
    const Wanted wanted{Relation::at_most, 1000};
    for (const Size& size :
         {Size{"1 MiB", 1 << 10, 1 << 18}, Size{"20 MiB", 1 << 16, 1 << 24}, Size{"320 MiB", 1 << 20, 1 << 28}}) {
        const std::string producer = std::string("producer to ") + size.name;
        const std::string consumer = std::string("consumer to ") + size.name;
        contest.add({producer, "us", "from the path to the first record published, p50",
                     [&options, &scratch, size] { return attach_cost(options, scratch, size, publish_first); }});
        contest.add({consumer, "us", "from the path to the first record read, p50",
                     [&options, &scratch, size] { return attach_cost(options, scratch, size, read_first); }});
        contest.compare({"attach a " + producer + ", us", producer, {}, wanted});
        contest.compare({"attach a " + consumer + ", us", consumer, {}, wanted});
    }
}

}  // namespace

int main(int argc, char** argv) {
    const char* question = "How long does it take to find a record, and to attach to a topic that exists?";
    return contest_main(argc, argv, "seek", question, [](Contest& contest) {
        static ScratchBroker scratch;
        make_history(scratch);
        add_seeks(contest, scratch);
        contest.compare({"seek by offset, ns", "seek by offset", {}, Wanted{Relation::at_most, 200}});
        contest.compare({"seek by time over 2^20 records, ns", "seek by time", {}, Wanted{Relation::at_most, 5000}});
        add_attachments(contest, scratch);
    });
}
