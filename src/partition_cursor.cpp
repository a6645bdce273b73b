// Walking one partition: records, closed tickets, gaps, and tickets that hold the reader up.
#include "partition_cursor.hpp"

#include <string>
#include <utility>

#include "damage.hpp"
#include "described_record.hpp"
#include "error_about.hpp"
#include "gate_table/gate_table.hpp"
#include "platform/files.hpp"
#include "seek.hpp"
#include "topic_paths.hpp"

namespace ringmain {

PartitionCursor::PartitionCursor(std::shared_ptr<const TopicFiles> topic, std::uint32_t partition)
    : topic_(std::move(topic)),
      topic_name_(topic_->name()),
      partition_(partition),
      mapping_(topic_->map_partition(partition, platform::Access::read_only)),
      log_(topic_->log_in(mapping_, partition)),
      reader_(log_),
      doorbell_(*log_.readers) {
    mapping_.on_truncation(replace_log, &doorbell_);
    topic_->check_whole(mapping_, partition_);
    if (topic_->readers_writable()) take_back_damage(*log_.readers);  // its file is sound
}

/// What is at the position if it is no record: steps over closed tickets, and looks again behind them.
Step PartitionCursor::look_past(partition_log::Found found, partition_log::RecordView& view) noexcept {
    for (;; found = reader_.look(position_, view)) {
        switch (found) {
            case partition_log::Found::record: return Step::record;
            case partition_log::Found::skip: ++position_; break;
            case partition_log::Found::lapped: return lapped();
            case partition_log::Found::corrupt: return past_damage();
            case partition_log::Found::nothing: return reader_.log_start() > position_ ? lapped() : Step::nothing;
        }
    }
}

/// The log start has passed the position: resume exactly there, or as the group wants it.
Step PartitionCursor::lapped() noexcept {
    const std::uint64_t start = reader_.log_start();
    const std::uint64_t end = reader_.log_end();
    if (start <= position_ || start > end) return Step::corrupt;
    if (on_loss_ == OnLoss::error) return stay(start);
    return report(on_loss_ == OnLoss::latest ? end : start, GapReason::overwritten);
}

/// Tells the loss once, and delivers nothing until the cursor is moved.
Step PartitionCursor::stay(std::uint64_t start) noexcept {
    if (lost_) return Step::lost;
    const std::uint64_t position = position_;
    (void)report(start, GapReason::overwritten);
    position_ = position;
    lost_ = true;
    return Step::gap;
}

/// The bytes of one offset cannot be right: it is passed over, and said.
Step PartitionCursor::past_damage() noexcept { return report(position_ + 1, GapReason::corrupt); }

Step PartitionCursor::report(std::uint64_t to, GapReason reason) noexcept {
    gap_ = {topic_->name(), partition_, position_, to, reason};
    if (topic_->readers_writable()) {
        log_.readers->gaps.fetch_add(1, std::memory_order_relaxed);                    // relaxed: a statistic
        log_.readers->lost_records.fetch_add(gap_.count(), std::memory_order_relaxed);  // relaxed: a statistic
    }
    position_ = to;
    return Step::gap;
}

inline void PartitionCursor::describe(const partition_log::RecordView& view, std::uint32_t headers, ConsumerRecord& record) const noexcept {
    describe_record(view, headers, topic_name_, partition_, position_, record);
}

/// Copies a record that was found, if it is still there behind the copy. The view is a value: see below.
inline Step PartitionCursor::copy(partition_log::RecordView view, PollBatch& batch) {
    std::byte* const to = batch.reserve(view.length);
    if (to == nullptr) [[unlikely]] return Step::full;
    reader_.copy_body(view, to);
    if (!reader_.valid(position_)) [[unlikely]] return lapped();
    std::int64_t headers = 0;
    if ((view.flags & layout::kHasHeaders) != 0) [[unlikely]] {
        headers = partition_log::split_body<Memory>(view) ? partition_log::count_headers(view.headers(), view.headers_bytes) : -1;
        if (headers < 0) return past_damage();
    }
    describe(view, static_cast<std::uint32_t>(headers), batch.add(view.length));
    ++position_;
    return Step::record;
}

/// The view lives in registers as long as nobody takes its address; what needs it in memory is in copy_past.
inline Step PartitionCursor::copy_next(PollBatch& batch) {
    partition_log::RecordView view;
    const partition_log::Found found = reader_.look(position_, view);
    return found == partition_log::Found::record ? copy(view, batch) : copy_past(found, batch);
}

Step PartitionCursor::copy_past(partition_log::Found found, PollBatch& batch) {
    partition_log::RecordView view;
    const Step step = look_past(found, view);
    return step == Step::record ? copy(view, batch) : step;
}

/// Up to where cells may be prefetched, ahead of the copies. log_end, which producers write all the time, is read only by a
/// reader that has so much to read that it does not matter.
std::uint64_t PartitionCursor::prefetchable() const noexcept {
    if (!behind_) return 0;
    const std::uint64_t end = reader_.log_end();
    return end > kPrefetchMargin ? end - kPrefetchMargin : 0;
}

Step PartitionCursor::collect(PollBatch& batch, std::size_t count) {
    const std::uint64_t prefetchable_to = prefetchable();
    behind_ = false;
    for (std::size_t i = 0; i < count; ++i) {
        if (position_ + kPrefetchAhead < prefetchable_to) {
            reader_.prefetch(position_ + kPrefetchAhead);
            reader_.prefetch_body(position_ + kPrefetchAhead / 2);
        }
        const Step step = copy_next(batch);
        if (step == Step::record) [[likely]] continue;
        if (step != Step::gap) return step;
        batch.add_gap(gap_);
    }
    behind_ = count >= kManyRecords;
    return Step::record;
}

/// Shows a record that was found, if it is still there. What is seen of it later is to be believed only after confirm().
inline Step PartitionCursor::show(partition_log::RecordView view, ConsumerRecord& record) noexcept {
    if (!reader_.valid(position_)) [[unlikely]] return lapped();  // gone, although the cell was not used again yet
    std::int64_t headers = 0;
    if (view.headers_bytes != 0) [[unlikely]] {
        headers = partition_log::count_headers(view.headers(), view.headers_bytes);
        if (headers < 0) return reader_.valid(position_) ? past_damage() : lapped();
    }
    describe(view, static_cast<std::uint32_t>(headers), record);
    return Step::record;
}

Step PartitionCursor::find(ConsumerRecord& record) noexcept {
    partition_log::RecordView view;
    const partition_log::Found found = reader_.look(position_, view);
    return found == partition_log::Found::record ? show(view, record) : find_past(found, record);
}

Step PartitionCursor::find_past(partition_log::Found found, ConsumerRecord& record) noexcept {
    partition_log::RecordView view;
    const Step step = look_past(found, view);
    return step == Step::record ? show(view, record) : step;
}

bool PartitionCursor::ready(std::uint64_t position) const noexcept {
    return reader_.is_decided(position) || reader_.log_end() > position || reader_.log_start() > position;
}

Step PartitionCursor::handle_stall() noexcept {
    if (reader_.log_end() <= position_ || reader_.is_decided(position_)) {
        stalled_at_ = kNowhere;
    } else if (!check_control().sound()) {
        return Step::corrupt;  // perhaps nobody took the ticket: it is not ours to close
    } else if (stalled_at_ != position_) {
        stalled_at_ = position_;  // it may have been taken just now
    } else {
        close_stalled();
    }
    return Step::nothing;
}

/// The log is mapped writable for this one compare-and-swap; without the right to, the producers are asked to do it, and a
/// keeper, which may sleep and hears it when the file is read.
void PartitionCursor::close_stalled() noexcept {
    try {
        const platform::Mapping writable = topic_->map_partition(partition_, platform::Access::read_write);
        const partition_log::LogMemory<Memory> log = topic_->log_in(writable, partition_);
        (void)partition_log::close_ticket(log, position_);
    } catch (const Error&) {
        if (topic_->readers_writable()) doorbell_.request_close(position_);
        if (std::exchange(knocked_at_, position_) != position_) platform::knock(readers_path(topic_->directory()));
    }
}

Step PartitionCursor::held_up_at(std::uint64_t offset, std::uint64_t now_ticks, std::uint64_t patience_ticks) noexcept {
    position_ = offset;
    return found_nothing(now_ticks, patience_ticks);
}

SeekResult PartitionCursor::seek(const Position& to) noexcept {
    const SeekResult result = resolve(reader_, to, log_.records + log_.slack);
    position_ = result.offset;
    lost_ = false;
    return result;
}

void PartitionCursor::hold_gate(Broker::Impl& broker, std::string_view name) {
    if (gate_) return;
    gate_table::GateTable<Memory> gates(log_.readers);
    gate_ = gates.claim(broker.client().word(), name);
    if (!gate_) {
        throw error_about(ErrorCode::limit, partition_text(topic_->name(), partition_),
                    "has no free gate: all " + std::to_string(layout::kGatesMax) + " are held");
    }
    gates.hold(*gate_, position_, log_.control->gate_floor);
}

void PartitionCursor::move_gate() noexcept {
    if (!gate_) return;
    gate_table::GateTable<Memory> gates(log_.readers);
    if (position_ >= gates.offset_of(gates.word(*gate_))) {
        gates.move(*gate_, position_);
    } else {
        gates.hold(*gate_, position_, log_.control->gate_floor);  // back, after a seek: only as far as nobody may have moved on
    }
}

void PartitionCursor::drop_gate() noexcept {
    if (gate_) gate_table::GateTable<Memory>(log_.readers).drop(*gate_);
    gate_.reset();
}

void check_sound(const PartitionCursor& cursor) {
    const partition_log::ControlCheck check = cursor.check_control();
    if (check.sound()) return;
    throw error_about(ErrorCode::corrupt, partition_text(cursor.topic().name(), cursor.partition()),
                "is damaged: " + to_text(check, cursor.topic().options().first_offset) + "; run 'ringmain verify'");
}

}  // namespace ringmain
