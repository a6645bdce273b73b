// Reading the journals: what each group handled, how often, in which order, and what its hand-overs cost.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "orders.hpp"
#include "orders_journal.hpp"

namespace ringmain::cli::orders {

/// What happened to members and printers, by the stage's clock; 0: never.
struct Moments {
    std::int64_t started_ns = 0;
    std::int64_t killed_ns = 0;
    std::int64_t stopped_ns = 0;
    std::int64_t continued_ns = 0;
    std::int64_t printer_killed_ns = 0;
    std::int64_t mended_ns = 0;
};

/// One member's time with one partition.
///
///   begins at the group's committed position -> handles, commits -> given up (all of it committed), or gone
struct Tenure {
    std::uint32_t member = 0;
    std::uint32_t partition = 0;
    std::uint64_t tick = 0;  ///< When it began. Identifies the tenure within its group.
    std::int64_t time_ns = 0;
    std::int64_t ended_ns = 0;       ///< 0: it never said so.
    std::uint64_t begin = 0;         ///< Offset.
    std::uint64_t handled_to = 0;    ///< After the last handled offset; `begin` if there is none.
    std::uint64_t committed_to = 0;  ///< As far as its member knew.
    bool given_up = false;
};

/// What a group did.
struct GroupAudit {
    std::uint64_t orders = 0;    ///< Orders of which every event was handled.
    std::uint64_t handled = 0;   ///< Handlings.
    std::uint64_t distinct = 0;  ///< Events that were handled at least once.
    std::uint64_t missing = 0;   ///< Events that were not.
    std::uint64_t unknown = 0;   ///< Handlings of events that nobody published.
    std::array<std::uint64_t, kMembers.size()>
        repeats{};  ///< Handlings that another one, by a later owner, made superfluous.
    std::uint64_t first_disorder =
        0;  ///< Events whose first handling was before that of an earlier event of the order.
    std::uint64_t tenure_disorder = 0;  ///< Handlings in a tenure that go back, or jump over an event of the order.
    std::uint64_t handovers = 0;        ///< Tenures that followed another one, while orders were placed and handled.
    std::uint64_t went_behind = 0;  ///< Tenures that began before what was committed, or repeat what a member gave up.
    std::uint64_t longest_pause_ns = 0;  ///< Between two handlings in one partition.
    std::uint32_t paused_partition = 0;
    std::vector<Tenure> tenures;  ///< In the order of their beginnings.

    [[nodiscard]] std::uint64_t repeated() const noexcept { return handled - distinct; }
};

/// What a signal to a member cost its group.
struct Cost {
    std::uint32_t partitions = 0;           ///< That it owned.
    std::optional<std::uint64_t> first_ns;  ///< From the signal until another one handled an event in one of them,
    std::optional<std::uint64_t> all_ns;    ///< and in each of them.
};

/// One journal per member, by the members' numbers; those of other groups are not looked at.
using Journals = std::array<std::span<const Entry>, kMembers.size()>;

[[nodiscard]] GroupAudit audit(std::uint32_t group, const Journals& journals, std::uint64_t orders,
                               const Moments& moments);

[[nodiscard]] Cost cost_of(const GroupAudit& audit, const Journals& journals, std::uint32_t member,
                           std::int64_t signal_ns);

/// Entries of a kind at or after a moment.
[[nodiscard]] std::uint64_t count_entries(std::span<const Entry> entries, Entry::Kind kind,
                                          std::int64_t from_ns = 0) noexcept;
/// The moment of the first one; nothing if there is none.
[[nodiscard]] std::optional<std::int64_t> first_entry_ns(std::span<const Entry> entries, Entry::Kind kind,
                                                         std::int64_t from_ns) noexcept;

}  // namespace ringmain::cli::orders
