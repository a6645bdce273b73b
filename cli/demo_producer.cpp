// A producer, and the successor of the one that is killed.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

#include "demo_record.hpp"
#include "demo_roles.hpp"
#include "demo_source.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/producer.hpp"

namespace ringmain::cli::demo {

namespace {

using std::chrono::milliseconds;

void publish(Producer& producer, const Outgoing& outgoing, const Plan& plan) {
    const RecordNumbers numbers(outgoing.sequence, outgoing.row);
    ProducerRecord record;
    record.key = as_bytes(outgoing.key);
    record.value = as_bytes(outgoing.value);
    record.headers = numbers.headers();
    const PublishResult result = producer.publish(record);
    if (result.status == Status::ok)
        return;
    if (result.status == Status::too_large) {
        throw std::runtime_error(fmt::format("{}:{}:1: the row has {} bytes; a record may have {} with key and headers",
                                             plan.options.input ? plan.options.input->string() : "/proc", outgoing.line,
                                             outgoing.value.size(), producer.record_bytes_max()));
    }
    throw std::runtime_error(fmt::format("publish of key '{}': {}", outgoing.key, to_string(result.status)));
}

void note_first_after_kill(const Board& board, ProducerPanel& panel) noexcept {
    if (board.killed_ns.load(std::memory_order_relaxed) == 0)
        return;
    if (panel.first_after_kill_ns.load(std::memory_order_relaxed) != 0)
        return;
    panel.first_after_kill_ns.store(wall_ns(), std::memory_order_relaxed);
}

void publish_all(const Plan& plan, Board& board, Producer& producer, Source& source, ProducerPanel& panel) {
    Outgoing outgoing;
    std::uint64_t published = 0;
    while (!board.stop_producing.load(std::memory_order_relaxed)) {
        const Source::Next next = source.next(outgoing);
        panel.rows_seen.store(source.rows_seen(), std::memory_order_relaxed);
        if (next == Source::Next::end)
            break;
        panel.publishing.store(next == Source::Next::record, std::memory_order_relaxed);
        if (next == Source::Next::pause) {
            std::this_thread::sleep_for(source.pause_time());
            continue;
        }
        publish(producer, outgoing, plan);
        panel.published.store(++published, std::memory_order_relaxed);
        note_first_after_kill(board, panel);
    }
    panel.publishing.store(false, std::memory_order_relaxed);
    panel.finished.store(true, std::memory_order_release);
}

void attach_everywhere(Producer& producer) {
    for (std::uint32_t partition = 0; partition < producer.partitions(); ++partition)
        producer.attach(partition);
}

/// Reads what is in the log of a share, and tells the source.
class Follower {
public:
    Follower(const Broker& broker, const Plan& plan, Source& source) : consumer_(broker), plan_(plan), source_(source) {
        // Half a ring reaches back over many sweeps, and over the predecessor's last rows; the gate keeps it from
        // being overwritten before it was read.
        consumer_.assign(plan.topic, Position::last(kRecordsPerPartition / 2));
        consumer_.hold_gates("successor");
    }

    /// True if something was read.
    bool follow() {
        const PollResult result = consumer_.poll(1024, milliseconds(1));
        if (result.status != Status::ok)
            throw std::runtime_error(fmt::format("poll: {}", to_string(result.status)));
        for (const ConsumerRecord& record : result.records)
            learn(record);
        consumer_.move_gates();
        return !result.records.empty() || !result.gaps.empty();
    }

    [[nodiscard]] std::array<std::uint64_t, kPartitions> log_ends() const {
        std::array<std::uint64_t, kPartitions> ends{};
        for (std::uint32_t partition = 0; partition < kPartitions; ++partition)
            ends[partition] = consumer_.log_end(plan_.topic, partition);
        return ends;
    }

    [[nodiscard]] bool reached(const std::array<std::uint64_t, kPartitions>& ends) const {
        for (std::uint32_t partition = 0; partition < kPartitions; ++partition) {
            if (consumer_.position(plan_.topic, partition) < ends[partition])
                return false;
        }
        return true;
    }

    [[nodiscard]] std::uint64_t found() const noexcept { return found_; }

private:
    void learn(const ConsumerRecord& record) {
        if (!record.key || !source_.owns(as_text(*record.key)))
            return;
        source_.continue_after(as_text(*record.key), number_in(record.headers, kSequenceHeader).value_or(0),
                               number_in(record.headers, kRowHeader).value_or(0));
        ++found_;
    }

    Consumer consumer_;
    const Plan& plan_;
    Source& source_;
    std::uint64_t found_ = 0;
};

void follow_until_dead(const Plan& plan, Board& board, const Broker& broker, Source& source, ProducerPanel& panel) {
    Follower follower(broker, plan, source);
    panel.ready.store(true, std::memory_order_release);
    // acquire VICTIM_DEAD: pairs with the stage's store after it has waited for the process, which will write no more.
    while (!board.victim_dead.load(std::memory_order_acquire)) {
        const auto ends = follower.log_ends();
        follower.follow();
        if (follower.reached(ends))
            panel.caught_up.store(true, std::memory_order_release);
    }
    const auto ends = follower.log_ends();
    while (!follower.reached(ends))
        follower.follow();
    panel.continued_at.store(follower.found(), std::memory_order_relaxed);
    if (follower.found() != 0)
        return;
    // Only a share that was used up long ago can have left nothing in the log: the stage lets the others publish
    // something between the gate and the kill.
    if (!board.producers[plan.victim].finished.load(std::memory_order_acquire)) {
        throw std::runtime_error("nothing of the killed producer's share is in the log");
    }
    source.continue_after({}, 0, plan.csv.rows);
}

}  // namespace

void run_producer(const Plan& plan, Board& board, std::uint32_t index) {
    ProducerPanel& panel = board.producers[index];
    const Broker broker(plan.broker);
    ProducerOptions options;
    options.clock = ProducerClock::precise;
    Producer producer(broker, plan.topic, options);
    attach_everywhere(producer);
    const std::unique_ptr<Source> source = make_source(plan, board, index);
    panel.ready.store(true, std::memory_order_release);
    while (board.started_ns.load(std::memory_order_acquire) == 0)
        std::this_thread::sleep_for(milliseconds(1));
    publish_all(plan, board, producer, *source, panel);
    // The one that is to be killed waits for it, should its input have been too short for that.
    while (index == plan.victim && board.killed_ns.load(std::memory_order_relaxed) == 0) {
        std::this_thread::sleep_for(milliseconds(1));
    }
}

void run_successor(const Plan& plan, Board& board) {
    ProducerPanel& panel = board.successor;
    const Broker broker(plan.broker);
    ProducerOptions options;
    options.clock = ProducerClock::precise;
    Producer producer(broker, plan.topic, options);
    attach_everywhere(producer);
    const std::unique_ptr<Source> source = make_source(plan, board, plan.victim);
    follow_until_dead(plan, board, broker, *source, panel);
    publish_all(plan, board, producer, *source, panel);
}

}  // namespace ringmain::cli::demo
