// How many 40-byte records a second go from two producers to one consumer?
//
// Beside a log made of a bare fetch-add without any safety. Three processes: where the machine has only two processors
// the consumer shares one with the second producer, for both contestants, and gives it away when it finds nothing.
#include "bench/common/contest.hpp"
#include "bench/common/duel.hpp"
#include "bench/contestants/library_link.hpp"
#include "bench/peers/naive_log.hpp"

namespace {

using namespace ringmain::bench;

constexpr std::size_t kBytes = 40;
constexpr std::uint64_t kRecords = 8'000'000;

StreamPlan plan_for(const ContestOptions& options) {
    const bool own_cpu = options.cpus.size() >= 3;
    StreamPlan plan;
    plan.senders = 2;
    plan.warm_records = ringmain::TopicOptions{}.records;
    plan.records = options.scaled(kRecords / 2) * 2 + 2 * plan.warm_records;
    plan.idle = own_cpu ? Idle::pause : Idle::yield;
    plan.sender_cpus = {options.cpus[0], options.cpus[1]};
    plan.receiver_cpu = options.cpus[own_cpu ? 2 : 1];
    return plan;
}

template <class Link>
void add_library(Contest& contest, ScratchBroker& scratch, std::string name, std::string what,
                 ringmain::WhenFull policy) {
    StreamPlan plan = plan_for(contest.options());
    plan.lossy = policy == ringmain::WhenFull::overwrite;
    LibraryOptions library;
    library.topic.when_full = policy;
    contest.add({std::move(name), "records/s", std::move(what), [plan, library, &scratch] {
                     Link link(scratch.broker(), "pair", library);
                     return stream<kBytes>(plan, link);
                 }});
}

}  // namespace

int main(int argc, char** argv) {
    const char* question = "How many 40-byte records a second go from two producers to one consumer?";
    return contest_main(argc, argv, "two_producers", question, [](Contest& contest) {
        static ScratchBroker scratch;
        const StreamPlan plan = plan_for(contest.options());
        contest.add({"naive log", "records/s", "fetch-add, copy, store; a stopped producer stops everybody", [plan] {
                         NaiveLink<kBytes> link(ringmain::TopicOptions{}.records);
                         return stream<kBytes>(plan, link);
                     }});
        using Poll = LibraryLink<kBytes, Read::poll>;
        using Batch = LibraryLink<kBytes, Read::poll, Send::batch>;
        add_library<Poll>(contest, scratch, "two producers", "publish, block, poll", ringmain::WhenFull::block);
        add_library<Batch>(contest, scratch, "two producers, batches", "batches of 16, block, poll",
                           ringmain::WhenFull::block);
        add_library<Poll>(contest, scratch, "two producers, overwrite", "publish, overwrite, poll",
                          ringmain::WhenFull::overwrite);
        contest.compare({"two producers / naive log", "two producers", "naive log", Wanted{Relation::at_least, 1.1}});
        contest.compare({"two producers, batches / single records", "two producers, batches", "two producers",
                         Wanted{Relation::at_least, 2.0}});
        contest.compare({"two producers, batches / naive log", "two producers, batches", "naive log", {}});
        contest.compare({"two producers, overwrite / naive log", "two producers, overwrite", "naive log", {}});
    });
}
