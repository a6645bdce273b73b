// One assigned partition of a consumer: the read-only mapping and the position in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "broker_impl.hpp"
#include "partition_log/control_check.hpp"
#include "partition_log/doorbell.hpp"
#include "partition_log/reader.hpp"
#include "platform/mapping.hpp"
#include "platform/memory.hpp"
#include "poll_batch.hpp"
#include "ringmain/consumer.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// What the cursor found.
enum class Step : std::uint8_t {
    record,
    gap,      // `gap()` tells; the position is behind it
    nothing,
    full,     // the batch has no room for the record
    corrupt,  // the control words contradict each other
    lost,     // the position was lost, which was told; the cursor stays until it is moved
};

/// Not thread-safe, but for ready(), which a watcher may ask with a position of its own.
class PartitionCursor {
public:
    using Memory = platform::HostMemory;

    /// Throws Error: not_found, permission_denied, corrupt, version_mismatch.
    PartitionCursor(std::shared_ptr<const TopicFiles> topic, std::uint32_t partition);
    PartitionCursor(const PartitionCursor&) = delete;
    PartitionCursor& operator=(const PartitionCursor&) = delete;

    /// Copies up to `count` records into the batch, and the gaps before them. Stops before what it cannot take.
    Step collect(PollBatch& batch, std::size_t count);
    /// Finds the next record, stepping over closed tickets. The record is to be believed only after confirm().
    Step find(ConsumerRecord& record) noexcept;
    /// After a visit: moves on and answers record, or answers nothing if the record was overwritten meanwhile.
    [[nodiscard]] bool confirm() noexcept {
        if (!reader_.valid(position_)) [[unlikely]] return false;
        ++position_;
        return true;
    }

    [[nodiscard]] const Gap& gap() const noexcept { return gap_; }
    /// Nothing is read here any more: why() says why.
    [[nodiscard]] bool gone() const noexcept { return !doorbell_.quiet() && doorbell_.gone(); }
    [[nodiscard]] Status why() const noexcept { return doorbell_.deleted() ? Status::topic_deleted : Status::corrupt; }
    [[nodiscard]] bool deleted() const noexcept { return !doorbell_.quiet() && doorbell_.deleted(); }
    [[nodiscard]] bool damaged() const noexcept { return !doorbell_.quiet() && doorbell_.damaged(); }

    /// A poll would find something, or a ticket is open at the position.
    [[nodiscard]] bool ready(std::uint64_t position) const noexcept;
    /// A look found nothing. When that has been so for a while, sees whether an open ticket is in the way, and closes it
    /// when it has been in the way for `patience`. log_end, which producers write all the time, is read that seldom only.
    /// Answers nothing, or corrupt when log_end cannot be.
    [[gnu::always_inline]] Step found_nothing(std::uint64_t now_ticks, std::uint64_t patience_ticks) noexcept {
        if (dry_at_ != position_) {
            dry_at_ = position_;
            dry_since_ticks_ = now_ticks;
        } else if (now_ticks - dry_since_ticks_ >= patience_ticks) {
            dry_since_ticks_ = now_ticks;
            return handle_stall();
        }
        return Step::nothing;
    }

    /// found_nothing for one who reads by offsets of his own.
    Step held_up_at(std::uint64_t offset, std::uint64_t now_ticks, std::uint64_t patience_ticks) noexcept;

    [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
    /// Where to go on when the log start has passed the position. Without a group: earliest.
    void on_loss(OnLoss policy) noexcept { on_loss_ = policy; }
    SeekResult seek(const Position& to) noexcept;
    [[nodiscard]] partition_log::ControlCheck check_control() const noexcept { return partition_log::check_control(log_); }

    void hold_gate(Broker::Impl& broker, std::string_view name);
    void move_gate() noexcept;
    void drop_gate() noexcept;
    [[nodiscard]] bool gated() const noexcept { return gate_.has_value(); }

    [[nodiscard]] const TopicFiles& topic() const noexcept { return *topic_; }
    [[nodiscard]] const std::shared_ptr<const TopicFiles>& topic_files() const noexcept { return topic_; }
    [[nodiscard]] std::uint32_t partition() const noexcept { return partition_; }
    [[nodiscard]] const partition_log::Reader<Memory>& reader() const noexcept { return reader_; }
    [[nodiscard]] const partition_log::LogMemory<Memory>& log() const noexcept { return log_; }
    /// How far the log start may already move, for whoever begins to gate.
    [[nodiscard]] const Memory::Atomic<std::uint64_t>& gate_floor() const noexcept { return log_.control->gate_floor; }
    [[nodiscard]] partition_log::Doorbell<Memory>& doorbell() noexcept { return doorbell_; }

private:
    Step look_past(partition_log::Found found, partition_log::RecordView& view) noexcept;
    Step lapped() noexcept;
    Step past_damage() noexcept;
    Step stay(std::uint64_t start) noexcept;
    Step report(std::uint64_t to, GapReason reason) noexcept;
    [[nodiscard]] std::uint64_t prefetchable() const noexcept;
    [[gnu::always_inline]] Step copy_next(PollBatch& batch);
    [[gnu::always_inline]] Step copy(partition_log::RecordView view, PollBatch& batch);
    [[gnu::noinline]] Step copy_past(partition_log::Found found, PollBatch& batch);
    [[gnu::always_inline]] Step show(partition_log::RecordView view, ConsumerRecord& record) noexcept;
    [[gnu::noinline]] Step find_past(partition_log::Found found, ConsumerRecord& record) noexcept;
    [[gnu::always_inline]] void describe(const partition_log::RecordView& view, std::uint32_t headers, ConsumerRecord& record) const noexcept;
    Step handle_stall() noexcept;
    void close_stalled() noexcept;

    std::shared_ptr<const TopicFiles> topic_;
    std::string_view topic_name_;
    std::uint32_t partition_;
    platform::Mapping mapping_;
    partition_log::LogMemory<Memory> log_;
    partition_log::Reader<Memory> reader_;
    partition_log::Doorbell<Memory> doorbell_;
    std::uint64_t position_ = 0;
    Gap gap_;
    static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
    std::uint64_t dry_at_ = kNowhere;      // the position at which looks find nothing
    std::uint64_t dry_since_ticks_ = 0;
    std::uint64_t stalled_at_ = kNowhere;  // the position at which a ticket was open a patience ago
    std::uint64_t knocked_at_ = kNowhere;  // the position of the last ticket that a keeper was told of
    std::optional<std::uint32_t> gate_;
    OnLoss on_loss_ = OnLoss::earliest;
    bool lost_ = false;

    static constexpr std::uint64_t kPrefetchAhead = 16;
    static constexpr std::uint64_t kPrefetchMargin = 256;  // what producers may be writing or fetching for it
    static constexpr std::size_t kManyRecords = 32;
    bool behind_ = false;  // the last collect() left off because it had many records, not because there were no more
};

/// Whoever reads by offsets that cannot be waits for ever, or closes tickets that nobody took. Throws Error: corrupt.
void check_sound(const PartitionCursor& cursor);

}  // namespace ringmain
