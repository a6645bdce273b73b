// What do many partitions cost: a publish, and a stream to one consumer of all of them?
//
// One producer goes round all partitions, 40 bytes a record. A thousand small rings are more memory than one of them,
// and then it is the memory that is measured; so one partition is measured both with as many places as each of the many
// has, and with as many as all of them together.
#include <string>

#include "bench/common/contest.hpp"
#include "bench/common/duel.hpp"
#include "bench/contestants/library_link.hpp"
#include "bench/contestants/plans.hpp"

namespace {

using namespace ringmain::bench;

constexpr std::size_t kBytes = 40;
constexpr std::uint64_t kPlaces = 1024;  // of each partition
constexpr std::uint64_t kPublishes = 2'000'000;
constexpr double kSeconds = 0.25;
constexpr double kRecordsPerS = 8e6;

ringmain::TopicOptions options_for(std::uint32_t partitions, std::uint64_t places, ringmain::WhenFull when_full) {
    ringmain::TopicOptions options;
    options.partitions = partitions;
    options.records = places;
    options.cell_bytes = 64;  // who has so many partitions of small records does not give them larger cells
    options.payload_bytes = 0;
    options.when_full = when_full;
    return options;
}

/// Round and round the partitions.
class RoundRobinSender {
public:
    RoundRobinSender(const std::filesystem::path& directory, const std::string& topic)
        : producer_(ringmain::Broker(directory), topic) {
        for (std::uint32_t p = 0; p < producer_.partitions(); ++p)
            producer_.attach(p);
        record_.value = ringmain::Bytes(bytes_, kBytes);
        record_.timestamp_ns = 1;
    }
    void send(std::uint64_t sequence) {
        Payload<kBytes>::write(bytes_, sequence);
        record_.partition = next_;
        next_ = next_ + 1 == producer_.partitions() ? 0 : next_ + 1;
        require_ok(producer_.publish(record_).status);
    }

private:
    ringmain::Producer producer_;
    ringmain::ProducerRecord record_;
    std::uint32_t next_ = 0;
    alignas(64) std::byte bytes_[kBytes];
};

/// Reads all partitions, and moves the gates when a quarter of the places may have been used.
class AllReceiver {
public:
    AllReceiver(const std::filesystem::path& directory, const std::string& topic, std::uint64_t places)
        : consumer_(ringmain::Broker(directory), {.wait = ringmain::WaitStrategy::spin}), step_(places / 4) {
        consumer_.assign(topic);
        consumer_.hold_gates("bench");
    }
    template <class Sink>
    std::uint64_t drain(std::uint64_t max, Sink&& sink) {
        const ringmain::PollResult result = consumer_.poll(max);
        require_ok(result.status);
        for (const ringmain::ConsumerRecord& record : result.records)
            sink(record.value->data(), record.value->size());
        since_ += result.records.size();
        if (since_ >= step_ || (result.records.empty() && since_ > 0)) {
            consumer_.move_gates();
            since_ = 0;
        }
        return result.records.size();
    }
    [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

private:
    ringmain::Consumer consumer_;
    std::uint64_t step_;
    std::uint64_t since_ = 0;
};

class PartitionsLink {
public:
    PartitionsLink(ringmain::Broker& broker, const ringmain::TopicOptions& options)
        : broker_(broker), places_(options.records * options.partitions) {
        broker_.create_topic(kTopic, options);
    }
    ~PartitionsLink() { broker_.delete_topic(kTopic); }
    PartitionsLink(const PartitionsLink&) = delete;
    PartitionsLink& operator=(const PartitionsLink&) = delete;

    RoundRobinSender sender(unsigned) { return {broker_.directory(), kTopic}; }
    AllReceiver receiver() { return {broker_.directory(), kTopic, places_}; }

private:
    static constexpr const char* kTopic = "partitions";
    ringmain::Broker& broker_;
    std::uint64_t places_;
};

/// Mean of a publish by one process while nobody reads, after two laps.
Sample publish_cost(const ContestOptions& options, ScratchBroker& scratch, std::uint32_t partitions,
                    std::uint64_t places) {
    PartitionsLink link(scratch.broker(), options_for(partitions, places, ringmain::WhenFull::overwrite));
    const std::uint64_t warm = 2 * partitions * places;
    const std::uint64_t records = options.scaled(kPublishes, partitions);
    Shared<double> publish_ns;
    ChildGroup group;
    group.start(options.cpus[0], [&] {
        RoundRobinSender sender = link.sender(0);
        for (std::uint64_t i = 0; i < warm; ++i)
            sender.send(i);
        const std::uint64_t from = ticks_now();
        for (std::uint64_t i = 0; i < records; ++i)
            sender.send(i);
        *publish_ns = ticks_to_ns(ticks_now() - from) / static_cast<double>(records);
    });
    group.wait();
    return {*publish_ns, {}};
}

void add_number(Contest& contest, ScratchBroker& scratch, std::uint32_t partitions) {
    const ContestOptions& options = contest.options();
    const std::string number = std::to_string(partitions) + (partitions == 1 ? " partition" : " partitions");
    contest.add({"publish, " + number, "ns", "mean, 1,024 places in each partition",
                 [&options, &scratch, partitions] { return publish_cost(options, scratch, partitions, kPlaces); },
                 PlotPoint{"publish", static_cast<double>(partitions)}});
    StreamPlan plan = timed_plan(options, kRecordsPerS, kSeconds, Idle::pause);
    plan.ordered = partitions == 1;
    contest.add({"stream, " + number, "records/s", "one producer, one consumer of all partitions, block, poll",
                 [plan, &scratch, partitions] {
                     PartitionsLink link(scratch.broker(), options_for(partitions, kPlaces, ringmain::WhenFull::block));
                     return stream<kBytes>(plan, link);
                 },
                 PlotPoint{"stream", static_cast<double>(partitions)}});
}

}  // namespace

int main(int argc, char** argv) {
    const char* question = "What do many partitions cost: a publish, and a stream to one consumer of all of them?";
    return contest_main(argc, argv, "partitions", question, [](Contest& contest) {
        static ScratchBroker scratch;
        for (const std::uint32_t partitions : {1U, 10U, 100U, 1000U})
            add_number(contest, scratch, partitions);
        constexpr std::uint64_t kAllPlaces = std::uint64_t{1} << 20;
        contest.add({"publish, 1 partition of 64 MiB", "ns", "mean, as many places as a thousand partitions have",
                     [&contest] { return publish_cost(contest.options(), scratch, 1, kAllPlaces); }});
        const Wanted wanted{Relation::at_most, 1.2};
        contest.compare(
            {"publish to 1,000 partitions / to 1", "publish, 1000 partitions", "publish, 1 partition", wanted});
        contest.compare({"publish to 1,000 partitions / to 1 of as much memory", "publish, 1000 partitions",
                         "publish, 1 partition of 64 MiB", wanted});
        contest.compare({"stream of 1,000 partitions / of 1", "stream, 1000 partitions", "stream, 1 partition", {}});
    });
}
