// How late are 64-byte records that are sent at a fixed rate, and how late would this machine be without any queue?
//
// At 10, 50 and 80 % of what each contestant carries at its best in the same loop. A record's latency counts from when
// it was due, so a stall is in it for every record that waited.
#include <functional>
#include <map>
#include <string>

#include "bench/common/contest.hpp"
#include "bench/common/open_loop.hpp"
#include "bench/common/statistics.hpp"
#include "bench/contestants/library_link.hpp"
#include "bench/contestants/plans.hpp"
#include "bench/limits/limits.hpp"
#include "bench/peers/list.hpp"

namespace {

using namespace ringmain::bench;

constexpr double kSeconds = 0.3;
constexpr double kPeakSeconds = 0.1;
constexpr double kOwnRecordsPerS = 8e6;
constexpr int kPeakRuns = 3;
constexpr double kHiccupIntervalNs = 1000;
constexpr std::uint64_t kRecordsMin = 1000;

using Run = std::function<OpenLoopResult(const OpenLoopPlan&)>;

/// One contestant at all rates. Its peak is measured at its first turn, and stands for the whole run.
class Load {
public:
    Load(const ContestOptions& options, Run run, double expected_per_s)
        : options_(options), run_(std::move(run)), expected_per_s_(expected_per_s) {}

    Sample at(double fraction) {
        if (peak_per_s_ == 0)
            peak_per_s_ = measure_peak();
        OpenLoopPlan plan = plan_for(kSeconds * fraction * peak_per_s_);
        plan.records_per_s = fraction * peak_per_s_;
        Sample sample = latency_sample(run_(plan).ns);
        sample.extras["records_per_s"] = plan.records_per_s;
        return sample;
    }

private:
    [[nodiscard]] OpenLoopPlan plan_for(double records) const {
        OpenLoopPlan plan;
        plan.records = options_.scaled(static_cast<std::uint64_t>(records), kRecordsMin);
        plan.sender_cpu = options_.cpus[0];
        plan.receiver_cpu = options_.cpus[1];
        return plan;
    }
    [[nodiscard]] double measure_peak() const {
        std::vector<double> peaks;
        for (int i = 0; i < kPeakRuns; ++i)
            peaks.push_back(run_(plan_for(kPeakSeconds * expected_per_s_)).records_per_s);
        return summarize(peaks).median;
    }

    const ContestOptions& options_;
    Run run_;
    double expected_per_s_;
    double peak_per_s_ = 0;
};

void add_load(Contest& contest, const std::string& series, const std::string& what, double expected_per_s, Run run) {
    const auto load = std::make_shared<Load>(contest.options(), std::move(run), expected_per_s);
    for (const int percent : {10, 50, 80}) {
        contest.add({series + " at " + std::to_string(percent) + " %", "ns", what + ", p50",
                     [load, percent] { return load->at(percent / 100.0); },
                     PlotPoint{series, static_cast<double>(percent)}});
    }
}

class Adder {
public:
    explicit Adder(Contest& contest) : contest_(contest) {}

    template <class Link>
    void peer() {
        add_load(contest_, Link::kFacts.name, Link::kFacts.what, Link::kFacts.records_per_s,
                 [](const OpenLoopPlan& plan) {
                     Link link;
                     return open_loop<64>(plan, link);
                 });
    }
    template <std::size_t kBytes>
    void own(ScratchBroker& scratch, const char* series, const char* what) {
        add_load(contest_, series, what, kOwnRecordsPerS, [&scratch](const OpenLoopPlan& plan) {
            LibraryOptions library;
            library.topic.when_full = ringmain::WhenFull::block;
            LibraryLink<kBytes, Read::visit> link(scratch.broker(), "open_loop", library);
            return open_loop<kBytes>(plan, link);
        });
    }
    void missing(const char* name, const char* package) { contest_.add(left_out(name, "ns", missing_text(package))); }

private:
    Contest& contest_;
};

}  // namespace

int main(int argc, char** argv) {
    const char* question =
        "How late are 64-byte records that are sent at a fixed rate, and how late would this machine be without any "
        "queue?";
    return contest_main(argc, argv, "open_loop", question, [](Contest& contest) {
        static ScratchBroker scratch;
        contest.add({"hiccup floor", "ns", "two processes that only read the clock, a moment each us, p50",
                     [&options = contest.options()] {
                         return latency_sample(
                             hiccups({options.cpus[0], options.cpus[1]}, kSeconds * options.scale, kHiccupIntervalNs));
                     },
                     PlotPoint{"hiccup floor", 0}});
        Adder add(contest);
        add.own<64>(scratch, "Ringmain", "default options, block, visit in place");
        add.own<40>(scratch, "Ringmain 40 B", "40 bytes in a default cell, block, visit in place");
#if defined(RINGMAIN_BENCH_DPDK)
        add.peer<DpdkRingLink<64, RingSenders::one>>();
#else
        add.missing("rte_ring sp/sc", "libdpdk-dev");
#endif
        add.peer<BoostQueueLink<64>>();
        add.peer<PipeLink<64>>();
        add.peer<UnixSocketLink<64>>();
    });
}
