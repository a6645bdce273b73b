// How does the throughput depend on the number of producers?
//
// 40-byte records, one consumer. Where there are fewer processors than processes, they share them in the same way for
// everybody, and the consumer gives its processor away when it finds nothing.
#include <string>

#include "bench/common/contest.hpp"
#include "bench/common/duel.hpp"
#include "bench/contestants/library_link.hpp"
#include "bench/contestants/plans.hpp"
#include "bench/peers/list.hpp"
#include "bench/peers/naive_log.hpp"

namespace {

using namespace ringmain::bench;

constexpr std::size_t kBytes = 40;
constexpr double kSeconds = 0.25;
constexpr double kOwnRecordsPerS = 8e6;
constexpr const char* kUnit = "records/s";

class Adder {
public:
    Adder(Contest& contest, std::uint64_t producers) : contest_(contest), producers_(producers) {}

    template <class Link>
    void peer() {
        const StreamPlan plan = plan_for(Link::kFacts.records_per_s);
        add(Link::kFacts.name, Link::kFacts.what, [plan] {
            Link link;
            return stream<kBytes>(plan, link);
        });
    }
    void missing(const char* name, const char* package) { left_out(name, missing_text(package)); }
    void left_out(const char* name, std::string reason) {
        contest_.add(ringmain::bench::left_out(name_of(name), kUnit, std::move(reason)));
    }
    template <Send kSend>
    void own(ScratchBroker& scratch, const char* series, const char* what) {
        const StreamPlan plan = plan_for(kOwnRecordsPerS);
        add(series, what, [plan, &scratch] {
            LibraryOptions library;
            library.topic.when_full = ringmain::WhenFull::block;
            LibraryLink<kBytes, Read::poll, kSend> link(scratch.broker(), "producers", library);
            return stream<kBytes>(plan, link);
        });
    }
    void naive() {
        const StreamPlan plan = plan_for(kOwnRecordsPerS);
        add("naive log", "fetch-add, copy, store; a stopped producer stops everybody", [plan] {
            NaiveLink<kBytes> link(ringmain::TopicOptions{}.records);
            return stream<kBytes>(plan, link);
        });
    }

private:
    [[nodiscard]] std::string name_of(const std::string& series) const {
        return series + ", " + std::to_string(producers_) + (producers_ == 1 ? " producer" : " producers");
    }
    [[nodiscard]] StreamPlan plan_for(double records_per_s) const {
        return timed_plan(contest_.options(), records_per_s, kSeconds, Idle::pause, producers_);
    }
    void add(const char* series, const char* what, std::function<Sample()> round) {
        const PlotPoint point{series, static_cast<double>(producers_)};
        contest_.add({name_of(series), kUnit, what, std::move(round), point});
    }

    Contest& contest_;
    std::uint64_t producers_;
};

void add_number(Contest& contest, ScratchBroker& scratch, std::uint64_t producers) {
    Adder add(contest, producers);
    add.own<Send::copy>(scratch, "Ringmain", "publish, block, poll");
    add.own<Send::batch>(scratch, "Ringmain batch", "batches of 16, block, poll");
    add.naive();
#if defined(RINGMAIN_BENCH_DPDK)
    if (producers <= contest.options().cpus.size()) {
        add.peer<DpdkRingLink<kBytes, RingSenders::many>>();
    } else {
        add.left_out("rte_ring mp/sc",
                     "its producers wait for each other without giving the processor away: with fewer "
                     "processors than producers that takes minutes");
    }
    add.peer<DpdkRingLink<kBytes, RingSenders::crowd>>();
#else
    add.missing("rte_ring mp/sc", "libdpdk-dev");
#endif
    add.peer<BoostQueueLink<kBytes>>();
#if defined(RINGMAIN_BENCH_MOODYCAMEL)
    add.peer<ConcurrentLink<kBytes>>();
#else
    add.missing("concurrentqueue (threads)", "libconcurrentqueue-dev");
#endif
}

}  // namespace

int main(int argc, char** argv) {
    return contest_main(argc, argv, "producers", "How does the throughput depend on the number of producers?",
                        [](Contest& contest) {
                            static ScratchBroker scratch;
                            for (const std::uint64_t producers : {1, 2, 4})
                                add_number(contest, scratch, producers);
                        });
}
