// How much memory does a ring of 64-byte records take, and how does the throughput depend on the size of the ring?
#include <string>

#include "bench/common/contest.hpp"
#include "bench/common/duel.hpp"
#include "bench/contestants/library_link.hpp"
#include "bench/contestants/plans.hpp"
#include "bench/limits/limits.hpp"
#include "bench/peers/list.hpp"

namespace {

using namespace ringmain::bench;

constexpr std::uint64_t kRecords = 65'536;
constexpr double kSeconds = 0.15;
constexpr double kRecordsPerS = 10e6;
constexpr std::size_t kLineBytes = 64;

/// Bytes on the file system for each record that such a topic keeps.
double bytes_per_record(ringmain::Broker& broker, const ringmain::TopicOptions& options) {
    const ringmain::TopicDescription topic = broker.create_topic("footprint", options);
    const auto bytes = static_cast<double>(ringmain::topic_bytes(options));
    broker.delete_topic("footprint");
    return bytes / static_cast<double>(topic.options.records);
}

void add_memory(Contest& contest, ScratchBroker& scratch) {
    const auto add = [&](const char* name, const char* what, std::function<double()> measure) {
        contest.add({name, "B", what, [measure = std::move(measure)] { return Sample{measure(), {}}; }});
    };
    add("Ringmain, memory", "default options, per record",
        [&scratch] { return bytes_per_record(scratch.broker(), {}); });
    add("Ringmain without payload memory, memory", "cells of 128 bytes alone, per record", [&scratch] {
        ringmain::TopicOptions options;
        options.payload_bytes = 0;
        return bytes_per_record(scratch.broker(), options);
    });
    constexpr auto kCount = static_cast<double>(kRecords);
#if defined(RINGMAIN_BENCH_DPDK)
    add("rte_ring, memory", "65,536 elements of 64 bytes, per record",
        [] { return static_cast<double>(DpdkRingLink<64, RingSenders::one>::footprint(kRecords)) / kCount; });
#endif
    add("boost message_queue, memory", "65,536 messages of 64 bytes, per record",
        [] { return static_cast<double>(BoostQueueLink<64>(kRecords).footprint()) / kCount; });
#if defined(RINGMAIN_BENCH_REDIS)
    add("Redis stream, memory", "MEMORY USAGE of a stream of 65,536 entries of 64 bytes, per record", [&contest] {
        const std::uint64_t records = contest.options().scaled(kRecords, 1000);
        RedisStreamLink<64, 64> link;
        auto sender = link.sender(0);
        for (std::uint64_t i = 0; i < records; ++i)
            sender.send(i);
        sender.flush();
        RedisClient client(link.server());
        client.append({"MEMORY", "USAGE", "records", "SAMPLES", "0"});
        return static_cast<double>(client.answer()->integer) / static_cast<double>(records);
    });
#endif
}

std::string kib_text(std::uint64_t bytes) {
    const std::uint64_t kib = bytes / 1024;
    return kib < 1024 ? std::to_string(kib) + " KiB" : std::to_string(kib / 1024) + " MiB";
}

void add_ring_size(Contest& contest, ScratchBroker& scratch, std::uint64_t records) {
    const ContestOptions& options = contest.options();
    const StreamPlan plan = timed_plan(options, kRecordsPerS, kSeconds, Idle::pause);
    const std::uint64_t bytes = records * kLineBytes;
    const auto x = static_cast<double>(bytes);
    contest.add({"Ringmain 40 B, " + kib_text(bytes), "records/s", "shared producer, cells of 64 bytes, block, poll",
                 [plan, &scratch, records] {
                     LibraryOptions library;
                     library.topic.when_full = ringmain::WhenFull::block;
                     library.topic.records = records;
                     library.topic.payload_bytes = 0;
                     LibraryLink<40, Read::poll> link(scratch.broker(), "ring", library);
                     return stream<40>(plan, link);
                 },
                 PlotPoint{"Ringmain 40 B", x}});
#if defined(RINGMAIN_BENCH_DPDK)
    contest.add({"rte_ring sp/sc, " + kib_text(bytes), "records/s", "64-byte elements",
                 [plan, records] {
                     DpdkRingLink<64, RingSenders::one> link(records);
                     return stream<64>(plan, link);
                 },
                 PlotPoint{"rte_ring sp/sc", x}});
#endif
    contest.add({"lines, " + kib_text(bytes), "lines/s", "64-byte lines written, streamed through a ring, read",
                 [&options, bytes] {
                     const CpuPair cpus{options.cpus[0], options.cpus[1]};
                     return Sample{line_stream_per_s(cpus, bytes, options.scaled(5'000'000, 100'000)), {}};
                 },
                 PlotPoint{"lines", x}});
}

}  // namespace

int main(int argc, char** argv) {
    const char* question =
        "How much memory does a ring of 64-byte records take, and how does the throughput depend on the size of the "
        "ring?";
    return contest_main(argc, argv, "footprint", question, [](Contest& contest) {
        static ScratchBroker scratch;
        add_memory(contest, scratch);
        for (const unsigned shift : {10U, 12U, 14U, 16U, 18U, 20U})
            add_ring_size(contest, scratch, std::uint64_t{1} << shift);
    });
}
