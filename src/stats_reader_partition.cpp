// A partition: what is in its log, and what its producers hold.
#include <algorithm>

#include "partition_log/control_check.hpp"
#include "partition_log/reader.hpp"
#include "platform/clock.hpp"
#include "recovery/recovery.hpp"
#include "stats_reader_impl.hpp"
#include "topic_description.hpp"

namespace ringmain {

namespace {

using Log = AdminTopic::Log;
using Reader = partition_log::Reader<AdminTopic::Memory>;

constexpr std::uint64_t kNewestRecords = 16;
constexpr std::uint64_t kStepsMax = 1'024;          // closed tickets that are stepped over in search of a record
constexpr std::int64_t kRecountNs = 1'000'000'000;  // closers that died in the middle leave the signs apart for ever

// Whether and when the newest few offsets hold records, and how large those are.
void look_at_newest(const Log& log, PartitionStats& stats) noexcept {
    const Reader reader(log);
    const std::uint64_t from = stats.log_end - std::min(stats.records, kNewestRecords);
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
    for (std::uint64_t offset = stats.log_end; offset > from; --offset) {
        partition_log::RecordView view;
        if (reader.look(offset - 1, view) != partition_log::Found::record || !reader.valid(offset - 1))
            continue;
        if (count++ == 0)
            stats.newest_ns = std::max<std::int64_t>(view.timestamp_ns, 0);
        bytes += view.length;
    }
    stats.newest_record_bytes = count == 0 ? 0 : (bytes + count / 2) / count;
}

void look_at_records(const Log& log, PartitionStats& stats, std::uint64_t records_max) noexcept {
    stats.records = stats.log_end - stats.log_start;
    if (stats.records == 0)
        return;
    look_at_newest(log, stats);
    const auto oldest_ns =
        Reader(log).first_timestamp(stats.log_start, stats.log_start + std::min(stats.records, kStepsMax));
    stats.oldest_ns = std::max<std::int64_t>(oldest_ns.value_or(0), 0);
    if (records_max == 0)
        return;
    const RecordBytes all = bytes_of_records(log, stats.log_start, stats.records, records_max);
    stats.record_bytes = all.bytes;
    stats.record_bytes_estimated = all.estimated;
}

// Offsets in a producer's entry that nobody has decided yet.
std::uint64_t count_open(const Log& log, std::uint64_t first, std::uint64_t count) noexcept {
    std::uint64_t open = 0;
    const Reader reader(log);
    for (std::uint64_t i = 0; i < count; ++i) {
        if (!reader.is_decided(first + i))
            ++open;
    }
    return open;
}

std::uint32_t count_extents_of(const Log& log, std::uint32_t slot, std::uint64_t generation) noexcept {
    const std::uint64_t owned = partition_log::owned_extent(slot, generation);
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < log.extent_count; ++i) {
        if (log.extents[i].word.load(std::memory_order_relaxed) == owned)
            ++count;  // relaxed: for show
    }
    return count;
}

ProducerStats look_at_producer(const Log& log, std::uint32_t slot, std::uint64_t lease) noexcept {
    const auto& entry = log.producers[slot];
    ProducerStats stats;
    const std::uint64_t generation =
        entry.generation.load(std::memory_order_acquire) & partition_log::kGenerationMask;  // acquire ENTRY
    stats.exclusive =
        lease != 0 && recovery::lease_slot(lease) == slot && recovery::lease_generation(lease) == generation;
    stats.extents = count_extents_of(log, slot, generation);
    const std::uint64_t ticket = entry.ticket.load(std::memory_order_acquire);  // acquire ENTRY
    stats.taking = ticket == partition_log::kTaking;
    if (ticket <= partition_log::kTaking)
        return stats;
    const std::uint64_t count = entry.count.load(std::memory_order_acquire);          // acquire ENTRY
    stats.open_tickets = std::clamp<std::uint64_t>(count, 1, log.batch_records_max);  // the count is input
    stats.first_ticket = ticket >> 2;
    return stats;
}

}  // namespace

std::uint64_t QuarantineCount::of(const Log& log, std::int64_t now_ns) noexcept {
    const auto& control = *log.control;
    // relaxed: hints; read before the cells, so that what changes meanwhile is counted by the next look
    const Signs signs{control.closings.load(std::memory_order_relaxed),
                      control.closings_done.load(std::memory_order_relaxed),
                      control.released_cells.load(std::memory_order_relaxed)};
    const bool lately = now_ns >= counted_ns_ && now_ns - counted_ns_ < kRecountNs;
    const bool settled = signs.closings == signs.closings_done || lately;
    if (signs == signs_ && settled)
        return count_;
    count_ = count_quarantined(log);
    signs_ = signs;
    counted_ns_ = now_ns;
    return count_;
}

std::vector<ProducerStats> StatsReader::Impl::attached(const Log& log) const {
    std::vector<ProducerStats> all;
    const std::uint64_t lease = log.control->lease.load(std::memory_order_acquire);  // acquire LEASE
    for (std::uint32_t slot = 0; slot < log.producer_slots; ++slot) {
        const std::uint64_t owner = log.producers[slot].owner.load(std::memory_order_acquire);  // acquire ENTRY
        if (owner == 0)
            continue;
        ProducerStats& producer = all.emplace_back();
        if (layout::has_begun(owner))
            producer = look_at_producer(log, slot, lease);
        producer.slot = slot;
        producer.client = broker_->clients().describe(layout::ClientId::from_word(layout::client_of(owner)));
    }
    return all;
}

PartitionStats StatsReader::Impl::look_at_partition(AdminTopic& topic, std::uint32_t partition, Known& known,
                                                    const StatsOptions& options) const {
    PartitionStats stats;
    stats.partition = partition;
    try {
        topic.look_at_file(partition);
        const Log& log = topic.log(partition);
        static_cast<PartitionDescription&>(stats) = describe_log(log, partition, broker_->clients());
        stats.file_bytes = topic.log_bytes(partition);
        stats.quarantined_cells = known.quarantined.at(partition).of(log, platform::monotonic_ns());
        stats.attached = attached(log);
        for (const ProducerStats& producer : stats.attached) {
            if (producer.first_ticket)
                stats.open_tickets += count_open(log, *producer.first_ticket, producer.open_tickets);
        }
        // relaxed: for show
        stats.released_cells = log.control->released_cells.load(std::memory_order_relaxed);
        stats.gaps = log.readers->gaps.load(std::memory_order_relaxed);
        stats.lost_records = log.readers->lost_records.load(std::memory_order_relaxed);
        stats.producer_names = partition_log::names_used(log);
        if (stats.damage.empty())
            look_at_records(log, stats, options.bytes_records_max);
        topic.check_whole(partition);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::topic_deleted)
            throw;
        topic.files().check_whole();
        stats = {};  // whatever was read of it
        stats.partition = partition;
        stats.error = error.what();
        stats.error_code = error.code();
    }
    return stats;
}

}  // namespace ringmain
