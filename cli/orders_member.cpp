// A member of a group: polls, works on each event, writes down that it did, and commits now and then.
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>

#include "demo_record.hpp"
#include "orders_roles.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"

namespace ringmain::cli::orders {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kPollRecords = 64;
constexpr milliseconds kPollTimeout{20};
constexpr std::uint64_t kCommitEvents = 25;           // a commit after so many events,
constexpr std::int64_t kCommitEveryNs = 100'000'000;  // or after this time
constexpr std::uint64_t kDefectAfter = 100;           // a planted defect waits for so many events

std::uint32_t order_of(const ConsumerRecord& record) {
    const std::string_view key = text_or(record.key, "");
    if (const auto order = order_named(key))
        return *order;
    throw std::runtime_error(
        fmt::format("partition {}, offset {}: the key '{}' is no order's", record.partition, record.offset, key));
}

class Worker {
public:
    Worker(const Plan& plan, Board& board, Journal& journal, std::uint32_t member)
        : plan_(plan),
          board_(board),
          journal_(journal),
          member_(member),
          panel_(board.members[member]),
          group_(board.groups[kMembers[member].group]),
          consumer_(Broker(plan.broker), options()) {
        consumer_.subscribe(kTopic);
        panel_.ready.store(true, std::memory_order_release);
    }

    void run() {
        while (!evicted_for_good_ && !board_.close.load(std::memory_order_acquire))
            work_once();
        (void)consumer_.close();
        panel_.ended.store(true, std::memory_order_release);
    }

private:
    [[nodiscard]] const Group& group() const noexcept { return kGroups[kMembers[member_].group]; }

    GroupOptions options() {
        GroupOptions options;
        options.name = group().name;
        options.session_timeout = kSessionTimeout;
        options.listener.assigned = [this](auto partitions) { take(partitions); };
        options.listener.revoked = [this](auto partitions) { drop(partitions, Entry::Kind::given_up); };
        options.listener.lost = [this](auto partitions) { drop(partitions, Entry::Kind::lost); };
        return options;
    }

    void work_once() {
        const bool continued = member_ == kStopped && board_.continued_ns.load(std::memory_order_relaxed) != 0;
        const PollResult result = consumer_.poll(kPollRecords, kPollTimeout);
        if (continued)
            panel_.polled_since.fetch_add(result.records.size(), std::memory_order_relaxed);
        for (const Gap& gap : result.gaps)
            panel_.gap_offsets.fetch_add(gap.to - gap.from, std::memory_order_relaxed);
        std::uint64_t left = result.records.size();
        panel_.in_hand.store(left, std::memory_order_relaxed);
        for (const ConsumerRecord& record : result.records) {
            work_on(record);
            panel_.in_hand.store(--left, std::memory_order_relaxed);
        }
        if (result.status == Status::evicted) {
            note_eviction();
        } else if (result.status != Status::ok) {
            throw std::runtime_error(fmt::format("poll: {}", to_string(result.status)));
        }
        if (uncommitted_ >= kCommitEvents || now_ns() - committed_at_ns_ >= kCommitEveryNs)
            commit();
    }

    void work_on(const ConsumerRecord& record) {
        const auto step = demo::number_in(record.headers, demo::kSequenceHeader).value_or(0);
        if (step == 0 || step > kSteps.size())
            throw std::runtime_error(
                fmt::format("partition {}, offset {}: no such step", record.partition, record.offset));
        Entry entry;
        entry.offset = record.offset;
        entry.order = order_of(record);
        entry.step = static_cast<std::uint8_t>(step);
        entry.partition = static_cast<std::uint8_t>(record.partition);
        if (group().work.count() != 0)
            std::this_thread::sleep_for(group().work);
        if (member_ != kDefective || !go_wrong(entry))
            write(entry);
        panel_.handled.store(++handled_, std::memory_order_relaxed);
        panel_.uncommitted.store(++uncommitted_, std::memory_order_relaxed);
    }

    /// The planted defect, once. True: the event is not to be written down as usual.
    bool go_wrong(const Entry& entry) {
        const Defect defect = plan_.options.defect;
        if (defect == Defect::none || defect == Defect::forget || handled_ < kDefectAfter)
            return false;
        if (held_back_ && held_back_->order == entry.order) {
            write(entry);
            write(*held_back_);
            held_back_.reset();
            return true;
        }
        if (went_wrong_ || entry.step == kSteps.size())
            return false;
        went_wrong_ = true;
        if (defect == Defect::swap)
            held_back_ = entry;
        if (defect == Defect::repeat)
            write(entry);
        return defect != Defect::repeat;
    }

    void commit() {
        const CommitResult result = consumer_.commit();
        committed_at_ns_ = now_ns();
        for (const PartitionCommit& partition : result.partitions) {
            if (partition.outcome == CommitOutcome::committed)
                note(Entry::Kind::committed, partition.partition, partition.offset);
            if (partition.outcome == CommitOutcome::fenced)
                note(Entry::Kind::fenced, partition.partition, partition.offset);
        }
        if (result.status == Status::ok) {
            uncommitted_ = 0;
            panel_.uncommitted.store(0, std::memory_order_relaxed);
        } else if (result.status != Status::commit_refused) {
            throw std::runtime_error(fmt::format("commit: {}", to_string(result.status)));
        }
    }

    void take(std::span<const TopicPartition> partitions) {
        for (const TopicPartition& one : partitions) {
            note(Entry::Kind::acquired, one.partition, consumer_.position(one.topic, one.partition));
            panel_.partitions.fetch_or(1U << one.partition, std::memory_order_relaxed);
            group_.owner[one.partition].store(member_ + 1, std::memory_order_release);
        }
    }

    void drop(std::span<const TopicPartition> partitions, Entry::Kind kind) {
        for (const TopicPartition& one : partitions) {
            note(kind, one.partition, 0);
            panel_.partitions.fetch_and(~(1U << one.partition), std::memory_order_relaxed);
        }
    }

    /// The member that the story stops leaves it at that; one that this machine kept from polling for too long joins
    /// again.
    void note_eviction() {
        note(Entry::Kind::evicted, 0, 0);
        evicted_for_good_ = member_ == kStopped && board_.stopped_ns.load(std::memory_order_relaxed) != 0;
    }

    void note(Entry::Kind kind, std::uint32_t partition, std::uint64_t offset) {
        Entry entry;
        entry.kind = kind;
        entry.partition = static_cast<std::uint8_t>(partition);
        entry.offset = offset;
        write(entry);
    }

    void write(Entry entry) {
        entry.tick = group_.tick.fetch_add(1, std::memory_order_acq_rel);  // in the order of what happens in the group
        entry.time_ns = now_ns();
        journal_.append(entry);
    }

    const Plan& plan_;
    const Board& board_;
    Journal& journal_;
    std::uint32_t member_;
    MemberPanel& panel_;
    GroupPanel& group_;
    Consumer consumer_;
    std::uint64_t handled_ = 0;
    std::uint64_t uncommitted_ = 0;
    std::int64_t committed_at_ns_ = now_ns();
    bool evicted_for_good_ = false;
    bool went_wrong_ = false;
    std::optional<Entry> held_back_;
};

}  // namespace

void run_member(const Plan& plan, Board& board, Journal& journal, std::uint32_t member) {
    Worker(plan, board, journal, member).run();
}

}  // namespace ringmain::cli::orders
