// What do work queues cost: a record acquired and acknowledged beside one polled and committed, and workers that are killed?
#include <atomic>
#include <bit>
#include <vector>

#include "bench/common/contest.hpp"
#include "bench/common/duel.hpp"
#include "bench/contestants/library_link.hpp"
#include "ringmain/queue.hpp"
#include "ringmain/queue_admin.hpp"

namespace {

using namespace ringmain::bench;
using namespace std::chrono_literals;
using ringmain::AcquireResult;
using ringmain::Broker;
using ringmain::Consumer;
using ringmain::QueueRecord;
using ringmain::QueueWorker;

constexpr const char* kTopic = "queued";
constexpr const char* kQueue = "bench";
constexpr std::size_t kBatch = 256;
constexpr std::uint64_t kHandling = 2'000;  // ticks, about a microsecond, that a worker of the crowd has to do with a record

/// A topic that holds so many records of 40 bytes, all of them published.
class FilledTopic {
public:
    FilledTopic(ScratchBroker& scratch, std::uint64_t records) : scratch_(scratch) {
        ringmain::TopicOptions topic;
        topic.partitions = 1;
        topic.records = std::bit_ceil(records * 2);
        topic.payload_bytes = 0;
        scratch_.broker().create_topic(kTopic, topic);
        LibrarySender<40, Send::batch> sender(scratch_.broker().directory(), kTopic, {});
        for (std::uint64_t i = 0; i < records; ++i)
            sender.send(i);
        sender.flush();
    }
    ~FilledTopic() { scratch_.broker().delete_topic(kTopic); }
    FilledTopic(const FilledTopic&) = delete;
    FilledTopic& operator=(const FilledTopic&) = delete;

private:
    ScratchBroker& scratch_;
};

ringmain::QueueOptions without_letters() {
    ringmain::QueueOptions options;
    options.exhausted = options.expired = ringmain::Exhausted::skip;
    options.delivery_limit = 0;
    options.backoff = {.first = 0ms, .max = 0ms, .factor = 1.0, .jitter = 0.0};
    return options;
}

/// Nanoseconds a record, in batches of kBatch, each committed.
Sample measure_stream(ScratchBroker& scratch, std::uint64_t records) {
    const FilledTopic topic(scratch, records);
    ringmain::GroupOptions group;
    group.name = "stream";
    group.delivery = ringmain::Delivery::manual;
    Consumer consumer(scratch.broker(), group);
    consumer.subscribe(kTopic);
    (void)consumer.poll(0);
    std::uint64_t done = 0;
    const std::uint64_t from = ticks_now();
    while (done < records) {
        const ringmain::PollResult result = consumer.poll(kBatch);
        require_ok(result.status);
        require_ok(consumer.commit().status);
        done += result.records.size();
    }
    return {ticks_to_ns(ticks_now() - from) / static_cast<double>(records), {}};
}

/// The same by a worker: acquired in batches, each record acknowledged.
Sample measure_queue(ScratchBroker& scratch, std::uint64_t records) {
    const FilledTopic topic(scratch, records);
    QueueWorker worker(scratch.broker(), kTopic, kQueue, without_letters());
    (void)worker.acquire(0);
    std::uint64_t done = 0;
    const std::uint64_t from = ticks_now();
    while (done < records) {
        const AcquireResult result = worker.acquire(kBatch);
        require_ok(result.status);
        done += worker.ack(result.records);
    }
    return {ticks_to_ns(ticks_now() - from) / static_cast<double>(records), {}};
}

/// What all workers of a crowd see.
struct Board {
    std::atomic<std::uint64_t> finished{0};
};

/// Handles until every record is finished. `handled`: a count for each record.
void work(const std::filesystem::path& directory, std::uint64_t records, Board& board, std::atomic<std::uint8_t>* handled) {
    QueueWorker worker(Broker(directory), kTopic, kQueue);
    while (board.finished.load(std::memory_order_acquire) < records) {
        const AcquireResult result = worker.acquire(64, 20ms);
        require_ok(result.status);
        for (const QueueRecord& record : result.records) {
            handled[record.record.offset].fetch_add(1, std::memory_order_relaxed);
            const std::uint64_t until = ticks_now() + kHandling;
            while (ticks_now() < until) {
            }
        }
        board.finished.fetch_add(worker.ack(result.records), std::memory_order_acq_rel);
    }
}

/// Seconds for all records through 8 workers. `kill_every` > 0: one is killed that often, and replaced.
Sample measure_crowd(ScratchBroker& scratch, std::uint64_t records, std::chrono::milliseconds kill_every) {
    constexpr std::size_t kWorkers = 8;
    const FilledTopic topic(scratch, records);
    ringmain::QueueAdmin admin(scratch.broker());
    admin.create(kTopic, kQueue, without_letters());
    const std::filesystem::path directory = scratch.broker().directory();
    Shared<Board> board;
    const auto handled = Shared<std::atomic<std::uint8_t>>::array(records);
    ChildGroup group;
    std::vector<pid_t> workers;
    const auto start = [&] { return group.start(-1, [&] { work(directory, records, *board, handled.get()); }); };
    const std::uint64_t from = ticks_now();
    for (std::size_t i = 0; i < kWorkers; ++i)
        workers.push_back(start());
    std::uint64_t kills = 0;
    const auto kill_one = [&] {
        // who was killed between an exchange and its count in `finished` leaves that short: the committed offset tells
        if (admin.describe(kTopic, kQueue).partitions.at(0).lag.records == 0)
            board->finished.store(records, std::memory_order_release);
        if (kill_every == 0ms || board->finished.load(std::memory_order_acquire) >= records)
            return;
        pid_t& victim = workers[kills++ % kWorkers];
        group.end(victim);
        victim = start();
    };
    group.wait(kill_one, kill_every == 0ms ? 100ms : kill_every);
    const double seconds = ticks_to_ns(ticks_now() - from) / 1e9;
    std::uint64_t lost = 0;
    std::uint64_t again = 0;
    for (std::uint64_t i = 0; i < records; ++i) {
        const std::uint8_t count = handled.get()[i].load(std::memory_order_relaxed);
        lost += count == 0 ? 1U : 0U;
        again += count > 1 ? count - 1U : 0U;
    }
    if (lost != 0)
        throw std::runtime_error(std::to_string(lost) + " records were never handled");
    if (again > kills * 64)
        throw std::runtime_error(std::to_string(again) + " records came again, more than the killed can have held");
    return {seconds, {{"kills", static_cast<double>(kills)}, {"handled again", static_cast<double>(again)}}};
}

}  // namespace

