// Writing dead letters.
#include "dead_letter_log.hpp"

#include <chrono>
#include <utility>

#include "damage.hpp"
#include "dead_letter_headers.hpp"
#include "error_about.hpp"
#include "file_stamp.hpp"
#include "partition_log/control_check.hpp"
#include "partition_log/tickets.hpp"
#include "platform/clock.hpp"
#include "platform/files.hpp"

namespace ringmain {

namespace {

using partition_log::Decision;
using partition_log::Found;
using work_table::LetterOf;
using work_table::LetterReason;
using work_table::LetterTicket;
using work_table::Sent;
using Reader = partition_log::Reader<platform::HostMemory>;

constexpr std::chrono::nanoseconds kUnused = std::chrono::seconds(1);
constexpr std::chrono::nanoseconds kAgain = std::chrono::seconds(1);  // how often what is damaged is looked at
constexpr std::string_view kOverwritten = "overwritten";
constexpr std::string_view kCorrupt = "corrupt";

DeadLetterReason public_reason(LetterReason reason) noexcept {
    switch (reason) {
        case LetterReason::limit:
            return DeadLetterReason::limit;
        case LetterReason::rejected:
            return DeadLetterReason::rejected;
        case LetterReason::expired:
            return DeadLetterReason::expired;
        case LetterReason::died:
            break;
    }
    return DeadLetterReason::worker_died;
}

// In a word why there is no record; empty: there is one.
std::string_view loss_of(Found found) noexcept {
    switch (found) {
        case Found::record:
            return {};
        case Found::corrupt:
            return kCorrupt;
        case Found::skip:
        case Found::lapped:
        case Found::nothing:
            break;
    }
    return kOverwritten;
}

}  // namespace

DeadLetterLogs::DeadLetterLogs(std::shared_ptr<Broker::Impl> broker, std::shared_ptr<const TopicFiles> origin,
                               std::string group, const DeadLetterTopic& letters)
    : broker_(std::move(broker)), origin_(std::move(origin)), group_(std::move(group)) {
    try {
        if (!letters.name.empty())
            topic_ = broker_->open_topic(letters.name);
    } catch (const Error& error) {
        if (!is_gone(error))
            throw;
    }
    if (topic_ && topic_->id() != letters.id)
        topic_.reset();
    if (topic_)
        parts_.resize(topic_->options().partitions);
}

DeadLetterLogs::Part* DeadLetterLogs::map(std::uint32_t partition) {
    auto& part = parts_.at(partition);
    if (part)
        return part.get();
    try {
        auto made = std::make_unique<Part>();
        made->mapping = topic_->map_partition(partition, platform::Access::read_write);
        made->log = Log(made->mapping.data(), geometry_of(made->mapping), topic_->readers(partition),
                        topic_->group_gates(partition));
        part = std::move(made);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::topic_deleted)
            throw;
    }
    return part.get();
}

bool DeadLetterLogs::usable(const Part* part) const noexcept {
    return part != nullptr && !topic_->deleted() && !partition_log::Doorbell<Memory>(*part->log.readers).deleted();
}

bool DeadLetterLogs::is_sound(const Part& part, std::uint32_t partition) const noexcept {
    if (part.corrupt || partition_log::Doorbell<Memory>(*part.log.readers).damaged() ||
        !has_stamp(part.mapping, layout::FileKind::partition, topic_->id()) ||
        !partition_log::check_control(part.log).sound())
        return false;
    if (part.mapping.truncated() || !topic_->readers_whole())  // last: the looks before may have found it
        return false;
    try {
        const auto now = platform::shape_of(topic_->partition_path(partition));
        return now && now->identity == part.mapping.identity() && now->bytes >= part.mapping.size();
    } catch (...) {
        return false;  // it may not be looked at
    }
}

