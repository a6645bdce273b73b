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

namespace ringmain::cli::orders {

using demo::Counter;
using demo::ErrorText;

struct alignas(128) ProducerPanel {
    std::atomic<bool> ready{false};
    Counter published{0};
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

struct alignas(128) HousePanel {
    std::atomic<bool> ready{false};
    std::atomic<std::uint32_t> looks_wanted{0};  ///< The stage asks for a look at the positions by raising it.
    std::atomic<std::uint32_t> looks_taken{0};
    Counter topic_bytes{0};
    Counter evicted_members{0};  ///< By the keeper; the others were evicted by members.
    Counter verified_records{0};
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
    std::atomic<bool> close{false};  ///< All is handled: members leave their groups.
    std::atomic<bool> stop_keeping{false};

    std::array<ProducerPanel, kProducersMax> producers;
    std::array<MemberPanel, kMembers.size()> members;
    std::array<GroupPanel, kGroups.size()> groups;
    HousePanel house;
};

static_assert(kPartitions <= 32, "a member's partitions are bits of 32");

struct BoardUnmap {
    void operator()(Board* board) const noexcept;
};

/// The board and a journal for each member, shared with every child that is forked from now on.
struct Records {
    /// Throws std::system_error.
    explicit Records(std::uint64_t journal_entries);

    std::unique_ptr<Board, BoardUnmap> board;
    std::vector<Journal> journals;
};

/// Runs on in all processes alike, and never jumps.
[[nodiscard]] std::int64_t now_ns() noexcept;

}  // namespace ringmain::cli::orders
