// Reading the printers' journals: which labels were printed, how often, by whom, and what the killed printer held.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "orders_labels.hpp"

namespace ringmain::cli::orders {

/// One journal per printer, by the printers' numbers.
using LabelJournals = std::array<std::span<const LabelEntry>, kPrinters.size()>;

/// What a printer had taken and not answered for when it died.
struct Held {
    std::uint64_t labels = 0;
    std::uint64_t printed = 0;  ///< Of these.
};
[[nodiscard]] Held held_by(std::span<const LabelEntry> journal);

/// An order that made trouble.
struct Trouble {
    std::uint64_t failed = 0;                 ///< Attempts.
    std::optional<std::uint32_t> printed_at;  ///< The attempt at which its label was printed first, by the clock.
};

struct LabelsAudit {
    std::uint64_t deliveries = 0;
    std::uint64_t failed = 0;                   ///< Deliveries.
    std::uint64_t printed = 0;                  ///< Printings.
    std::uint64_t distinct = 0;                 ///< Orders whose label was printed at least once.
    std::uint64_t missing = 0;                  ///< Orders whose label was not.
    std::uint64_t unknown = 0;                  ///< Entries about orders that nobody placed.
    std::uint64_t refused = 0;                  ///< Answers.
    std::uint64_t shared = 0;                   ///< Deliveries that more than one printer had.
    Held held;                                  ///< By the killed printer.
    std::uint64_t held_again = 0;               ///< Of these: delivered to another printer, as the next attempt.
    std::optional<std::int64_t> held_again_ns;  ///< When the last of them was.
    std::uint64_t repeated =
        0;  ///< Labels that the killed printer had printed and not answered for, and another one again.
    std::uint64_t repeated_other = 0;  ///< Printings that are superfluous for any other reason.
    Trouble poison;
    Trouble flaky;
};

[[nodiscard]] LabelJournals label_journals(std::span<const LabelJournal> journals);
[[nodiscard]] LabelsAudit audit_labels(const LabelJournals& journals, std::uint64_t orders);

}  // namespace ringmain::cli::orders