void DeadLetterLogs::open_again(Part& part, std::uint32_t partition) noexcept {
    const std::int64_t now_ns = platform::monotonic_ns();
    if (part.looked_at_ns != 0 && now_ns - part.looked_at_ns < kAgain.count())
        return;
    part.looked_at_ns = now_ns;
    try {
        platform::Mapping mapping = topic_->map_partition(partition, platform::Access::read_write);
        const Log log(mapping.data(), geometry_of(mapping), topic_->readers(partition), topic_->group_gates(partition));
        topic_->check_whole(mapping, partition);
        if (!partition_log::check_control(log).sound())
            return;
        discard();
        part.producer.reset();
        take_back_damage(*log.readers);  // its file is sound
        part.mapping = std::move(mapping);
        part.log = log;
        part.corrupt = false;
    } catch (...) {
        // it is still damaged, or gone
    }
}

Status DeadLetterLogs::attach(Part& part, std::uint32_t partition) noexcept {
    if (part.producer)
        return Status::ok;
    try {
        part.producer = std::make_unique<PartitionProducer>(broker_, topic_, partition, false, "");
        return Status::ok;
    } catch (const Error& error) {
        return error.code() == ErrorCode::topic_deleted ? Status::topic_deleted : Status::cannot_attach;
    } catch (...) {
        return Status::cannot_attach;
    }
}

/// Fills `prepared_` but for the location.
void DeadLetterLogs::compose(const Reader& source, std::uint32_t partition, const LetterOf& of) {
    const std::string_view lost = loss_of(copy_.take(source, of.offset));
    const partition_log::RecordView& view = copy_.view();
    DeadLetter letter;
    letter.topic = origin_->name();
    letter.topic_id = origin_->id();
    letter.partition = partition;
    letter.offset = of.offset;
    letter.attempts = of.deliveries;
    letter.group = group_;
    letter.reason = public_reason(of.reason);
    if (lost.empty())
        letter.timestamp_ns = view.timestamp_ns;
    if (knows_errors_of(partition, of.offset)) {
        letter.first_error = errors_->texts.first;
        letter.last_error = errors_->texts.last;
    }
    partition_log::RecordParts parts;
    headers_.clear();
    if (lost.empty()) {
        parts.value = view.body;
        parts.value_bytes = view.value_bytes;
        parts.key = view.key();
        parts.key_bytes = view.key_bytes;
        append_other_headers(headers_, {view.headers(), view.headers_bytes});
    }
    append_letter_headers(headers_, letter, lost);
    parts.headers = headers_.data();
    parts.headers_bytes = static_cast<std::uint32_t>(headers_.size());
    const unsigned nulls =
        lost.empty() ? view.flags & (layout::kNullKey | layout::kNullValue) : layout::kNullKey | layout::kNullValue;
    parts.flags = static_cast<std::uint16_t>(nulls | layout::kHasHeaders);
    parts.timestamp_ns = platform::realtime_ns();
    prepared_ = Prepared{partition, of.offset, of.deliveries, of.reason, parts, partition_log::kInCell};
}

bool DeadLetterLogs::knows_errors_of(std::uint32_t partition, std::uint64_t offset) const noexcept {
    return errors_ && errors_->partition == partition && errors_->offset == offset;
}

/// A body that was placed and not committed is the last one in its extent.
void DeadLetterLogs::discard() noexcept {
    if (prepared_ && placed_by_ != nullptr)
        placed_by_->bodies().give_back(prepared_->location, prepared_->parts.length());
    placed_by_ = nullptr;
    prepared_.reset();
}

void DeadLetterLogs::rest() noexcept {
    discard();
    for (const auto& part : parts_) {
        if (part)
            part->producer.reset();
    }
}

void DeadLetterLogs::rest_when_unused() noexcept {
    if (used_ns_ == 0 || platform::monotonic_ns() - used_ns_ < kUnused.count())
        return;
    used_ns_ = 0;
    rest();
}

DeadLetterLog::DeadLetterLog(DeadLetterLogs& logs, std::uint32_t partition, const Reader& source)
    : logs_(&logs), partition_(partition), source_(source) {
    if (logs.parts_.empty())
        return;
    letters_partition_ = partition % static_cast<std::uint32_t>(logs.parts_.size());
    part_ = logs.map(letters_partition_);
}

