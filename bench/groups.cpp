// What do consumer groups cost: a commit beside the bare exchange under it, and a hand-over after a death?
#include <time.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "bench/common/contest.hpp"
#include "bench/common/duel.hpp"
#include "bench/contestants/library_link.hpp"
#include "assignment/assignment.hpp"
#include "group_table/creation.hpp"
#include "group_table/membership.hpp"
#include "group_table/positions.hpp"

namespace {

using namespace ringmain::bench;
using namespace std::chrono_literals;
using ringmain::Consumer;
using ringmain::GroupOptions;
using Memory = ringmain::platform::HostMemory;
namespace group_table = ringmain::group_table;
namespace layout = ringmain::layout;

constexpr const char* kTopic = "grouped";

/// Nanoseconds of one call, the best of several runs: what it costs when nobody interferes.
template <class Call>
double ns_per_call(std::uint64_t calls, const Call& call) {
    double best = 1e12;
    for (int run = 0; run < 5; ++run) {
        const std::uint64_t from = ticks_now();
        for (std::uint64_t i = 0; i < calls; ++i)
            call(i);
        best = std::min(best, ticks_to_ns(ticks_now() - from) / static_cast<double>(calls));
    }
    return best;
}

double bare_exchange_ns(std::uint64_t calls) {
    const auto word = std::make_unique<ringmain::platform::Word16<Memory>>();
    return ns_per_call(calls, [&](std::uint64_t) {
        ringmain::platform::Halves expected = ringmain::platform::load16(*word);
        Memory::cas16(*word, expected, {expected.low + 1, expected.high});
    });
}

/// A groups file in private memory, with one group of one member that owns partition 0.
class Table {
    static constexpr std::uint64_t kClient = 1;
    [[nodiscard]] auto floors() const {
        return [this](std::uint32_t) -> const std::atomic<std::uint64_t>& { return floor_; };
    }

public:
    Table()
        : geometry_{1, 1, 2, 0},
          file_(Shared<std::byte>::array(layout::groups_file_bytes(geometry_))),
          groups_(file_.get(), geometry_) {
        const auto alive = [](std::uint64_t) { return false; };
        group_table::GroupCreation<Memory> creation(groups_, kClient);
        const auto found = creation.find_or_create("bench", {}, [](std::uint32_t) { return std::uint64_t{0}; }, alive);
        member_.emplace(groups_, found.group, kClient, group_table::MemberProfile{});
        if (member_->join(alive, floors()) != group_table::JoinStatus::joined)
            throw std::runtime_error("cannot join");
        tenure_ = {0, member_->positions().acquire(0, 1).generation};
    }

    void commit(std::uint64_t offset) {
        group_table::CommitItem item;
        item.tenure = tenure_;
        item.position = item.offset = offset;
        if (!member_->positions().commit({&item, 1}, floors(), 1))
            throw std::runtime_error("a commit was refused");
    }

private:

