// A consumer of the demo: counts every offset, checks every key, keeps the live summary.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "demo_csv.hpp"
#include "demo_record.hpp"
#include "demo_roles.hpp"
#include "demo_summary.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"

namespace ringmain::cli::demo {

namespace {

constexpr std::size_t kPollRecords = 1024;
constexpr std::chrono::milliseconds kPollTimeout{20};

class Reader {
public:
    Reader(const Plan& plan, const Board& board, ConsumerPanel& panel, const char* gate)
        : plan_(plan), board_(board), panel_(panel), consumer_(Broker(plan.broker)) {
        // By number and not `earliest`: if retention took the first offsets, that must show as a gap.
        consumer_.assign(plan.topic, Position::at(0));
        consumer_.hold_gates(gate);
        for (std::uint32_t partition = 0; partition < kPartitions; ++partition) {
            joined_at_[partition] = consumer_.log_end(plan.topic, partition);
        }
        std::uint64_t records = 0;
        for (const std::uint64_t end : joined_at_)
            records += end;
        panel_.joined_at_end.store(records, std::memory_order_relaxed);
        panel_.joined_ns.store(wall_ns(), std::memory_order_relaxed);
        panel_.ready.store(true, std::memory_order_release);
    }

    void run() {
        while (!finished())
            read_once();
        for (std::uint32_t partition = 0; partition < kPartitions; ++partition)
            skip_to(partition, position(partition));
        publish_counts();
        panel_.summary_digest.store(summary_.digest(), std::memory_order_relaxed);
        store_top_keys();
    }

private:
    [[nodiscard]] std::uint64_t position(std::uint32_t partition) const {
        return consumer_.position(plan_.topic, partition);
    }

    [[nodiscard]] bool finished() const {
        // acquire DRAIN: pairs with the stage's store after the last producer was waited for, so log_end is final.
        if (!board_.drain.load(std::memory_order_acquire))
            return false;
        for (std::uint32_t partition = 0; partition < kPartitions; ++partition) {
            if (position(partition) < consumer_.log_end(plan_.topic, partition))
                return false;
        }
        return true;
    }

    void read_once() {
        const PollResult result = consumer_.poll(kPollRecords, kPollTimeout);
        const std::int64_t received_ns = wall_ns();
        if (result.status != Status::ok)
            throw std::runtime_error(fmt::format("poll: {}", to_string(result.status)));
        for (const ConsumerRecord& record : result.records) {
            for (const Gap& gap : result.gaps) {
                if (gap.partition == record.partition && gap.to <= record.offset)
                    take_gap(gap);
            }
            take_record(record, received_ns);
        }
        for (const Gap& left : result.gaps)
            take_gap(left);
        consumer_.move_gates();
        note_caught_up(received_ns);
        publish_counts();
    }

    /// A gap that was taken before is taken as nothing.
    void take_gap(const Gap& gap) {
        if (gap.to <= expected_[gap.partition])
            return;
        skip_to(gap.partition, gap.from);
        gap_offsets_ += gap.to - expected_[gap.partition];
        expected_[gap.partition] = gap.to;
    }

    /// Offsets that were passed in silence had their tickets closed: no record was ever there.
    void skip_to(std::uint32_t partition, std::uint64_t offset) {
        if (offset <= expected_[partition])
            return;
        skipped_offsets_ += offset - expected_[partition];
        expected_[partition] = offset;
    }

    void take_record(const ConsumerRecord& record, std::int64_t received_ns) {
        if (record.offset < expected_[record.partition])
            ++foreign_;  // an offset given twice
        skip_to(record.partition, record.offset);
        expected_[record.partition] = record.offset + 1;
        ++read_;
        measure(record, received_ns);
        const std::optional<std::uint64_t> sequence = number_in(record.headers, kSequenceHeader);
        std::string_view value;
        if (!sequence || !record.key || !record.value || !take_value(record, value)) {
            ++foreign_;
            return;
        }
        summary_.apply(as_text(*record.key), *sequence, value);
    }

