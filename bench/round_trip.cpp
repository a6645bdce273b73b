// How long does a record take to reach another process?
//
// One process publishes and waits for the answer, the other waits and answers; both spin. Half of the time from one
// answer to the next, beside the bare cache line that goes back and forth.
#include "bench/common/contest.hpp"
#include "bench/common/duel.hpp"
#include "bench/contestants/direct_link.hpp"
#include "bench/contestants/library_link.hpp"
#include "bench/limits/limits.hpp"
#include "bench/peers/ring.hpp"

namespace {

using namespace ringmain::bench;

constexpr std::uint64_t kRoundTrips = 600'000;

template <std::size_t kBytes, class Link>
void add_library(Contest& contest, ScratchBroker& scratch, std::string name, std::string what, LibraryOptions library) {
    const ContestOptions& options = contest.options();
    contest.add({std::move(name), "ns", std::move(what), [&options, &scratch, library] {
                     Link there(scratch.broker(), "there", library);
                     Link back(scratch.broker(), "back", library);
                     return round_trip<kBytes>(options, options.scaled(kRoundTrips, 1000), there, back);
                 }});
}

void add_yardsticks(Contest& contest) {
    const ContestOptions& options = contest.options();
    contest.add({"line ping-pong", "ns", "half a round trip of one bare cache line, p50", [&options] {
                     return latency_sample(
                         line_ping_pong({options.cpus[0], options.cpus[1]}, options.scaled(kRoundTrips, 1000)));
                 }});
    contest.add({"ring 40 B", "ns", "the textbook single-producer ring, p50", [&options] {
                     RingLink<40> there(ringmain::TopicOptions{}.records);
                     RingLink<40> back(ringmain::TopicOptions{}.records);
                     return round_trip<40>(options, options.scaled(kRoundTrips, 1000), there, back);
                 }});
}

void add_contestants(Contest& contest, ScratchBroker& scratch) {
    LibraryOptions plain;
    LibraryOptions narrow;
    narrow.topic.cell_bytes = 64;
    LibraryOptions exclusive;
    exclusive.exclusive = true;
    LibraryOptions clock;
    clock.stamp = Stamp::coarse_clock;
    add_library<40, LibraryLink<40, Read::visit>>(contest, scratch, "40 B visit", "publish, visit in place, p50",
                                                  plain);
    add_library<40, LibraryLink<40, Read::poll>>(contest, scratch, "40 B poll", "publish, poll a copy, p50", plain);
    add_library<40, LibraryLink<40, Read::visit>>(contest, scratch, "40 B visit, coarse clock",
                                                  "the producer's clock stamps the record, p50", clock);
    add_library<40, LibraryLink<40, Read::visit>>(contest, scratch, "40 B visit, exclusive", "exclusive producers, p50",
                                                  exclusive);
    add_library<40, DirectLink<40>>(contest, scratch, "40 B direct",
                                    "the partition log without the public classes, p50", plain);
    add_library<64, LibraryLink<64, Read::visit>>(contest, scratch, "64 B in a 128 B cell",
                                                  "publish, visit in place, p50", plain);
    add_library<64, LibraryLink<64, Read::visit>>(contest, scratch, "64 B in an extent", "publish, visit in place, p50",
                                                  narrow);
    add_library<1024, LibraryLink<1024, Read::visit>>(contest, scratch, "1 KiB", "publish, visit in place, p50", plain);
}

}  // namespace

int main(int argc, char** argv) {
    return contest_main(
        argc, argv, "round_trip", "How long does a record take to reach another process?", [](Contest& contest) {
            static ScratchBroker scratch;
            add_yardsticks(contest);
            add_contestants(contest, scratch);
            const auto at_most = [](double value) { return Wanted{Relation::at_most, value}; };
            contest.compare({"40 B / line ping-pong", "40 B visit", "line ping-pong", at_most(1.35)});
            contest.compare({"40 B poll / line ping-pong", "40 B poll", "line ping-pong", {}});
            contest.compare({"40 B direct / line ping-pong", "40 B direct", "line ping-pong", {}});
            contest.compare(
                {"64 B in a 128 B cell / line ping-pong", "64 B in a 128 B cell", "line ping-pong", at_most(1.9)});
            contest.compare(
                {"64 B in an extent / line ping-pong", "64 B in an extent", "line ping-pong", at_most(1.9)});
            contest.compare({"1 KiB / line ping-pong", "1 KiB", "line ping-pong", at_most(3.2)});
            contest.compare({"40 B / ring", "40 B visit", "ring 40 B", {}});
            contest.compare({"40 B through the public classes / direct", "40 B visit", "40 B direct", {}});
        });
}
