// What `queue`, `stats` and `topic describe` show of work queues.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ringmain/queue_admin.hpp"

namespace ringmain::cli {

/// A queue's figures over all partitions.
struct QueueTotals {
    std::uint64_t records = 0;  ///< The lag.
    std::uint64_t available = 0;
    std::uint64_t delayed = 0;
    std::uint64_t acquired = 0;
    std::uint64_t lock_over = 0;
    std::uint64_t ending = 0;
    std::uint64_t finished = 0;  ///< In the lag.
    std::uint64_t beyond_window = 0;
    std::uint64_t expired = 0;
    std::uint64_t returned = 0;
    std::uint64_t redelivered = 0;
    std::uint64_t dead_lettered = 0;
    std::uint64_t skipped = 0;
    std::uint64_t lost = 0;
    std::uint64_t letters_refused = 0;
};
/// Records that retention took before they were finished, whether a worker has found that or not.
[[nodiscard]] std::uint64_t lost_of(const QueuePartitionDescription& partition) noexcept;
[[nodiscard]] QueueTotals totals_of(const QueueDescription& queue);

/// Everything in the description.
[[nodiscard]] nlohmann::ordered_json queue_to_json(const QueueDescription& queue);
// Arrays of objects, on one line. Bytes of names that are not UTF-8 are shown as U+FFFD.
[[nodiscard]] std::string queues_to_json(const std::vector<QueueSummary>& queues);
[[nodiscard]] std::string queues_to_json(const std::vector<QueueDescription>& queues);
[[nodiscard]] std::string workers_to_json(const std::vector<QueueDescription>& queues);

// Tables. "-" is what there is none of.
[[nodiscard]] std::string queues_to_text(const std::vector<QueueSummary>& queues);
[[nodiscard]] std::string queue_to_text(const QueueDescription& queue);
[[nodiscard]] std::string workers_to_text(const std::vector<QueueDescription>& queues);
/// What was decided when it was created.
[[nodiscard]] std::string queue_options_to_text(const QueueDescription& queue);

}  // namespace ringmain::cli
