// What is decided about a queue when it is created: what is legal, and how it is stored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "group_table/group_options.hpp"
#include "layout/work.hpp"
#include "ringmain/queue.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain {

/// "queue 'q' of topic 't'".
[[nodiscard]] std::string queue_text(std::string_view topic, std::string_view queue);

/// The options as they are stored: the dead-letter topic by its name (empty if nothing goes there), the window as a number.
/// Throws Error invalid_argument (queue, option, value, range) unless every option is in its range and they go together.
[[nodiscard]] QueueOptions checked_queue_options(std::string_view topic, std::string_view queue, const TopicOptions& topic_options,
                                                 const QueueOptions& options);

/// Requires checked options. The dead-letter topic's id and partitions are still to be set (set_letters).
[[nodiscard]] layout::WorkSettings work_settings_of(const QueueOptions& options) noexcept;
[[nodiscard]] group_table::GroupOptions group_options_of(const QueueOptions& options) noexcept;

/// What was stored. Requires settings without a fault.
[[nodiscard]] QueueOptions queue_options_of(const layout::WorkSettings& settings, const group_table::GroupOptions& group,
                                            std::uint64_t window);
[[nodiscard]] Position start_of(const group_table::GroupOptions& group) noexcept;

/// Throws Error mismatch naming the first option that differs. Requires both as they are stored.
void check_same_queue_options(std::string_view topic, std::string_view queue, const QueueOptions& found, const QueueOptions& wanted);

}  // namespace ringmain