    /// The value that the summary is about; false if the record is not one that the demo publishes.
    bool take_value(const ConsumerRecord& record, std::string_view& value) {
        value = as_text(*record.value);
        if (!plan_.from_csv())
            return true;
        if (splitter_.split(value, true) != CsvSplitter::Result::complete)
            return false;
        const auto& fields = splitter_.fields();
        if (fields.size() <= std::max(plan_.csv.key_column, plan_.csv.value_column))
            return false;
        value = fields[plan_.csv.value_column];
        return fields[plan_.csv.key_column] == as_text(*record.key);
    }

    void measure(const ConsumerRecord& record, std::int64_t received_ns) noexcept {
        const std::int64_t killed_ns = board_.killed_ns.load(std::memory_order_relaxed);
        auto& first = panel_.first_after_kill_ns[record.partition];
        if (killed_ns != 0 && record.timestamp_ns >= killed_ns && first.load(std::memory_order_relaxed) == 0) {
            first.store(received_ns, std::memory_order_relaxed);
        }
        // What was published before this consumer had caught up waited for the consumer, not for the log.
        const std::int64_t caught_up_ns = panel_.caught_up_ns.load(std::memory_order_relaxed);
        if (caught_up_ns == 0 || record.timestamp_ns < caught_up_ns)
            return;
        const std::int64_t flat_out_ns = board_.flat_out_ns.load(std::memory_order_relaxed);
        const bool flat_out = flat_out_ns != 0 && record.timestamp_ns >= flat_out_ns;
        (flat_out ? panel_.flat_out : panel_.paced).add(received_ns - record.timestamp_ns);
    }

    void note_caught_up(std::int64_t now_ns) {
        if (panel_.caught_up_ns.load(std::memory_order_relaxed) != 0)
            return;
        for (std::uint32_t partition = 0; partition < kPartitions; ++partition) {
            if (position(partition) < joined_at_[partition])
                return;
        }
        panel_.replayed.store(read_, std::memory_order_relaxed);
        panel_.caught_up_ns.store(now_ns, std::memory_order_relaxed);
        panel_.caught_up.store(true, std::memory_order_release);
    }

    void publish_counts() noexcept {
        panel_.read.store(read_, std::memory_order_relaxed);
        panel_.gap_offsets.store(gap_offsets_, std::memory_order_relaxed);
        panel_.skipped_offsets.store(skipped_offsets_, std::memory_order_relaxed);
        panel_.foreign.store(foreign_, std::memory_order_relaxed);
        panel_.keys.store(summary_.keys().size(), std::memory_order_relaxed);
        panel_.violations.store(summary_.violations(), std::memory_order_relaxed);
        panel_.missing.store(summary_.missing(), std::memory_order_relaxed);
        for (std::uint32_t partition = 0; partition < kPartitions; ++partition) {
            panel_.position[partition].store(expected_[partition], std::memory_order_relaxed);
        }
    }

    /// The keys whose value moved most, for the report.
    void store_top_keys() {
        std::vector<const TextMap<KeySummary>::value_type*> order;
        for (const auto& entry : summary_.keys())
            order.push_back(&entry);
        const std::size_t count = std::min(panel_.top_keys.size(), order.size());
        std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                          [](const auto* a, const auto* b) {
                              const double range_a = a->second.max - a->second.min;
                              const double range_b = b->second.max - b->second.min;
                              return range_a != range_b ? range_a > range_b : a->first < b->first;
                          });
        for (std::size_t index = 0; index < count; ++index)
            panel_.top_keys[index].store(order[index]->first, order[index]->second);
    }

    const Plan& plan_;
    const Board& board_;
    ConsumerPanel& panel_;
    Consumer consumer_;
    CsvSplitter splitter_;
    Summary summary_;
    std::array<std::uint64_t, kPartitions> joined_at_{};
    std::array<std::uint64_t, kPartitions> expected_{};
    std::uint64_t read_ = 0;
    std::uint64_t gap_offsets_ = 0;
    std::uint64_t skipped_offsets_ = 0;
    std::uint64_t foreign_ = 0;
};

}  // namespace

void run_live_consumer(const Plan& plan, Board& board) { Reader(plan, board, board.live, "live").run(); }

void run_late_consumer(const Plan& plan, Board& board) { Reader(plan, board, board.late, "late").run(); }

}  // namespace ringmain::cli::demo
