// Deciding sizes and moments.
#include "orders_plan.hpp"

#include <algorithm>
#include <bit>

namespace ringmain::cli::orders {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kRecordsLeast = 4'096;
// Handlings that are repeated, and what is not a handling: commits, tenures.
constexpr std::uint64_t kEntriesAtLeast = 1 << 16;

}  // namespace

Plan make_plan(const OrdersOptions& options) {
    Plan plan;
    plan.options = options;
    const std::uint64_t wanted = options.seconds * kEventsPerSecond;
    plan.orders_per_producer = std::max<std::uint64_t>(1, wanted / kSteps.size() / options.producers);
    plan.event_every_ns = static_cast<std::uint64_t>(kSecond) * options.producers / kEventsPerSecond;
    plan.journal_entries = 2 * plan.events() + kEntriesAtLeast;
    const auto whole_ns = static_cast<std::int64_t>(options.seconds) * kSecond;
    plan.kill_after_ns = whole_ns * 3 / 10;
    plan.stop_after_ns = whole_ns * 9 / 20;
    plan.continue_after_ns = whole_ns * 4 / 5;
    plan.end_after_ns = whole_ns;
    plan.topic_options.partitions = kPartitions;
    // Twice its share, as keys are not spread evenly: nothing is overwritten.
    plan.topic_options.records = std::max(kRecordsLeast, std::bit_ceil(2 * plan.events() / kPartitions));
    plan.topic_options.cell_bytes = kCellBytes;
    plan.topic_options.payload_bytes = 0;
    plan.topic_options.producer_slots = kProducerSlots;
    return plan;
}

}  // namespace ringmain::cli::orders
