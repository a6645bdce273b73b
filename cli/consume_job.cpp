// Consuming records for printing.
#include "consume_job.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "errors.hpp"
#include "numbers.hpp"
#include "signals.hpp"
#include "status_text.hpp"
#include "times.hpp"

namespace ringmain::cli {

namespace {

constexpr std::uint64_t kPollRecordsMax = 1024;
/// How long a poll may sleep before we look for signals, and whether anybody still reads what we print.
constexpr std::chrono::milliseconds kPollPatience{200};

std::vector<std::uint32_t> partitions_to_read(const Broker& broker, const ConsumeOptions& options) {
    const std::uint32_t count = broker.describe_topic(options.topic).options.partitions;
    if (options.partition) {
        if (*options.partition < count)
            return {*options.partition};
        throw CommandError(
            fmt::format("topic '{}' has no partition {}, only 0 to {}", options.topic, *options.partition, count - 1));
    }
    std::vector<std::uint32_t> partitions(count);
    for (std::uint32_t i = 0; i < count; ++i)
        partitions[i] = i;
    return partitions;
}

}  // namespace

ConsumeJob::ConsumeJob(const Broker& broker, const ConsumeOptions& options) : broker_(broker), options_(options), consumer_(broker), printer_(options.format) {
    if (!options.gate.empty())
        hold_gate();
    for (const std::uint32_t partition : partitions_to_read(broker, options))
        assign_if_sound(partition);
}

/// The other partitions are read all the same; the exit code says that one was not.
void ConsumeJob::assign_if_sound(std::uint32_t partition) {
    try {
        assign(partition);
    } catch (const Error& error) {
        const bool damaged = error.code() == ErrorCode::corrupt || error.code() == ErrorCode::version_mismatch;
        if (!damaged || options_.partition)
            throw;
        note_damaged(partition, error.what());
    }
}

void ConsumeJob::note_damaged(std::uint32_t partition, const std::string& why) {
    std::erase_if(parts_, [=](const Part& part) { return part.partition == partition; });
    ++damaged_;
    note("topic '{}' partition {} is not read: {}", options_.topic, partition, why);
}

/// Why a partition that was read cannot be any more.
std::string ConsumeJob::reason_of(const PartitionFailure& failure) const {
    try {
        Consumer(broker_).assign(failure.topic, failure.partition);
    } catch (const Error& error) {
        return error.what();
    }
    return explain(failure.status);
}

void ConsumeJob::check(const PollResult& result) {
    if (result.status == Status::ok)
        return;
    printer_.output().flush();
    for (const PartitionFailure& failure : result.failures) {
        if (failure.status != Status::corrupt || options_.partition)
            throw CommandError(fmt::format("topic '{}': {}", options_.topic, explain(failure.status)));
        note_damaged(failure.partition, reason_of(failure));
    }
    if (result.failures.empty())
        throw CommandError(fmt::format("topic '{}': {}", options_.topic, explain(result.status)));
}

/// Before anything is assigned: each partition is gated from the moment on at which it is.
void ConsumeJob::hold_gate() {
    try {
        consumer_.hold_gates(options_.gate);
    } catch (const Error& error) {
        throw UsageError(fmt::format("--gate: {}", error.what()));
    }
}

void ConsumeJob::assign(std::uint32_t partition) {
    consumer_.assign(options_.topic, partition, options_.from);
    tell_position(partition);
    parts_.push_back({partition, options_.stop_at_end ? consumer_.log_end(options_.topic, partition) : UINT64_MAX});
}

void ConsumeJob::tell_position(std::uint32_t partition) {
    const Position::Kind kind = options_.from.kind;
    if (kind != Position::Kind::time && kind != Position::Kind::offset)
        return;
    const SeekResult found = consumer_.seek(options_.topic, partition, options_.from);
    if (kind == Position::Kind::time && found.at_end) {
        note("topic '{}' partition {}: no record at or after {}; reading from the end, offset {}", options_.topic,
             partition, format_time_ns(options_.from.time_ns), found.offset);
    }
    if (found.beyond_end) {
        note("topic '{}' partition {}: offset {} is beyond the end, offset {}; {}", options_.topic, partition,
             found.offset, consumer_.log_end(options_.topic, partition),
             options_.stop_at_end ? "there is nothing to read" : "waiting until the log gets there");
    }
}

void ConsumeJob::run() {
    drop_finished_parts();
    while (!done()) {
        const std::uint64_t records_max = std::min(kPollRecordsMax, options_.records_max - printer_.records());
        const bool has_output = !printer_.output().buffer().empty();
        const PollResult result =
            consumer_.poll(records_max, has_output ? std::chrono::nanoseconds::zero() : kPollPatience);
        printer_.tell_gaps(result.gaps);
        print_records(result);
        const bool dry = result.records.empty();  // nothing more to come at once
        if (!options_.gate.empty())
            release_printed();
        else if (dry)
            printer_.output().flush();
        if (dry)
            printer_.output().check_reader();
        check(result);
        drop_finished_parts();
    }
    printer_.output().flush();
    if (damaged_ != 0)
        throw CommandError(fmt::format("topic '{}': {} could not be read", options_.topic, counted(damaged_, "damaged partition")));
}

bool ConsumeJob::done() const noexcept {
    return stop_requested() || printer_.records() >= options_.records_max || parts_.empty();
}

void ConsumeJob::drop_finished_parts() {
    if (!options_.stop_at_end)
        return;
    const auto finished = [this](const Part& part) {
        if (consumer_.position(options_.topic, part.partition) < part.end)
            return false;
        consumer_.unassign(options_.topic, part.partition);
        return true;
    };
    parts_.erase(std::remove_if(parts_.begin(), parts_.end(), finished), parts_.end());
}

bool ConsumeJob::is_past_end(const ConsumerRecord& record) const noexcept {
    const auto part = std::find_if(parts_.begin(), parts_.end(),
                                   [&](const Part& candidate) { return candidate.partition == record.partition; });
    return part != parts_.end() && record.offset >= part->end;
}

void ConsumeJob::print_records(const PollResult& result) {
    for (const ConsumerRecord& record : result.records) {
        if (options_.stop_at_end && is_past_end(record))
            continue;
        printer_.add(record);
    }
}

/// Producers may overwrite what has left this process, and nothing else.
void ConsumeJob::release_printed() {
    printer_.output().flush();
    consumer_.move_gates();
}

}  // namespace ringmain::cli
