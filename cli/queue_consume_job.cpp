// Consuming as a worker of a queue.
#include "queue_consume_job.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "durations.hpp"
#include "errors.hpp"
#include "group_report.hpp"
#include "numbers.hpp"
#include "positions.hpp"
#include "signals.hpp"
#include "status_text.hpp"

namespace ringmain::cli {

namespace {

constexpr std::uint64_t kAcquireMax = 256;
constexpr std::uint64_t kAnswerBytesMax = 4'096;
/// How long an acquire may sleep before we look for signals and answers.
constexpr std::chrono::milliseconds kPatience{200};
constexpr std::chrono::milliseconds kPatienceForAnswers{20};

/// The library's text with the options called as on the command line.
std::string in_our_words(std::string text) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kNames = {{
        {"lock_time", "--lock-time"},
        {"delivery_limit", "--delivery-limit"},
        {"with start", "with --start"},
    }};
    for (const auto& [theirs, ours] : kNames) {
        if (const std::size_t at = text.find(theirs); at != std::string::npos)
            text.replace(at, theirs.size(), ours);
    }
    return text;
}

/// With a queue made as asked, if there is none, or found as asked.
QueueWorker worker_as_asked(const Broker& broker, const ConsumeOptions& options, const QueueWorkerOptions& worker) {
    try {
        return {broker, options.topic, options.queue->queue, options.queue->create, worker};
    } catch (const Error& error) {
        if (error.code() == ErrorCode::invalid_argument)
            throw UsageError(in_our_words(error.what()));
        if (error.code() == ErrorCode::mismatch &&
            std::string_view(error.what()).find(" exists with ") != std::string_view::npos)
            throw CommandError(in_our_words(error.what()) + "; without the option it is taken as it is");
        throw;
    }
}

QueueWorker worker_of(const Broker& broker, const ConsumeOptions& options) {
    const QueueConsumeOptions& queue = *options.queue;
    QueueWorkerOptions worker;
    worker.max_in_flight = queue.max_in_flight;
    if (queue.created_as_asked)
        return worker_as_asked(broker, options, worker);
    try {
        return {broker, options.topic, queue.queue, worker};
    } catch (const Error& error) {
        if (error.code() != ErrorCode::not_found)
            throw;
    }
    return worker_as_asked(broker, options, worker);
}

bool has_input(int descriptor) {
    pollfd ready{descriptor, POLLIN, 0};
    return ::poll(&ready, 1, 0) > 0;
}

// Cuts the first word off.
std::string_view next_word(std::string_view& text) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
    const std::size_t end = std::min(text.find_first_of(" \t", begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

template <class Number>
bool parse_whole(std::string_view text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

std::optional<std::pair<std::uint32_t, std::uint64_t>> parse_place(std::string_view text) {
    const std::size_t colon = text.find(':');
    std::pair<std::uint32_t, std::uint64_t> place;
    if (colon == std::string_view::npos || !parse_whole(text.substr(0, colon), place.first) ||
        !parse_whole(text.substr(colon + 1), place.second)) {
        return std::nullopt;
    }
    return place;
}

std::optional<std::chrono::milliseconds> parse_time(std::string_view text) {
    if (text.empty())
        return std::nullopt;
    const auto time = parse_duration(text);
    if (!time)
        throw UsageError(fmt::format("'{}' is no duration such as 500ms, 30s or 5m", text));
    return std::chrono::duration_cast<std::chrono::milliseconds>(*time);
}

}  // namespace

QueueConsumeJob::QueueConsumeJob(const Broker& broker, const ConsumeOptions& options)
    : options_(options),
      queue_(*options.queue),
      admin_(broker),
      worker_(worker_of(broker, options)),
      printer_(options.format),
      answers_(STDIN_FILENO, "standard input", kAnswerBytesMax) {
    for (const GroupLag& lag : GroupAdmin(broker).lag(options.topic, queue_.queue, {.time = false, .bytes_records_max = 0}))
        note_if_beyond_end(options.topic, lag);
}

void QueueConsumeJob::run() {
    while (!done()) {
        const std::uint64_t most = std::min(kAcquireMax, options_.records_max - printer_.records());
        const AcquireResult result = worker_.acquire(most, queue_.manual ? kPatienceForAnswers : kPatience);
        print(result);
        if (!queue_.manual)
            ack_printed(result);
        read_answers();
        check(result.status);
        if (!result.records.empty())
            continue;
        printer_.output().check_reader();
        if (options_.stop_at_end && held_.empty() && is_drained())
            break;
    }
    while (queue_.manual && !answers_end_ && !held_.empty() && !stop_requested()) {
        check(worker_.acquire(0).status);  // of a queue that is none any more nothing can be answered
        read_answers();
        ::poll(nullptr, 0, static_cast<int>(kPatienceForAnswers.count()));
    }
    worker_.close();
}

bool QueueConsumeJob::done() const noexcept {
    return stop_requested() || answers_end_ || printer_.records() >= options_.records_max;
}

void QueueConsumeJob::print(const AcquireResult& result) {
    printer_.tell_gaps(result.gaps);
    for (const QueueRecord& record : result.records) {
        printer_.add(record);
        if (queue_.manual)
            held_[{record.lock.partition, record.lock.offset}] = record.lock;
    }
    printer_.output().flush();
}

/// Only what has left the process.
void QueueConsumeJob::ack_printed(const AcquireResult& result) {
    for (const QueueRecord& record : result.records)
        tell(worker_.ack(record.lock), record.lock);
}

void QueueConsumeJob::check(Status status) const {
    if (status == Status::ok || status == Status::would_block)
        return;
    throw CommandError(fmt::format("queue '{}' of topic '{}': {}", printable(queue_.queue), options_.topic, explain(status)));
}

/// What others hold, or what waits for its time, is not ours to wait for.
bool QueueConsumeJob::is_drained() {
    const QueueDescription queue = admin_.describe(options_.topic, queue_.queue);
    return std::all_of(queue.partitions.begin(), queue.partitions.end(),
                       [](const QueuePartitionDescription& part) { return part.available == 0; });
}

void QueueConsumeJob::read_answers() {
    while (queue_.manual && !answers_end_ && has_input(STDIN_FILENO)) {
        answers_end_ = !answers_.fill();
        while (const auto line = answers_.next()) {
            if (line->bytes > kAnswerBytesMax)
                note("answer of {} bytes is longer than {}: passed over", line->bytes, kAnswerBytesMax);
            else
                answer(line->text);
        }
    }
}

void QueueConsumeJob::answer(std::string_view line) {
    std::string_view rest = line;
    const std::string_view verb = next_word(rest);
    if (verb.empty())
        return;
    const std::string_view where = next_word(rest);
    const auto place = parse_place(where);
    const auto held = place ? held_.find(*place) : held_.end();
    if (held == held_.end()) {
        note("answer '{}': '{}' is no record that is held (PARTITION:OFFSET)", line, where);
        return;
    }
    Lock lock = held->second;
    try {
        settle(verb, lock, rest);
    } catch (const UsageError& error) {
        note("answer '{}': {}", line, error.what());
        return;
    }
    if (verb == "renew")
        held->second = lock;
    else
        held_.erase(held);
}

/// Throws UsageError.
void QueueConsumeJob::settle(std::string_view verb, Lock& lock, std::string_view argument) {
    if ((verb == "ack" || verb == "release") && argument.find_first_not_of(" \t\r") != std::string_view::npos)
        throw UsageError(fmt::format("{} takes nothing behind the record, not '{}'", verb, argument));
    if (verb == "ack")
        return tell(worker_.ack(lock), lock);
    if (verb == "nack")
        return tell(worker_.nack(lock, parse_time(argument)), lock);
    if (verb == "release")
        return tell(worker_.release(lock), lock);
    if (verb == "reject")
        return tell(worker_.reject(lock, argument), lock);
    if (verb == "renew")
        return tell(worker_.renew(lock, parse_time(argument)), lock);
    throw UsageError(fmt::format("'{}' is none of ack, nack, release, reject and renew", verb));
}

void QueueConsumeJob::tell(const SettleResult& result, const Lock& lock) {
    if (result.settled == Settled::done) {
        ++acked_;
        return;
    }
    ++refused_;
    std::string text = fmt::format("record {}:{}: {}", lock.partition, lock.offset, to_string(result.settled));
    if (result.settled == Settled::unavailable)
        text += fmt::format(" ({})", explain(result.status));
    if (result.taken_by_slot)
        text += fmt::format(", worker {} has it", *result.taken_by_slot);
    if (result.taken_by_pid != 0)
        text += fmt::format(" (pid {})", result.taken_by_pid);
    note("{}", text);
}

void QueueConsumeJob::tell_counts() const {
    printer_.tell_counts(options_.topic);
    note("{} answered, {} refused", counted(acked_, "record"), counted(refused_, "answer"));
}

}  // namespace ringmain::cli
