// How many system calls does a publish make when nobody sleeps?
//
// A traced producer process publishes 10,000 records while a consumer is attached that does not sleep; every system
// call of that stretch is counted.
#include <memory>

#include "bench/common/contest.hpp"
#include "bench/common/system_calls.hpp"
#include "bench/contestants/library_link.hpp"

namespace {

using namespace ringmain::bench;

constexpr std::uint64_t kRecords = 10'000;
constexpr const char* kTopic = "counted";

template <std::size_t kBytes, Send kSend>
Sample count(ScratchBroker& scratch, const LibraryOptions& options) {
    scratch.broker().create_topic(kTopic, options.topic);
    LibraryReceiver<Read::poll> reader(scratch.broker().directory(), kTopic, options, kBytes);
    std::unique_ptr<LibrarySender<kBytes, kSend>> sender;
    const auto send = [&](std::uint64_t records) {
        for (std::uint64_t i = 0; i < records; ++i)
            sender->send(i);
    };
    const std::uint64_t calls = count_system_calls(
        [&] {
            sender = std::make_unique<LibrarySender<kBytes, kSend>>(scratch.broker().directory(), kTopic, options);
            send(kBatchRecords);
        },
        [&] { send(kRecords); });
    scratch.broker().delete_topic(kTopic);
    return {static_cast<double>(calls), {}};
}

template <std::size_t kBytes, Send kSend = Send::copy>
void add(Contest& contest, ScratchBroker& scratch, const std::string& name, LibraryOptions options) {
    contest.add({name, "calls", "system calls of 10,000 publishes",
                 [&scratch, options] { return count<kBytes, kSend>(scratch, options); }});
    contest.compare({"system calls of 10,000 publishes: " + name, name, "", Wanted{Relation::at_most, 0}});
}

}  // namespace

int main(int argc, char** argv) {
    return contest_main(argc, argv, "system_calls", "How many system calls does a publish make when nobody sleeps?",
                        [](Contest& contest) {
                            static ScratchBroker scratch;
                            LibraryOptions exclusive;
                            exclusive.exclusive = true;
                            LibraryOptions clock;
                            clock.stamp = Stamp::coarse_clock;
                            LibraryOptions block;
                            block.topic.when_full = ringmain::WhenFull::block;
                            add<40>(contest, scratch, "40 B shared", {});
                            add<40>(contest, scratch, "40 B exclusive", exclusive);
                            add<40>(contest, scratch, "40 B coarse clock", clock);
                            add<40>(contest, scratch, "40 B block", block);
                            add<40, Send::batch>(contest, scratch, "40 B batches of 16", {});
                            add<16 * 1024>(contest, scratch, "16 KiB", {});
                            add<16 * 1024, Send::loan>(contest, scratch, "16 KiB loan", {});
                        });
}
