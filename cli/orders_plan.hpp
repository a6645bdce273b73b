// Sizes and moments of the story.
#pragma once

#include <cstdint>
#include <filesystem>

#include "orders.hpp"
#include "ringmain/queue.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain::cli::orders {

struct Plan {
    OrdersOptions options;
    std::filesystem::path broker;
    TopicOptions topic_options;
    TopicOptions label_options;
    QueueOptions queue_options;
    std::uint64_t orders_per_producer = 0;
    std::uint64_t event_every_ns = 0;  ///< Of each producer.
    std::uint64_t journal_entries = 0;
    std::uint64_t label_entries = 0;
    std::int64_t kill_printer_after_ns = 0;
    std::int64_t kill_after_ns = 0;
    std::int64_t stop_after_ns = 0;
    std::int64_t continue_after_ns = 0;
    std::int64_t mend_after_ns = 0;
    std::int64_t end_after_ns = 0;  ///< About when the producers have ended.

    [[nodiscard]] std::uint64_t orders() const noexcept { return orders_per_producer * options.producers; }
    [[nodiscard]] std::uint64_t events() const noexcept { return orders() * kSteps.size(); }
};

[[nodiscard]] Plan make_plan(const OrdersOptions& options);

}  // namespace ringmain::cli::orders
