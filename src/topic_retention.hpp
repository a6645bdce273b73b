// A topic's retention limits: what is legal, and the words in topic.meta that hold them.
#pragma once

#include <string_view>

#include "layout/topic.hpp"
#include "ringmain/topic_options.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Throws Error invalid_argument (topic, limit, value, range) unless each limit is 0 or in its range.
void check_retention(std::string_view topic, const Retention& retention);

/// The limits as they stand; a word that is out of its range is no limit, so that damage deletes nothing.
[[nodiscard]] Retention read_retention(const layout::TopicMeta& meta) noexcept;

/// The same, whatever the words hold: for check_retention to judge.
[[nodiscard]] Retention retention_as_found(const layout::TopicMeta& meta) noexcept;

/// One after the other: who dies in here leaves some of the old ones.
void store_retention(layout::TopicMeta& meta, const Retention& retention) noexcept;

/// Broker::set_retention of an open topic.
void set_retention(const TopicFiles& topic, const Retention& retention);

}  // namespace ringmain