void DeadLetterLog::set_errors(std::uint64_t offset, std::string_view first, std::string_view last) noexcept {
    logs_->errors_.reset();
    try {
        logs_->errors_ = DeadLetterLogs::KnownErrors{
            partition_, offset, {std::string(cut_error_text(first)), std::string(cut_error_text(last))}};
    } catch (...) {
        // a letter without texts is better than none
    }
}

Status DeadLetterLog::attach() noexcept {
    if (!usable())
        return Status::topic_deleted;
    const auto damaged = [this] {
        return part_->corrupt || part_->mapping.truncated() || (part_->producer && part_->producer->lost()) ||
               partition_log::Doorbell<Memory>(*part_->log.readers).damaged();
    };
    if (damaged())
        logs_->open_again(*part_, letters_partition_);
    if (damaged())
        return Status::corrupt;
    return logs_->attach(*part_, letters_partition_);
}

bool DeadLetterLog::is_prepared(const LetterOf& letter) const noexcept {
    const auto& prepared = logs_->prepared_;
    return prepared && prepared->partition == partition_ && prepared->offset == letter.offset &&
           prepared->deliveries == letter.deliveries && prepared->reason == letter.reason;
}

Status DeadLetterLog::prepare(const LetterOf& letter) noexcept {
    logs_->discard();
    if (const Status status = attach(); status != Status::ok)
        return status;
    logs_->used_ns_ = platform::monotonic_ns();
    try {
        logs_->compose(source_, partition_, letter);
    } catch (...) {
        return Status::cannot_attach;  // no memory in this process
    }
    if (source_.log_start() >
        kOffsetMax) {  // the origin's file was truncated: what was copied of it is not what was there
        logs_->discard();
        return Status::corrupt;
    }
    const auto placed = part_->producer->bodies().place(logs_->prepared_->parts);
    if (placed.status != Status::ok) {
        logs_->discard();
        return placed.status;
    }
    logs_->prepared_->location = placed.location;
    if (placed.location != partition_log::kInCell)
        logs_->placed_by_ = part_->producer.get();
    return Status::ok;
}

LetterTicket DeadLetterLog::take_ticket() noexcept {
    if (const Status status = attach(); status != Status::ok)
        return {status, 0};
    auto ticket = part_->producer->take_ticket();
    if (ticket.status == Status::would_block && part_->producer->reap_gates() != 0)
        ticket = part_->producer->take_ticket();
    return {ticket.status, ticket.offset};
}

void DeadLetterLog::give_up(std::uint64_t ticket) noexcept {
    logs_->discard();
    if (part_ != nullptr && part_->producer)
        part_->producer->give_up(ticket);
}

Sent DeadLetterLog::commit_at(std::uint64_t ticket, const LetterOf& letter) noexcept {
    if (!is_prepared(letter) && prepare(letter) != Status::ok) {
        give_up(ticket);
        return Sent::refused;
    }
    const auto& prepared = *logs_->prepared_;
    if (!part_->producer->commit_at(ticket, prepared.parts, prepared.location)) {
        logs_->discard();
        if (!part_->producer->out_of_reach())
            return Sent::closed;
        part_->corrupt = true;
        return Sent::refused;
    }
    logs_->placed_by_ = nullptr;
    logs_->prepared_.reset();
    if (logs_->knows_errors_of(partition_, letter.offset))
        logs_->errors_.reset();
    return Sent::committed;
}

std::optional<Decision> DeadLetterLog::close(std::uint64_t ticket) noexcept {
    if (part_ == nullptr)
        return Decision::impossible;
    if (!logs_->is_sound(*part_, letters_partition_))
        logs_->open_again(*part_, letters_partition_);
    const Decision decision = decide(ticket);
    if (!logs_->is_sound(*part_, letters_partition_))
        return std::nullopt;
    return decision;
}

Decision DeadLetterLog::decide(std::uint64_t ticket) const noexcept {
    // the ticket is input: it comes from a shared word
    const std::uint64_t end = part_->log.control->log_end.load(std::memory_order_acquire);  // acquire TICKET
    if (ticket < part_->log.first_offset || ticket >= end)
        return Decision::impossible;
    return partition_log::close_ticket(part_->log, ticket);
}

}  // namespace ringmain
