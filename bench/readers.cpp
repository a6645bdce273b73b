// How does the throughput depend on the number of readers, if each of them wants every record?
//
// 64-byte records, one producer. Readers that share a processor give it away when they find nothing. Beside logs, which
// all read, a ring for each reader, into which the producer writes every record.
#include <algorithm>
#include <array>
#include <string>

#include "bench/common/contest.hpp"
#include "bench/common/duel.hpp"
#include "bench/contestants/library_link.hpp"
#include "bench/contestants/many_readers.hpp"
#include "bench/contestants/plans.hpp"
#include "bench/peers/list.hpp"

namespace {

using namespace ringmain::bench;

constexpr std::size_t kBytes = 64;
constexpr double kSeconds = 0.25;
constexpr double kOwnRecordsPerS = 6e6;
constexpr unsigned kReadersMax = 8;
constexpr const char* kUnit = "records/s";

struct Board {
    alignas(128) StartBarrier start;
    std::array<StreamBoard, kReadersMax> readers;
};

/// Records that reached the slowest reader per second; all of them got all records.
template <class Link>
Sample fan_out(const ContestOptions& options, const StreamPlan& plan, unsigned readers, Link& link) {
    Shared<Board> board;
    const unsigned others = static_cast<unsigned>(options.cpus.size()) - 1;
    ChildGroup group;
    group.start(options.cpus[0], [&] {
        auto sender = link.sender(0);
        board->start.arrive_and_wait(readers + 1);
        for (std::uint64_t i = 0; i < plan.records; ++i)
            sender.send(i);
        if constexpr (requires { sender.flush(); })
            sender.flush();
    });
    for (unsigned r = 0; r < readers; ++r) {
        group.start(options.cpus[1 + r % others], [&, r] {
            auto receiver = link.receiver(r);
            board->start.arrive_and_wait(readers + 1);
            receive_stream<kBytes>(plan, receiver, board->readers.at(r));
        });
    }
    group.wait();
    double slowest = board->readers[0].records_per_s;
    for (unsigned r = 1; r < readers; ++r)
        slowest = std::min(slowest, board->readers.at(r).records_per_s);
    return {slowest, {{"deliveries_per_s", slowest * readers}}};
}

class Adder {
public:
    Adder(Contest& contest, unsigned readers) : contest_(contest), readers_(readers) {}

    void own(ScratchBroker& scratch) {
        const StreamPlan plan = plan_for(kOwnRecordsPerS);
        add("Ringmain", "one log, block, a gate for each reader, poll",
            [this_options = &contest_.options(), plan, &scratch, readers = readers_] {
                LibraryOptions library;
                library.topic.when_full = ringmain::WhenFull::block;
                SharedByReaders<LibraryLink<kBytes, Read::poll>> link(scratch.broker(), "readers", library);
                return fan_out(*this_options, plan, readers, link);
            });
    }
    template <class Link>
    void ring_each() {
        const StreamPlan plan = plan_for(Link::kFacts.records_per_s / readers_);
        add(std::string(Link::kFacts.name) + " each", "a queue for each reader, the producer writes to all",
            [this_options = &contest_.options(), plan, readers = readers_] {
                OnePerReader<Link> link(readers);
                return fan_out(*this_options, plan, readers, link);
            });
    }
    template <class Link>
    void shared_log() {
        const StreamPlan plan = plan_for(Link::kFacts.records_per_s / readers_);
        add(Link::kFacts.name, Link::kFacts.what, [this_options = &contest_.options(), plan, readers = readers_] {
            SharedByReaders<Link> link;
            return fan_out(*this_options, plan, readers, link);
        });
    }
    void missing(const char* name, const char* package) {
        contest_.add(left_out(name_of(name), kUnit, missing_text(package)));
    }

private:
    [[nodiscard]] std::string name_of(const std::string& series) const {
        return series + ", " + std::to_string(readers_) + (readers_ == 1 ? " reader" : " readers");
    }
    [[nodiscard]] StreamPlan plan_for(double records_per_s) const {
        StreamPlan plan = timed_plan(contest_.options(), records_per_s, kSeconds, Idle::pause);
        if (contest_.options().cpus.size() < readers_ + 1)
            plan.idle = Idle::yield;
        return plan;
    }
    void add(const std::string& series, const char* what, std::function<Sample()> round) {
        const PlotPoint point{series, static_cast<double>(readers_)};
        contest_.add({name_of(series), kUnit, what, std::move(round), point});
    }

    Contest& contest_;
    unsigned readers_;
};

void add_number(Contest& contest, ScratchBroker& scratch, unsigned readers) {
    Adder add(contest, readers);
    add.own(scratch);
#if defined(RINGMAIN_BENCH_DPDK)
    add.ring_each<DpdkRingLink<kBytes, RingSenders::one>>();
#else
    add.missing("rte_ring sp/sc each", "libdpdk-dev");
#endif
    add.ring_each<BoostQueueLink<kBytes>>();
#if defined(RINGMAIN_BENCH_REDIS)
    add.shared_log<RedisStreamLink<kBytes, 64>>();
#else
    add.missing("Redis stream", "libhiredis-dev, redis-tools");
#endif
}

}  // namespace

int main(int argc, char** argv) {
    const char* question =
        "How does the throughput depend on the number of readers, if each of them wants every record?";
    return contest_main(argc, argv, "readers", question, [](Contest& contest) {
        static ScratchBroker scratch;
        for (const unsigned readers : {1U, 2U, 4U, kReadersMax})
            add_number(contest, scratch, readers);
    });
}
