// How long do 64 bytes take to reach another process, here and by what people use today?
//
// Half of the time from one answer to the next; both sides look again at once, but for those that have threads or a
// server of their own and wait in the kernel.
#include <algorithm>
#include <string>

#include "bench/common/contest.hpp"
#include "bench/common/duel.hpp"
#include "bench/contestants/library_link.hpp"
#include "bench/contestants/plans.hpp"
#include "bench/limits/limits.hpp"
#include "bench/peers/list.hpp"

namespace {

using namespace ringmain::bench;

constexpr std::size_t kBytes = 64;
constexpr std::uint64_t kRoundTrips = 150'000;
constexpr std::uint64_t kServedRoundTrips = 2'000;  // of those that wait in the kernel

class Adder {
public:
    explicit Adder(Contest& contest) : contest_(contest) {}

    template <class Link>
    void peer() {
        const std::uint64_t round_trips =
            contest_.options().scaled(Link::kFacts.own_threads ? kServedRoundTrips : kRoundTrips, 100);
        contest_.add({Link::kFacts.name, "ns", Link::kFacts.what, [&options = contest_.options(), round_trips] {
                          Link there;
                          Link back;
                          return round_trip<kBytes>(options, round_trips, there, back);
                      }});
        contest_.compare({std::string("Ringmain / ") + Link::kFacts.name, "Ringmain", Link::kFacts.name, {}});
    }
    void missing(const char* name, const char* package) { contest_.add(left_out(name, "ns", missing_text(package))); }

private:
    Contest& contest_;
};

void add_own(Contest& contest, ScratchBroker& scratch, const char* name, const char* what, LibraryOptions library) {
    contest.add({name, "ns", what, [&options = contest.options(), &scratch, library] {
                     using Link = LibraryLink<kBytes, Read::visit>;
                     Link there(scratch.broker(), "there", library);
                     Link back(scratch.broker(), "back", library);
                     return round_trip<kBytes>(options, options.scaled(kRoundTrips, 100), there, back);
                 }});
}

}  // namespace

int main(int argc, char** argv) {
    const char* question = "How long do 64 bytes take to reach another process, here and by what people use today?";
    return contest_main(argc, argv, "peer_round_trip", question, [](Contest& contest) {
        static ScratchBroker scratch;
        LibraryOptions narrow;
        narrow.topic.cell_bytes = 64;
        add_own(contest, scratch, "Ringmain", "default options, publish, visit in place, p50", {});
        add_own(contest, scratch, "Ringmain 64 B cells", "body in an extent, publish, visit in place, p50", narrow);
        contest.add(
            {"line ping-pong", "ns", "half a round trip of one bare cache line, p50", [&options = contest.options()] {
                 return latency_sample(
                     line_ping_pong({options.cpus[0], options.cpus[1]}, options.scaled(kRoundTrips, 1000)));
             }});
        contest.compare({"Ringmain / line ping-pong", "Ringmain", "line ping-pong", {}});
        visit_fast_peers<kBytes>(Adder(contest));
        visit_in_process_peers<kBytes>(Adder(contest));
        visit_kernel_peers<kBytes>(Adder(contest));
        visit_served_peers<kBytes, 1>(Adder(contest));
    });
}