int main(int argc, char** argv) {
    const char* question = "What do work queues cost: acquire and acknowledge, and workers that are killed?";
    return contest_main(argc, argv, "queues", question, [](Contest& contest) {
        static ScratchBroker scratch;
        const ContestOptions& options = contest.options();
        const std::uint64_t records = options.scaled(200'000, 2'000);
        const std::uint64_t crowd = options.scaled(1'000'000, 5'000);
        contest.add({"poll and commit", "ns", "a record of 40 bytes, in batches of 256, each batch committed",
                     [records] { return measure_stream(scratch, records); }});
        contest.add({"acquire and ack", "ns", "the same by a worker of a queue, each record acknowledged",
                     [records] { return measure_queue(scratch, records); }});
        contest.add({"8 workers", "s", std::to_string(crowd) + " records in processes, a microsecond of work with each",
                     [crowd] { return measure_crowd(scratch, crowd, 0ms); }});
        contest.add({"8 workers, one killed every 100 ms", "s", "the same; none is lost, and only what the killed held comes again",
                     [crowd] { return measure_crowd(scratch, crowd, 100ms); }});
        contest.compare({"acquire and ack / poll and commit", "acquire and ack", "poll and commit", Wanted{Relation::at_most, 4}});
        contest.compare({"8 workers with kills / without", "8 workers, one killed every 100 ms", "8 workers", Wanted{Relation::at_most, 2}});
    });
}
