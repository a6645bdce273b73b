// An open dead-letter topic: its letters that are not settled, and settling them.
#include "letter_topic.hpp"

#include <algorithm>

#include "dead_letter_topic.hpp"
#include "death_oracle.hpp"
#include "error_about.hpp"
#include "group_table/bystander.hpp"
#include "group_table/creation.hpp"
#include "group_table/eviction.hpp"
#include "partition_log/cell_word.hpp"
#include "partition_log/tickets.hpp"
#include "platform/clock.hpp"
#include "platform/sleep.hpp"
#include "sound_log.hpp"

namespace ringmain {

namespace {

using partition_log::CellState;
using partition_log::Found;

// A ticket that stays open for so long is closed; whoever holds it finds out and takes another one.
constexpr std::int64_t kTicketPatienceNs = 10'000'000;

}  // namespace

std::optional<group_table::GroupRef> find_letters_group(const TopicFiles& topic) {
    const auto found = group_table::GroupCreation<platform::HostMemory>(topic.groups(), 0).find(kDeadLettersGroup);
    if (found.status != group_table::FindStatus::found)
        return std::nullopt;
    return found.group;
}

LetterRange letter_range(const partition_log::LogMemory<platform::HostMemory>& log, const TopicFiles& topic,
                         const std::optional<group_table::GroupRef>& group, std::uint32_t partition) noexcept {
    // committed, then the start, then the end: no difference is negative
    const std::uint64_t committed = group ? topic.groups().word(group->slot, partition).committed : 0;
    const std::uint64_t start = log.control->log_start.load(std::memory_order_acquire);  // acquire LOG_START
    const std::uint64_t end = log.control->log_end.load(std::memory_order_acquire);      // acquire TICKET
    LetterRange range{std::max(committed, start), end, group && start > committed ? start - committed : 0};
    range.to = std::max(range.from, std::min(end, range.from + log.records));  // a lap at most, whatever they say
    return range;
}

Unsettled count_unsettled(const partition_log::LogMemory<platform::HostMemory>& log, const LetterRange& range,
                          const LettersFile* settled, std::uint32_t partition) noexcept {
    Unsettled unsettled;
    for (std::uint64_t offset = range.from; offset < range.to; ++offset) {
        const auto& cell = log.cell(offset);
        const std::uint64_t word = cell.word.load(std::memory_order_acquire);  // acquire RECORD_COMMIT
        if (word != partition_log::cell_word(offset, CellState::committed) ||
            (settled != nullptr && settled->is_settled(partition, offset)))
            continue;
        // relaxed: ordered by the word; for show
        if (unsettled.records++ == 0)
            unsettled.oldest_ns = static_cast<std::int64_t>(cell.timestamp.load(std::memory_order_relaxed));
    }
    return unsettled;
}

LetterTopic::LetterTopic(std::shared_ptr<Broker::Impl> broker, std::string_view name, For purpose)
    : broker_(std::move(broker)), files_(broker_->open_topic(name)) {
    for (std::uint32_t p = 0; p < partitions(); ++p) {
        Part& part = parts_.emplace_back();
        part.mapping = files_->map_partition(p, platform::Access::read_only);
        part.log = Log(part.mapping.data(), geometry_of(part.mapping), files_->readers(p), files_->group_gates(p));
        (void)sound_offsets(part.log, files_->name(), p);
    }
    if (purpose == For::settling) {
        keep_letters(broker_, files_);
        file_ = LettersFile::open_or_create(*broker_, *files_);
    } else {
        file_ = LettersFile::open(*files_, platform::Access::read_only);
    }
    group_ = find_letters_group(*files_);
}

void LetterTopic::check_filter(const LetterFilter& filter) const {
    if (!filter.partition || *filter.partition < partitions())
        return;
    throw error_about(ErrorCode::not_found, "topic '" + name() + "'",
                      "has no partition " + std::to_string(*filter.partition) + " (partitions: " + std::to_string(partitions()) +
                          ")");
}

std::optional<std::uint64_t> LetterTopic::next(std::uint32_t partition, std::uint64_t from, std::uint64_t to,
                                               RecordCopy& copy, ConsumerRecord& record) const {
    const RecordCopy::Reader reader(log(partition));
    for (std::uint64_t offset = from; offset < to; ++offset) {
        if (is_settled(partition, offset))
            continue;
        const Found found = copy.take(reader, offset);
        check_whole(partition);
        switch (found) {
            case Found::record:
                record = copy.describe(files_->name(), partition, offset);
                return offset;
            case Found::corrupt:
                record = {};
                record.topic = files_->name();
                record.partition = partition;
                record.offset = offset;
                return offset;
            case Found::skip:
            case Found::lapped:
            case Found::nothing:
                break;
        }
    }
    check_whole(partition);  // else there may be letters
    return std::nullopt;
}

void LetterTopic::check_whole(std::uint32_t partition) const {
    files_->check_whole(parts_[partition].mapping, partition);
    if (file_)
        file_->check_whole();
}

std::uint64_t LetterTopic::unsettled_from(std::uint32_t partition, std::uint64_t from) const noexcept {
    const Log& in = log(partition);
    std::uint64_t offset = from;
    for (const std::uint64_t end = range(partition).to; offset < end; ++offset) {
        const std::uint64_t word =
            in.cell(offset).word.load(std::memory_order_acquire);  // acquire RECORD_COMMIT, TICKET_CLOSE
        if (!partition_log::decided(word, offset))
            break;
        if (word == partition_log::cell_word(offset, CellState::committed) && !is_settled(partition, offset))
            break;
    }
    return offset;
}

void LetterTopic::settle(std::uint32_t partition, std::uint64_t offset, Settlement how) {
    file_->settle(partition, offset, how);
    check_whole(partition);
    if (range(partition).from == offset)
        advance(partition);
}

void LetterTopic::advance(std::uint32_t partition) {
    if (!group_)
        return;
    group_table::CommitItem item;
    item.tenure.partition = partition;
    item.offset = item.position = unsettled_from(partition, range(partition).from);
    check_whole(partition);
    // refused: somebody reads for the group, or resets it, at this moment; what is settled stays so
    group_table::commit_unowned(files_->groups(), *group_, item, true,
                                static_cast<std::uint64_t>(platform::realtime_ns()));
}

void LetterTopic::close_stalled(std::uint32_t partition) {
    const LetterRange all = range(partition);
    const auto is_open = [&](std::uint64_t offset) {
        // acquire RECORD_COMMIT, TICKET_CLOSE
        return !partition_log::decided(log(partition).cell(offset).word.load(std::memory_order_acquire), offset);
    };
    const std::uint64_t first = unsettled_from(partition, all.from);
    if (first < all.to && is_open(first)) {
        platform::sleep_ns(kTicketPatienceNs);
        try {
            const platform::Mapping file = files_->map_partition(partition, platform::Access::read_write);
            const Log writable(file.data(), geometry_of(file), files_->readers(partition),
                               files_->group_gates(partition));
            for (std::uint64_t offset = first; offset < all.to; ++offset) {
                if (is_open(offset))
                    (void)partition_log::close_ticket(writable, offset);
            }
        } catch (const Error&) {
            // without the right to, others do it
        }
    }
    advance(partition);
}

void LetterTopic::refuse_members() const {
    if (!group_)
        return;
    group_table::evict_dead(files_->groups(), group_->slot, DeathOracle(broker_->clients()));
    const std::uint32_t members = files_->groups().set(group_->slot).members();
    if (members == 0)
        return;
    throw error_about(ErrorCode::busy, group_text(kDeadLettersGroup, name()),
                      "has " + std::to_string(members) +
                          " members, which settle letters by committing; others can when they have left");
}

}  // namespace ringmain
