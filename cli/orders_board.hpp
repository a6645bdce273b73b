// The board of the story: memory shared by its processes, on which each reports and the stage says what is next.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "demo_board.hpp"
#include "orders.hpp"
#include "orders_journal.hpp"
#include "orders_labels.hpp"

namespace ringmain::cli::orders {

using demo::Counter;
using demo::ErrorText;

struct alignas(128) ProducerPanel {
    std::atomic<bool> ready{false};
    Counter published{0};
    Counter labels{0};
    ErrorText error{};
};

struct alignas(128) MemberPanel {
    std::atomic<bool> ready{false};
    std::atomic<std::uint32_t> partitions{0};  ///< Held at the moment, as bits.
    Counter handled{0};
    Counter in_hand{0};      ///< Events of the last poll that are not handled yet.
    Counter uncommitted{0};  ///< Events that are handled and not committed yet.
    Counter gap_offsets{0};
    Counter polled_since{0};  ///< The stopped one: events handed out by polls that began after it was continued.
    std::atomic<bool> ended{false};
    ErrorText error{};
};

struct alignas(128) GroupPanel {
    Counter tick{0};  ///< See Entry::tick.
    Counter lag{0};   ///< Log ends less committed offsets, at the house's last look.
    std::array<std::atomic<std::uint32_t>, kPartitions>
        owner{};  ///< The member that acquired the partition last, plus 1.
};

struct alignas(128) PrinterPanel {
    std::atomic<bool> ready{false};
    std::atomic<bool> holds_trouble{false};  ///< The poison order's label or the flaky one's is on its sheet.
    Counter printed{0};
    Counter in_hand{0};     ///< Labels of the sheet that are not printed yet.
    Counter unanswered{0};  ///< Labels of the sheet that are printed, or failed, and not answered for.
    ErrorText error{};
};

/// The queue's own counts, at the house's last look.
struct alignas(128) QueuePanel {
    Counter lag{0};
    Counter expired{0};
    Counter returned{0};
    Counter redelivered{0};
    Counter dead_lettered{0};
    Counter skipped{0};
    Counter lost{0};
};

struct alignas(128) LettersPanel {
    Counter letters{0};  ///< In the dead-letter topic, up to the house's last look.
    Counter strange{0};  ///< Of these: not what the story expects.
    ErrorText fault{};   ///< What is strange about the last of them.
    Counter attempts{0};
    ErrorText last_error{};
    std::atomic<std::uint32_t> replays_wanted{0};  ///< The stage asks for a replay by raising it.
    std::atomic<std::uint32_t> replays_done{0};
    Counter replayed{0};        ///< By the first replay,
    Counter replayed_again{0};  ///< and by one more right behind it.
};

struct alignas(128) HousePanel {
    std::atomic<bool> ready{false};
    std::atomic<std::uint32_t> looks_wanted{0};  ///< The stage asks for a look at the positions by raising it.
    std::atomic<std::uint32_t> looks_taken{0};
    Counter topic_bytes{0};
    Counter label_bytes{0};      ///< Of the labels and their letters.
    Counter evicted_members{0};  ///< By the keeper; the others were evicted by members.
    Counter verified_records{0};
    Counter verified_labels{0};
    Counter damages{0};
    ErrorText damage{};  ///< The first one.
    ErrorText error{};
};

struct Board {
    // From the stage to the children.
    std::atomic<std::int64_t> started_ns{0};  ///< Producers begin when it is set.
    std::atomic<std::int64_t> killed_ns{0};
    std::atomic<std::int64_t> stopped_ns{0};
    std::atomic<std::int64_t> continued_ns{0};
    std::atomic<bool> mended{false};  ///< Printers know the town of the poison order.
    std::atomic<bool> close{false};   ///< All is handled: members leave their groups, and printers the queue.
    std::atomic<bool> stop_keeping{false};

    std::array<ProducerPanel, kProducersMax> producers;
    std::array<MemberPanel, kMembers.size()> members;
    std::array<GroupPanel, kGroups.size()> groups;
    std::array<PrinterPanel, kPrinters.size()> printers;
    QueuePanel queue;
    LettersPanel letters;
    HousePanel house;
};

static_assert(kPartitions <= 32, "a member's partitions are bits of 32");

struct BoardUnmap {
    void operator()(Board* board) const noexcept;
};

/// The board and a journal for each member and printer, shared with every child that is forked from now on.
struct Records {
    /// Throws std::system_error.
    Records(std::uint64_t journal_entries, std::uint64_t label_entries);

    std::unique_ptr<Board, BoardUnmap> board;
    std::vector<Journal> journals;
    std::vector<LabelJournal> label_journals;
};

/// Runs on in all processes alike, and never jumps.
[[nodiscard]] std::int64_t now_ns() noexcept;

}  // namespace ringmain::cli::orders