    layout::GroupsGeometry geometry_;
    Shared<std::byte> file_;
    group_table::GroupsMemory<Memory> groups_;
    std::optional<group_table::Membership<Memory>> member_;
    group_table::Tenure tenure_;
    std::atomic<std::uint64_t> floor_{0};
};

double table_commit_ns(std::uint64_t calls) {
    Table table;
    std::uint64_t offset = 0;
    return ns_per_call(calls, [&](std::uint64_t) { table.commit(++offset); });
}

GroupOptions group_options(std::chrono::milliseconds session_timeout = 45s) {
    GroupOptions options;
    options.name = "bench";
    options.session_timeout = session_timeout;
    return options;
}

double public_commit_ns(ScratchBroker& scratch, std::uint64_t calls) {
    scratch.broker().create_topic(kTopic);
    double ns = 0;
    {
        LibrarySender<40, Send::copy> sender(scratch.broker().directory(), kTopic, {});
        sender.send(0);
        Consumer consumer(scratch.broker(), group_options());
        consumer.subscribe(kTopic);
        require_ok(consumer.poll().status);
        const ringmain::PartitionOffset next{kTopic, 0, 1};
        ns = ns_per_call(calls, [&](std::uint64_t) { require_ok(consumer.commit({&next, 1}).status); });
    }
    scratch.broker().delete_topic(kTopic);
    return ns;
}

struct Board {
    alignas(128) StartBarrier start;
    std::atomic<bool> dies{false};
    std::atomic<std::uint64_t> first_record_ns{0};
};

std::uint64_t monotonic_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// The member that dies: it has the partition, and reads without committing.
void hold_until_killed(const std::filesystem::path& directory, Board& board) {
    Consumer consumer(ringmain::Broker(directory), group_options());
    consumer.subscribe(kTopic);
    while (consumer.assignment().empty())
        require_ok(consumer.poll(1, 1s).status);
    board.start.arrive_and_wait(3);
    for (;;)
        require_ok(consumer.poll(1, 1s).status);
}

/// The heir has nothing to read until the other one is dead.
void inherit(const std::filesystem::path& directory, Board& board) {
    board.start.arrive_and_wait(3);
    Consumer consumer(ringmain::Broker(directory), group_options());
    consumer.subscribe(kTopic);
    for (;;) {
        const ringmain::PollResult result = consumer.poll(1, 1s);
        require_ok(result.status);
        if (result.records.empty() || !board.dies.load(std::memory_order_acquire))
            continue;
        board.first_record_ns.store(monotonic_ns(), std::memory_order_release);
        return;
    }
}

/// Milliseconds from the SIGKILL to the heir's first record; the kernel's proof of death lies in between.
Sample measure_handover(const ContestOptions& options, ScratchBroker& scratch) {
    const std::filesystem::path directory = scratch.broker().directory();
    ringmain::TopicOptions topic;
    topic.partitions = 1;
    scratch.broker().create_topic(kTopic, topic);
    double ms = 0;
    {
        ringmain::Keeper keeper(scratch.broker());
        std::jthread keeping([&](std::stop_token stop) { keeper.run(stop); });
        LibrarySender<40, Send::copy> sender(directory, kTopic, {});
        for (int i = 0; i < 100; ++i)
            sender.send(static_cast<std::uint64_t>(i));
        Shared<Board> board;
        ChildGroup group;
        const pid_t victim = group.start(options.cpus[0], [&] { hold_until_killed(directory, *board); });
        group.start(options.cpus[1], [&] { inherit(directory, *board); });
        board->start.arrive_and_wait(3);
        std::this_thread::sleep_for(100ms);
        board->dies.store(true, std::memory_order_release);
        const std::uint64_t killed_ns = monotonic_ns();
        group.end(victim);
        group.wait();
        const std::uint64_t first_ns = board->first_record_ns.load(std::memory_order_acquire);
        ms = static_cast<double>(first_ns - killed_ns) / 1e6;
    }
    scratch.broker().delete_topic(kTopic);
    return {ms, {}};
}

/// Microseconds for the lag of one group in 1,000 partitions, records and time, as an operator's tool reads it.
Sample measure_lag(ScratchBroker& scratch, std::uint64_t looks) {
    constexpr std::uint32_t kPartitions = 1'000;
    ringmain::TopicOptions topic;
    topic.partitions = kPartitions;
    topic.records = 16;
    topic.payload_bytes = 0;
    topic.producer_slots = 1;
    scratch.broker().create_topic(kTopic, topic);
    double best_us = 1e12;
    {
        Consumer consumer(scratch.broker(), group_options());
        consumer.subscribe(kTopic);
        ringmain::Producer producer(scratch.broker(), kTopic);
        const std::vector<std::byte> value(40);
        ringmain::ProducerRecord record;
        record.value = value;
        for (std::uint32_t p = 0; p < kPartitions; ++p) {
            record.partition = p;
            require_ok(producer.publish(record).status);
        }
        ringmain::GroupAdmin admin(scratch.broker());
        for (std::uint64_t i = 0; i < looks; ++i) {
            const std::uint64_t from = ticks_now();
            const auto lag = admin.lag(kTopic, "bench", {.time = true, .bytes_records_max = 0});
            best_us = std::min(best_us, ticks_to_ns(ticks_now() - from) / 1e3);
            if (lag.size() != kPartitions || lag.front().records != 1)
                throw std::runtime_error("a lag is wrong");
        }
    }
    scratch.broker().delete_topic(kTopic);
    return {best_us, {}};
}

/// Milliseconds until each of 64 members in each of 64 groups owns its one of 64 partitions: joins, looks, assignments and
/// acquisitions, in one thread.
Sample measure_crowd(std::uint32_t groups_wanted) {
    const layout::GroupsGeometry geometry{64, 64, 64, 0};
    const Shared<std::byte> file = Shared<std::byte>::array(layout::groups_file_bytes(geometry));
    const group_table::GroupsMemory<Memory> groups(file.get(), geometry);
    const auto alive = [](std::uint64_t) { return false; };
    static const std::atomic<std::uint64_t> floor{0};
    const auto floors = [](std::uint32_t) -> const std::atomic<std::uint64_t>& { return floor; };
    const std::uint64_t from = monotonic_ns();
    std::uint32_t owned = 0;
    for (std::uint32_t g = 0; g < groups_wanted; ++g) {
        group_table::GroupCreation<Memory> creation(groups, g + 1);
        const auto found = creation.find_or_create("group" + std::to_string(g), {}, [](std::uint32_t) { return std::uint64_t{0}; }, alive);
        std::vector<group_table::Membership<Memory>> members;
        for (std::uint64_t m = 0; m < 64; ++m) {
            members.emplace_back(groups, found.group, 64 * g + m + 1, group_table::MemberProfile{});
            if (members.back().join(alive, floors) != group_table::JoinStatus::joined)
                throw std::runtime_error("cannot join");
        }
        for (group_table::Membership<Memory>& member : members) {
            const group_table::Look look = member.look();
            std::vector<ringmain::assignment::Candidate> candidates;
            for (std::uint32_t i = 0; i < look.count; ++i)
                candidates.push_back({look.members[i].key, look.members[i].slot});
            std::array<std::uint8_t, 64> owners{};
            ringmain::assignment::assign(candidates, owners);
            for (std::uint32_t p = 0; p < 64; ++p) {
                if (owners[p] == member.slot())
                    owned += member.positions().acquire(p, 1).status == group_table::AcquireStatus::acquired ? 1 : 0;
            }
        }
    }
    if (owned != 64 * groups_wanted)
        throw std::runtime_error("a partition has no owner");
    return {static_cast<double>(monotonic_ns() - from) / 1e6, {}};
}

}  // namespace

