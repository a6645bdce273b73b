// How many 64-byte records a second go from one producer to one consumer, here and by what people use today?
//
// Everybody has the same work, the same processors and the same idle policy, but for those that have threads or a
// server of their own. Ringmain with its defaults on a `block` topic, because the peers lose nothing either.
#include "bench/common/contest.hpp"
#include "bench/common/duel.hpp"
#include "bench/contestants/library_link.hpp"
#include "bench/contestants/plans.hpp"
#include "bench/limits/limits.hpp"
#include "bench/peers/list.hpp"

namespace {

using namespace ringmain::bench;

constexpr double kSeconds = 0.25;
constexpr double kOwnRecordsPerS = 10e6;
constexpr unsigned kPipeline = 64;
constexpr const char* kUnit = "records/s";

class Adder {
public:
    Adder(Contest& contest, Idle idle) : contest_(contest), idle_(idle) {}

    template <class Link>
    void peer() {
        const PeerFacts& facts = Link::kFacts;
        const std::string name = facts.own_threads ? facts.name : in_this_way(facts.name);
        const StreamPlan plan = timed_plan(contest_.options(), facts.records_per_s, kSeconds, idle_);
        contest_.add({name, kUnit, facts.what, [plan] {
                          Link link;
                          return stream<64>(plan, link);
                      }});
    }
    void missing(const char* name, const char* package) {
        contest_.add(left_out(in_this_way(name), kUnit, missing_text(package)));
    }

    template <std::size_t kBytes, Send kSend = Send::copy>
    void own(ScratchBroker& scratch, const std::string& name, const std::string& what, LibraryOptions library) {
        library.topic.when_full = ringmain::WhenFull::block;
        const StreamPlan plan = timed_plan(contest_.options(), kOwnRecordsPerS, kSeconds, idle_);
        contest_.add({in_this_way(name), kUnit, what, [plan, &scratch, library] {
                          LibraryLink<kBytes, Read::poll, kSend> link(scratch.broker(), "peers", library);
                          return stream<kBytes>(plan, link);
                      }});
    }

private:
    [[nodiscard]] std::string in_this_way(const std::string& name) const { return name + ", " + to_string(idle_); }

    Contest& contest_;
    Idle idle_;
};

void add_own(Contest& contest, ScratchBroker& scratch, Idle idle) {
    LibraryOptions plain;
    LibraryOptions exclusive;
    exclusive.exclusive = true;
    LibraryOptions narrow;
    narrow.topic.cell_bytes = 64;
    Adder add(contest, idle);
    add.own<64>(scratch, "Ringmain", "shared producer, default options, poll", plain);
    add.own<64>(scratch, "Ringmain exclusive", "exclusive producer, default options, poll", exclusive);
    add.own<64, Send::batch>(scratch, "Ringmain batch", "shared producer, batches of 16, default options, poll", plain);
    add.own<64>(scratch, "Ringmain 64 B cells", "shared producer, bodies in an extent, poll", narrow);
    add.own<40>(scratch, "Ringmain 40 B", "shared producer, 40 bytes in a default cell, poll", plain);
    add.own<40>(scratch, "Ringmain 40 B exclusive", "exclusive producer, 40 bytes in a default cell, poll", exclusive);
}

void add_lines(Contest& contest, const std::string& name, std::size_t bytes) {
    const ContestOptions& options = contest.options();
    contest.add({name, "lines/s", "64-byte lines written, streamed through a ring of the size of a topic's, read",
                 [&options, bytes] {
                     const CpuPair cpus{options.cpus[0], options.cpus[1]};
                     return Sample{line_stream_per_s(cpus, bytes, options.scaled(20'000'000, 100'000)), {}};
                 }});
}

void compare(Contest& contest, const std::string& idle, double shared_wanted) {
    const auto against = [&](const std::string& own, const std::string& peer, std::optional<Wanted> wanted) {
        contest.compare({own + " / " + peer + ", " + idle, own + ", " + idle, peer + ", " + idle, wanted});
    };
    against("Ringmain", "rte_ring sp/sc", Wanted{Relation::at_least, shared_wanted});
    for (const char* own :
         {"Ringmain exclusive", "Ringmain batch", "Ringmain 64 B cells", "Ringmain 40 B", "Ringmain 40 B exclusive"}) {
        against(own, "rte_ring sp/sc", {});
    }
    for (const char* peer : {"rte_ring mp/sc", "boost message_queue", "pipe", "Unix socket", "POSIX mq",
                             "readerwriterqueue (threads)", "concurrentqueue (threads)"}) {
        against("Ringmain", peer, {});
    }
    for (const char* peer : {"ZeroMQ ipc", "Redis stream"})
        contest.compare({std::string("Ringmain / ") + peer + ", " + idle, "Ringmain, " + idle, peer, {}});
}

}  // namespace

int main(int argc, char** argv) {
    const char* question =
        "How many 64-byte records a second go from one producer to one consumer, here and by what people use today?";
    return contest_main(argc, argv, "peers", question, [](Contest& contest) {
        static ScratchBroker scratch;
        for (const Idle idle : {Idle::spin, Idle::pause}) {
            add_own(contest, scratch, idle);
            visit_fast_peers<64>(Adder(contest, idle));
            visit_in_process_peers<64>(Adder(contest, idle));
            visit_kernel_peers<64>(Adder(contest, idle));
        }
        visit_served_peers<64, kPipeline>(Adder(contest, Idle::spin));
        add_lines(contest, "lines through 4 MiB", std::size_t{4} << 20);
        add_lines(contest, "lines through 8 MiB", std::size_t{8} << 20);
        compare(contest, "spin", 2.0);
        compare(contest, "pause", 0.9);
        for (const char* idle : {", spin", ", pause"}) {
            const Wanted wanted{Relation::at_least, 0.9};
            contest.compare({std::string("40 B exclusive / lines through 4 MiB") + idle,
                             std::string("Ringmain 40 B exclusive") + idle, "lines through 4 MiB", wanted});
            contest.compare({std::string("64 B exclusive, as two lines / lines through 8 MiB") + idle,
                             std::string("Ringmain exclusive") + idle, "lines through 8 MiB", wanted, 2.0});
        }
    });
}
