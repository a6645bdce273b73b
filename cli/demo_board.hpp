// The board: memory shared by the demo's processes, on which each reports what it does and the stage says what is next.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "demo.hpp"
#include "demo_histogram.hpp"
#include "demo_summary.hpp"

namespace ringmain::cli::demo {

/// Written by one child, read by the stage. Counters are relaxed: they are for showing while the child runs, and for
/// checking after it ended (waiting for a process orders everything it did).
using Counter = std::atomic<std::uint64_t>;

/// Text that survives the death of its writer.
using ErrorText = std::array<char, 480>;

struct alignas(128) ProducerPanel {
    std::atomic<bool> ready{false};       ///< Attached; a successor also has its gate.
    std::atomic<bool> caught_up{false};   ///< A successor has read up to the log's end once.
    std::atomic<bool> publishing{false};  ///< Inside a run of publish calls.
    std::atomic<bool> finished{false};    ///< Its input is used up.
    Counter published{0};                 ///< Counted after publish said ok.
    Counter rows_seen{0};                 ///< CSV: rows of the whole file that it walked over.
    Counter continued_at{0};              ///< Successor: records of its predecessor that it found in the log.
    std::atomic<std::int64_t> first_after_kill_ns{0};
    ErrorText error{};
};

/// One line of a consumer's live summary, for the report.
struct KeyLine {
    std::array<char, 64> key{};
    std::array<char, 32> last{};
    std::uint64_t count = 0;
    double min = 0;
    double max = 0;

    void store(std::string_view key_text, const KeySummary& summary) noexcept;
};

struct alignas(128) ConsumerPanel {
    std::atomic<bool> ready{false};
    std::atomic<bool> caught_up{false};
    Counter read{0};
    Counter gap_offsets{0};
    Counter skipped_offsets{0};
    Counter keys{0};
    Counter violations{0};     ///< A sequence number that is not above the one before.
    Counter missing{0};        ///< Sequence numbers jumped over.
    Counter foreign{0};        ///< Records that none of the producers can have written.
    Counter joined_at_end{0};  ///< Offsets in the log when it joined.
    Counter replayed{0};       ///< Records read until it had caught up.
    Counter summary_digest{0};
    std::array<Counter, kPartitions> position{};
    std::atomic<std::int64_t> joined_ns{0};
    std::atomic<std::int64_t> caught_up_ns{0};
    /// When the first record published after the kill was received, per partition.
    std::array<std::atomic<std::int64_t>, kPartitions> first_after_kill_ns{};
    Histogram paced;                    ///< Publish to receive while the input is paced.
    Histogram flat_out;                 ///< The same, while it is not.
    std::array<KeyLine, 5> top_keys{};  ///< The keys whose value moved most.
    ErrorText error{};
};

/// What the log's own counters say.
struct LogCounters {
    Counter log_end{0};
    Counter log_start{0};
    Counter closed_tickets{0};
    Counter quarantined_cells{0};
};

struct alignas(128) KeeperPanel {
    std::atomic<bool> ready{false};
    std::atomic<std::uint32_t> looks_wanted{0};  ///< The stage asks for a look at the log by raising it.
    std::atomic<std::uint32_t> looks_taken{0};
    LogCounters log;  ///< Sums over the partitions at the last look.
    std::array<Counter, kPartitions> log_end{};
    Counter topic_bytes{0};
    Counter reaped_producers{0};
    Counter closed_tickets{0};  ///< By the keeper itself.
    Counter released_cells{0};
    Counter verified_records{0};
    Counter damages{0};
    ErrorText damage{};  ///< The first one.
    ErrorText error{};
};

struct Board {
    // From the stage to the children.
    std::atomic<std::int64_t> started_ns{0};   ///< Wall clock; producers begin when it is set.
    std::atomic<std::int64_t> flat_out_ns{0};  ///< From then on telemetry is not paced.
    std::atomic<std::int64_t> killed_ns{0};
    std::atomic<bool> hurry{false};        ///< Around the kill nobody paces himself: then it falls on a publish, and
                                           ///< the others' next one shows what it cost them.
    std::atomic<bool> victim_dead{false};  ///< Proven: its process has been waited for.
    std::atomic<bool> stop_producing{false};
    std::atomic<bool> drain{false};  ///< All producers have ended: read to the end, then end.
    std::atomic<bool> stop_keeping{false};

    std::array<ProducerPanel, kProducersMax> producers;
    ProducerPanel successor;
    ConsumerPanel live;
    ConsumerPanel late;
    KeeperPanel keeper;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "the board is shared by processes, one of which is killed");

struct BoardUnmap {
    void operator()(Board* board) const noexcept;
};
using BoardPointer = std::unique_ptr<Board, BoardUnmap>;

/// A new board, shared with every child that is forked from now on. Throws std::system_error.
[[nodiscard]] BoardPointer make_board();

/// Stores a text with a terminator, cut to what fits.
void set_text(std::span<char> to, std::string_view text) noexcept;

/// Wall clock, precise; the clock that the producers' timestamps come from.
[[nodiscard]] std::int64_t wall_ns() noexcept;

}  // namespace ringmain::cli::demo
