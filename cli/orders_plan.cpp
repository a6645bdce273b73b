// Deciding sizes and moments.
#include "orders_plan.hpp"

#include <algorithm>
#include <bit>
#include <chrono>

#include "orders_labels.hpp"

namespace ringmain::cli::orders {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kRecordsLeast = 4'096;
constexpr std::uint64_t kLabelsLeast = 1'024;
// Handlings that are repeated, and what is not a handling: commits, tenures.
constexpr std::uint64_t kEntriesAtLeast = 1 << 16;

// Twice its share in each partition, as keys are not spread evenly: nothing is overwritten.
TopicOptions topic_of(std::uint32_t partitions, std::uint64_t records, std::uint64_t least) {
    TopicOptions options;
    options.partitions = partitions;
    options.records = std::max(least, std::bit_ceil(2 * records / partitions));
    options.cell_bytes = kCellBytes;
    options.payload_bytes = 0;
    options.producer_slots = kProducerSlots;
    return options;
}

/// Locks that no run outlasts: what comes back was answered, or returned from the dead.
QueueOptions queue_of() {
    QueueOptions options;
    options.delivery_limit = kDeliveryLimit;
    options.backoff.first = std::chrono::milliseconds(50);
    options.backoff.max = std::chrono::milliseconds(200);
    return options;
}

}  // namespace

Plan make_plan(const OrdersOptions& options) {
    Plan plan;
    plan.options = options;
    const std::uint64_t wanted = options.seconds * kEventsPerSecond;
    plan.orders_per_producer = std::max<std::uint64_t>(1, wanted / kSteps.size() / options.producers);
    plan.event_every_ns = static_cast<std::uint64_t>(kSecond) * options.producers / kEventsPerSecond;
    plan.journal_entries = 2 * plan.events() + kEntriesAtLeast;
    plan.label_entries = 4 * plan.orders() + kEntriesAtLeast;
    const auto whole_ns = static_cast<std::int64_t>(options.seconds) * kSecond;
    plan.kill_printer_after_ns = whole_ns / 5;
    plan.kill_after_ns = whole_ns * 3 / 10;
    plan.stop_after_ns = whole_ns * 9 / 20;
    plan.continue_after_ns = whole_ns * 4 / 5;
    plan.mend_after_ns = whole_ns * 17 / 20;
    plan.end_after_ns = whole_ns;
    plan.topic_options = topic_of(kPartitions, plan.events(), kRecordsLeast);
    plan.label_options = topic_of(kLabelPartitions, plan.orders(), kLabelsLeast);
    plan.queue_options = queue_of();
    return plan;
}

}  // namespace ringmain::cli::orders