int main(int argc, char** argv) {
    const char* question = "What do consumer groups cost: a commit, and a hand-over after a death?";
    return contest_main(argc, argv, "groups", question, [](Contest& contest) {
        static ScratchBroker scratch;
        const ContestOptions& options = contest.options();
        const std::uint64_t calls = options.scaled(1'000'000, 1'000);
        const std::uint32_t groups = options.scale < 1 ? 2 : 64;
        contest.add({"16-byte exchange", "ns", "load and compare-and-swap of a private word",
                     [calls] { return Sample{bare_exchange_ns(calls), {}}; }});
        contest.add({"commit", "ns", "one partition, in the table", [calls] { return Sample{table_commit_ns(calls), {}}; }});
        contest.add({"commit beyond 1.5 exchanges", "ns", "the two side by side",
                     [calls] { return Sample{table_commit_ns(calls) - 1.5 * bare_exchange_ns(calls), {}}; }});
        contest.add({"commit through the consumer", "ns", "one partition, by topic name and offset",
                     [calls] { return Sample{public_commit_ns(scratch, calls / 10 + 1), {}}; }});
        contest.add({"hand-over after a death", "ms", "from the SIGKILL to the heir's first record, with a keeper",
                     [&options] { return measure_handover(options, scratch); }});
        contest.add({"lag of 1,000 partitions", "us", "records and time, by the administration's class",
                     [&options] { return measure_lag(scratch, options.scaled(50, 2)); }});
        contest.add({"64 members join and own", "ms", std::to_string(groups) + " groups of 64 on 64 partitions, in the table",
                     [groups] { return measure_crowd(groups); }});
        contest.compare({"commit beyond 1.5 exchanges, ns", "commit beyond 1.5 exchanges", "", Wanted{Relation::at_most, 20}});
        contest.compare({"hand-over after a death, ms", "hand-over after a death", "", Wanted{Relation::at_most, 5}});
        contest.compare({"lag of 1,000 partitions, us", "lag of 1,000 partitions", "", Wanted{Relation::at_most, 1000}});
    });
}
