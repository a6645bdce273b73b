// What is decided about the retries of a group: what is legal, and how it is stored.
#pragma once

#include <string>
#include <string_view>

#include "layout/work.hpp"
#include "ringmain/group.hpp"
#include "ringmain/retry.hpp"

namespace ringmain {

/// Throws Error invalid_argument: names the group, the option, its value and its range. `topic`: the records' own.
void check_retry_options(std::string_view topic, const GroupOptions& group, const RetryOptions& options);

/// Requires checked options. The dead-letter topic is still to be set (set_letters), if records go there.
[[nodiscard]] layout::WorkSettings work_settings_of(const RetryOptions& options) noexcept;

/// `options` with what the group has decided in the place of its own. Requires settings without a fault.
[[nodiscard]] RetryOptions with_settings(const RetryOptions& options, const layout::WorkSettings& settings);

/// Throws Error mismatch, naming the first of the group's own options that differs. Requires checked options.
void check_same_retries(std::string_view topic, std::string_view group, const layout::WorkSettings& found,
                        const RetryOptions& wanted);

}  // namespace ringmain
