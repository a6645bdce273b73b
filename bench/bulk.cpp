// How many bytes a second go from one producer to one consumer in records of 16 KiB?
//
// Beside a bulk copy between the two cores through as much memory: copied into a ring of blocks and out of it.
#include "bench/common/contest.hpp"
#include "bench/common/duel.hpp"
#include "bench/contestants/library_link.hpp"
#include "bench/limits/limits.hpp"

namespace {

using namespace ringmain::bench;
using ringmain::WhenFull;

constexpr std::size_t kBytes = 16 * 1024;
constexpr std::uint64_t kRecords = 200'000;

template <Read kRead, Send kSend>
void add_library(Contest& contest, ScratchBroker& scratch, std::string name, std::string what,
                 std::uint64_t payload_bytes, bool exclusive = false) {
    const ContestOptions& options = contest.options();
    LibraryOptions library;
    library.topic.when_full = WhenFull::block;
    library.topic.payload_bytes = payload_bytes;
    library.exclusive = exclusive;
    StreamPlan plan;
    plan.warm_records = 2 * payload_bytes / kBytes;
    plan.records = options.scaled(kRecords) + 2 * plan.warm_records;
    plan.sender_cpus = {options.cpus[0]};
    plan.receiver_cpu = options.cpus[1];
    contest.add({std::move(name), "B/s", std::move(what), [plan, library, &scratch] {
                     LibraryLink<kBytes, kRead, kSend> link(scratch.broker(), "bulk", library);
                     Sample sample = stream<kBytes>(plan, link);
                     sample.extras = {{"records_per_s", sample.value}};
                     sample.value *= static_cast<double>(kBytes);
                     return sample;
                 }});
}

}  // namespace

int main(int argc, char** argv) {
    const char* question = "How many bytes a second go from one producer to one consumer in records of 16 KiB?";
    return contest_main(argc, argv, "bulk", question, [](Contest& contest) {
        static ScratchBroker scratch;
        const ContestOptions& options = contest.options();
        constexpr std::uint64_t kPayload = ringmain::TopicOptions{}.payload_bytes;
        contest.add(
            {"bulk copy", "B/s", "16 KiB blocks copied into a ring of as much memory and out of it", [&options] {
                 const CpuPair cpus{options.cpus[0], options.cpus[1]};
                 return Sample{bulk_copy_bytes_per_s(cpus, kPayload, kBytes, options.scaled(kRecords, 2048)), {}};
             }});
        add_library<Read::poll, Send::copy>(contest, scratch, "16 KiB", "publish a copy, poll a copy", kPayload);
        add_library<Read::visit, Send::copy>(contest, scratch, "16 KiB visit", "publish a copy, visit in place",
                                             kPayload);
        add_library<Read::visit, Send::loan>(contest, scratch, "16 KiB zero copy", "fill a loan, visit in place",
                                             kPayload);
        add_library<Read::poll, Send::copy>(contest, scratch, "16 KiB exclusive",
                                            "exclusive, publish a copy, poll a copy", kPayload, true);
        contest.compare({"16 KiB / bulk copy", "16 KiB", "bulk copy", Wanted{Relation::at_least, 0.95}});
        contest.compare({"16 KiB visit / bulk copy", "16 KiB visit", "bulk copy", {}});
        contest.compare({"16 KiB zero copy / bulk copy", "16 KiB zero copy", "bulk copy", Wanted{Relation::at_least, 1.5}});
    });
}
