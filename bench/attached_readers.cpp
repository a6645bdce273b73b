// Does a publish cost more when more readers are attached?
//
// One producer process on its own core; each reader is a process of its own that has assigned the topic and does not
// run.
#include <unistd.h>

#include "bench/common/contest.hpp"
#include "bench/common/process.hpp"
#include "bench/common/shared.hpp"
#include "bench/contestants/library_link.hpp"

namespace {

using namespace ringmain::bench;

constexpr std::size_t kBytes = 40;
constexpr std::uint64_t kRecords = 5'000'000;
constexpr const char* kTopic = "watched";

struct Board {
    alignas(128) StartBarrier start;
    double publish_ns = 0;
};

void attach_and_sleep(const std::filesystem::path& directory, Board& board, std::uint32_t parties) {
    ringmain::Consumer consumer{ringmain::Broker(directory)};
    consumer.assign(kTopic);
    require_ok(consumer.poll().status);
    board.start.arrive_and_wait(parties);
    for (;;)
        ::pause();
}

void publish_and_measure(const std::filesystem::path& directory, Board& board, std::uint32_t parties,
                         std::uint64_t records) {
    LibrarySender<kBytes, Send::copy> sender(directory, kTopic, {});
    board.start.arrive_and_wait(parties);
    const std::uint64_t warm = 2 * ringmain::TopicOptions{}.records;
    for (std::uint64_t i = 0; i < warm; ++i)
        sender.send(i);
    const std::uint64_t from = ticks_now();
    for (std::uint64_t i = 0; i < records; ++i)
        sender.send(i);
    board.publish_ns = ticks_to_ns(ticks_now() - from) / static_cast<double>(records);
}

Sample measure(const ContestOptions& options, ScratchBroker& scratch, std::uint32_t readers) {
    const std::filesystem::path directory = scratch.broker().directory();
    scratch.broker().create_topic(kTopic);
    Shared<Board> board;
    {
        ChildGroup group;
        for (std::uint32_t i = 0; i < readers; ++i) {
            group.start(options.cpus[1], [&] { attach_and_sleep(directory, *board, readers + 1); });
        }
        const pid_t producer = group.start(
            options.cpus[0], [&] { publish_and_measure(directory, *board, readers + 1, options.scaled(kRecords)); });
        group.wait_for(producer);
    }
    scratch.broker().delete_topic(kTopic);
    return {board->publish_ns, {}};
}

}  // namespace

int main(int argc, char** argv) {
    const char* question = "Does a publish cost more when more readers are attached?";
    return contest_main(argc, argv, "attached_readers", question, [](Contest& contest) {
        static ScratchBroker scratch;
        for (const std::uint32_t readers : {0U, 1U, 8U, 32U}) {
            contest.add({std::to_string(readers) + " readers", "ns", "one publish of 40 bytes, mean",
                         [&contest, readers] { return measure(contest.options(), scratch, readers); }});
        }
        contest.compare({"8 readers / 1 reader", "8 readers", "1 readers", Wanted{Relation::at_most, 1.10}});
        contest.compare({"32 readers / 1 reader", "32 readers", "1 readers", Wanted{Relation::at_most, 1.10}});
        contest.compare({"32 readers / none", "32 readers", "0 readers", {}});
    });
}
