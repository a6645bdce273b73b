// Consuming as a member of a group.
#include "group_consume_job.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "errors.hpp"
#include "group_report.hpp"
#include "numbers.hpp"
#include "positions.hpp"
#include "signals.hpp"
#include "status_text.hpp"

namespace ringmain::cli {

namespace {

constexpr std::uint64_t kPollRecordsMax = 1024;
/// How long a poll may sleep before we look for signals, and whether anybody still reads what we print.
constexpr std::chrono::milliseconds kPollPatience{200};

Consumer consumer_of(const Broker& broker, GroupOptions group) {
    try {
        return {broker, group};
    } catch (const Error& error) {
        throw UsageError(error.what());
    }
}

}  // namespace

GroupOptions GroupConsumeJob::with_listener(GroupOptions group) {
    group.delivery = Delivery::manual;  // polled is not printed
    group.listener.let_go = [](std::span<const TopicPartition> partitions) {
        for (const TopicPartition& one : partitions)
            note("topic '{}' partition {}: the group was let go; producers wait for it no longer, and records may be lost", one.topic, one.partition);
    };
    return group;
}

GroupConsumeJob::GroupConsumeJob(const Broker& broker, const ConsumeOptions& options)
    : options_(options),
      admin_(broker),
      printer_(options.format),
      consumer_(consumer_of(broker, with_listener(*options.group))) {
    consumer_.subscribe(options.topic);
    for (const GroupLag& lag : admin_.lag(options.topic, options.group->name, {.time = false, .bytes_records_max = 0})) {
        note_if_beyond_end(options.topic, lag);
        ends_.push_back(lag.log_end);
    }
}

void GroupConsumeJob::run() {
    while (!done()) {
        const std::uint64_t records_max = std::min(kPollRecordsMax, options_.records_max - printer_.records());
        const PollResult result = consumer_.poll(records_max, kPollPatience);
        printer_.tell_gaps(result.gaps);
        print(result);
        commit_printed();
        check(result);
        if (!result.records.empty())
            continue;
        printer_.output().check_reader();
        if (options_.stop_at_end && has_read_all())
            break;
    }
    uncommitted_ = true;  // closed tickets behind the last record, too
    commit_printed();
    (void)consumer_.close();
    if (damaged_ != 0)
        throw CommandError(fmt::format("topic '{}': {} could not be read", options_.topic, counted(damaged_, "damaged partition")));
}

bool GroupConsumeJob::done() const noexcept { return stop_requested() || printer_.records() >= options_.records_max; }

void GroupConsumeJob::print(const PollResult& result) {
    for (const ConsumerRecord& record : result.records)
        printer_.add(record);
    printer_.output().flush();
    const bool moved = !result.records.empty() || !result.gaps.empty();
    uncommitted_ = uncommitted_ || moved || moved_;  // once more behind the last record: closed tickets may follow it
    moved_ = moved;
}

/// A refusal concerns partitions that the next poll finds lost; what the others printed is committed after it.
void GroupConsumeJob::commit_printed() {
    if (!uncommitted_)
        return;
    const CommitResult result = consumer_.commit();
    uncommitted_ = result.status != Status::ok;
    if (uncommitted_)
        tell_refused(result);
}

void GroupConsumeJob::tell_refused(const CommitResult& result) {
    for (const PartitionCommit& commit : result.partitions) {
        if (commit.outcome == CommitOutcome::committed || commit.outcome == CommitOutcome::not_applied)
            continue;
        note("topic '{}' partition {}: offset {} is not committed: {} (committed {}, generation {}, now {})", commit.topic, commit.partition,
             commit.offset, to_string(commit.outcome), commit.committed, commit.generation, commit.current_generation);
    }
}

/// One that was evicted joins again with the next poll, and its partitions go on where they were committed.
void GroupConsumeJob::check(const PollResult& result) {
    if (result.status == Status::ok)
        return;
    const bool damage = std::all_of(result.failures.begin(), result.failures.end(), [](const PartitionFailure& failure) {
        return failure.status == Status::corrupt && failure.partition != kWholeTopic;
    });
    if (damage && !result.failures.empty()) {
        for (const PartitionFailure& failure : result.failures)
            note_damaged(failure);
        return;
    }
    const std::string text = fmt::format("group '{}' of topic '{}': {}", printable(options_.group->name), options_.topic, explain(result.status));
    if (result.status != Status::evicted)
        throw CommandError(text);
    note("{}; joining again", text);
}

/// The members read the others all the same; the exit code says that one was not.
void GroupConsumeJob::note_damaged(const PartitionFailure& failure) {
    ++damaged_;
    ends_.at(failure.partition) = 0;
    note("topic '{}' partition {} is not read: {}", options_.topic, failure.partition, explain(failure.status));
}

/// Up to the ends of the start: what is ours, and what nobody reads. What other members have is theirs to finish.
bool GroupConsumeJob::has_read_all() {
    const std::vector<TopicPartition> mine = consumer_.assignment();
    const auto is_mine = [&](std::uint32_t partition) {
        return std::any_of(mine.begin(), mine.end(), [=](const TopicPartition& one) { return one.partition == partition; });
    };
    const GroupDescription group = admin_.describe(options_.topic, options_.group->name, {.time = false, .bytes_records_max = 0});
    return std::all_of(group.partitions.begin(), group.partitions.end(), [&](const GroupPartitionDescription& part) {
        const std::uint64_t end = ends_.at(part.lag.partition);
        if (is_mine(part.lag.partition))
            return consumer_.position(options_.topic, part.lag.partition) >= end;
        return part.owner.has_value() || part.lag.position >= end;
    });
}

}  // namespace ringmain::cli
