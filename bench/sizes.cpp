// How does the throughput depend on the size of the records?
//
// One producer, one consumer that pauses about a microsecond when it finds nothing, as much memory for everybody.
#include <algorithm>
#include <string>

#include "bench/common/contest.hpp"
#include "bench/common/duel.hpp"
#include "bench/contestants/library_link.hpp"
#include "bench/contestants/plans.hpp"
#include "bench/peers/list.hpp"

namespace {

using namespace ringmain::bench;

constexpr double kSeconds = 0.15;
constexpr double kOwnRecordsPerS = 10e6;
constexpr double kBytesPerS = 4e9;  // what is expected at most
constexpr const char* kUnit = "records/s";

std::string size_text(std::size_t bytes) {
    return bytes < 1024 ? std::to_string(bytes) + " B" : std::to_string(bytes / 1024) + " KiB";
}

template <std::size_t kBytes>
class Adder {
public:
    explicit Adder(Contest& contest) : contest_(contest) {}

    template <class Link>
    void peer() {
        const StreamPlan plan = plan_for(Link::kFacts.records_per_s);
        add(Link::kFacts.name, Link::kFacts.what, [plan] {
            Link link;
            return stream<kBytes>(plan, link);
        });
    }
    void missing(const char* name, const char* package) {
        contest_.add(left_out(name_of(name), kUnit, missing_text(package)));
    }
    void own(ScratchBroker& scratch) {
        const StreamPlan plan = plan_for(kOwnRecordsPerS);
        add("Ringmain", "shared producer, default options, block, poll", [plan, &scratch] {
            LibraryOptions library;
            library.topic.when_full = ringmain::WhenFull::block;
            LibraryLink<kBytes, Read::poll> link(scratch.broker(), "sizes", library);
            return stream<kBytes>(plan, link);
        });
    }

private:
    [[nodiscard]] static std::string name_of(const std::string& series) { return series + ", " + size_text(kBytes); }
    [[nodiscard]] StreamPlan plan_for(double records_per_s) const {
        return timed_plan(contest_.options(), std::min(records_per_s, kBytesPerS / kBytes), kSeconds, Idle::pause);
    }
    void add(const char* series, const char* what, std::function<Sample()> round) {
        contest_.add({name_of(series), kUnit, what, std::move(round), PlotPoint{series, kBytes}});
    }

    Contest& contest_;
};

template <std::size_t kBytes>
void add_size(Contest& contest, ScratchBroker& scratch) {
    Adder<kBytes> add(contest);
    add.own(scratch);
#if defined(RINGMAIN_BENCH_DPDK)
    add.template peer<DpdkRingLink<kBytes, RingSenders::one>>();
#else
    add.missing("rte_ring sp/sc", "libdpdk-dev");
#endif
    add.template peer<BoostQueueLink<kBytes>>();
    add.template peer<PipeLink<kBytes>>();
    add.template peer<UnixSocketLink<kBytes>>();
#if defined(RINGMAIN_BENCH_ZEROMQ)
    add.template peer<ZeromqLink<kBytes>>();
#else
    add.missing("ZeroMQ ipc", "libzmq3-dev");
#endif
    const std::string size = ", " + size_text(kBytes);
    contest.compare({"Ringmain / rte_ring sp/sc" + size, "Ringmain" + size, "rte_ring sp/sc" + size, {}});
}

}  // namespace

int main(int argc, char** argv) {
    return contest_main(argc, argv, "sizes", "How does the throughput depend on the size of the records?",
                        [](Contest& contest) {
                            static ScratchBroker scratch;
                            add_size<8>(contest, scratch);
                            add_size<64>(contest, scratch);
                            add_size<256>(contest, scratch);
                            add_size<1024>(contest, scratch);
                            add_size<4096>(contest, scratch);
                            add_size<16384>(contest, scratch);
                        });
}
