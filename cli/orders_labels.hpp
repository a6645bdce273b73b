// The labels of the story: a work queue beside the groups, its workers, and the two orders that make trouble.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "orders_journal.hpp"

namespace ringmain::cli::orders {

inline constexpr const char* kLabels =
    "labels";  ///< The topic: a label for each order, to be printed when it is packed.
inline constexpr std::uint32_t kLabelPartitions = 3;
inline constexpr const char* kQueue = "printers";
inline constexpr const char* kLetters = "labels.dlq";
inline constexpr std::uint32_t kDeliveryLimit = 5;
inline constexpr std::size_t kLabelStep = 2;  ///< Its index in kSteps.

/// The workers of the queue, more than there are partitions.
inline constexpr std::array<const char*, 5> kPrinters = {"printer-1", "printer-2", "printer-3", "printer-4",
                                                         "printer-5"};
inline constexpr std::uint32_t kKilledPrinter = 1;     ///< The one that gets SIGKILL.
inline constexpr std::uint32_t kForgetfulPrinter = 3;  ///< The one that a planted defect is in.

/// The poison order goes to a town that is on no printer's map until somebody mends the map.
inline constexpr std::uint32_t kPoisonOrder = 40;
inline constexpr std::string_view kUnknownTown = "Atlantis";
/// The paper of the flaky order jams before this attempt.
inline constexpr std::uint32_t kFlakyOrder = 50;
inline constexpr std::uint32_t kFlakyAttempt = 3;

[[nodiscard]] constexpr std::string_view town_of(std::uint64_t order) noexcept {
    constexpr std::array<std::string_view, 6> kTowns = {"Bergen", "Delft", "Jena", "Oulu", "Porto", "Turin"};
    return order == kPoisonOrder ? kUnknownTown : kTowns[order % kTowns.size()];
}

/// What a printer did with one delivery of a label.
struct LabelEntry {
    enum class Kind : std::uint8_t {
        taken,     ///< Acquired.
        printed,   ///< Handled; not answered for yet.
        failed,    ///< Not handled, because of a jam or the map; not answered for yet.
        answered,  ///< Acknowledged or given back, and the queue took the answer.
        refused,   ///< The queue did not take the answer.
    };

    std::int64_t time_ns = 0;
    std::uint64_t offset = 0;
    std::uint32_t order = 0;
    std::uint32_t attempt = 0;  ///< Deliveries of the record, this one included.
    std::uint8_t partition = 0;
    Kind kind = Kind::taken;
};

using LabelJournal = JournalOf<LabelEntry>;

/// The order that a key names; nothing if it names none.
[[nodiscard]] std::optional<std::uint32_t> order_named(std::string_view key) noexcept;

}  // namespace ringmain::cli::orders
