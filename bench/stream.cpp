// How many 40-byte records a second go from one producer to one consumer?
//
// Beside the textbook single-producer ring of as many 64-byte slots, with a consumer that spins and with one that
// pauses about a microsecond when it finds nothing. `block` topics: nothing is lost, as in the ring. The `overwrite`
// contestants do not wait for the consumer: what is lost is in the results.
#include "bench/common/contest.hpp"
#include "bench/common/duel.hpp"
#include "bench/contestants/direct_link.hpp"
#include "bench/contestants/library_link.hpp"
#include "bench/peers/ring.hpp"

namespace {

using namespace ringmain::bench;
using ringmain::WhenFull;

constexpr std::size_t kBytes = 40;
constexpr std::uint64_t kRecords = 10'000'000;

StreamPlan plan_for(const ContestOptions& options, Idle idle) {
    StreamPlan plan;
    plan.warm_records = ringmain::TopicOptions{}.records;
    plan.records = options.scaled(kRecords) + 2 * plan.warm_records;
    plan.idle = idle;
    plan.sender_cpus = {options.cpus[0]};
    plan.receiver_cpu = options.cpus[1];
    return plan;
}

template <class Link>
void add_library(Contest& contest, ScratchBroker& scratch, const std::string& name, const std::string& what, Idle idle,
                 LibraryOptions library) {
    StreamPlan plan = plan_for(contest.options(), idle);
    plan.lossy = library.topic.when_full == WhenFull::overwrite;
    contest.add({name + ", " + to_string(idle), "records/s", what, [plan, &scratch, library] {
                     Link link(scratch.broker(), "stream", library);
                     return stream<kBytes>(plan, link);
                 }});
}

template <std::uint64_t kRun>
void add_ring(Contest& contest, const std::string& name, const std::string& what, Idle idle) {
    const StreamPlan plan = plan_for(contest.options(), idle);
    contest.add({name + ", " + to_string(idle), "records/s", what, [plan] {
                     RingLink<kBytes, kRun> ring(ringmain::TopicOptions{}.records);
                     return stream<kBytes>(plan, ring);
                 }});
}

void add_all(Contest& contest, ScratchBroker& scratch, Idle idle) {
    using Poll = LibraryLink<kBytes, Read::poll>;
    using Visit = LibraryLink<kBytes, Read::visit>;
    using Batch = LibraryLink<kBytes, Read::poll, Send::batch>;
    LibraryOptions shared;
    shared.topic.when_full = WhenFull::block;
    LibraryOptions exclusive = shared;
    exclusive.exclusive = true;
    LibraryOptions overwrite;
    LibraryOptions overwrite_exclusive;
    overwrite_exclusive.exclusive = true;
    add_ring<1>(contest, "ring", "textbook ring, index stored per record", idle);
    add_ring<256>(contest, "ring in runs", "the same, the consumer stores its index once per 256 records", idle);
    add_library<Poll>(contest, scratch, "shared", "shared producer, block, poll", idle, shared);
    add_library<Visit>(contest, scratch, "shared visit", "shared producer, block, visit", idle, shared);
    add_library<Batch>(contest, scratch, "shared batch", "shared producer, batches of 16, block, poll", idle, shared);
    add_library<Poll>(contest, scratch, "exclusive", "exclusive producer, block, poll", idle, exclusive);
    add_library<Visit>(contest, scratch, "exclusive visit", "exclusive producer, block, visit", idle, exclusive);
    add_library<DirectLink<kBytes>>(contest, scratch, "shared direct", "the partition log without the public classes",
                                    idle, shared);
    add_library<DirectLink<kBytes>>(contest, scratch, "exclusive direct",
                                    "the partition log without the public classes", idle, exclusive);
    add_library<Poll>(contest, scratch, "shared overwrite", "as shared, on an overwrite topic", idle, overwrite);
    add_library<Poll>(contest, scratch, "exclusive overwrite", "as exclusive, on an overwrite topic", idle,
                      overwrite_exclusive);
}

void compare(Contest& contest, const std::string& idle, double shared_wanted) {
    const auto against_ring = [&](const std::string& name, std::optional<Wanted> wanted) {
        contest.compare({name + " / ring, " + idle, name + ", " + idle, "ring, " + idle, wanted});
    };
    against_ring("shared", Wanted{Relation::at_least, shared_wanted});
    against_ring("exclusive", Wanted{Relation::at_least, 2.0});
    for (const char* name : {"shared visit", "shared batch", "exclusive visit", "shared direct", "exclusive direct",
                             "shared overwrite", "exclusive overwrite", "ring in runs"}) {
        against_ring(name, {});
    }
}

}  // namespace

int main(int argc, char** argv) {
    const char* question = "How many 40-byte records a second go from one producer to one consumer?";
    return contest_main(argc, argv, "stream", question, [](Contest& contest) {
        static ScratchBroker scratch;
        add_all(contest, scratch, Idle::spin);
        add_all(contest, scratch, Idle::pause);
        compare(contest, "spin", 1.0);
        compare(contest, "pause", 0.7);
    });
}
