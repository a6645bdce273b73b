// What is shown of retries: of groups whose records are tried again, and of queues as far as they are alike.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "ringmain/group_admin.hpp"

namespace ringmain::cli {

/// "1s, growing 2-fold up to 1m, each 10 % longer or shorter".
[[nodiscard]] std::string backoff_to_text(const Backoff& backoff);
[[nodiscard]] nlohmann::ordered_json backoff_to_json(const Backoff& backoff);
/// What becomes of a record: "to the dead letters, topic t.dlq", "skipped", "its partition stops".
[[nodiscard]] std::string exhausted_to_text(Exhausted exhausted, std::string_view dead_letter_topic, bool dead_letters_gone);

/// Lines about what was decided; empty for a group without retries.
[[nodiscard]] std::string retry_options_to_text(const GroupDescription& group);
/// A table by partition; empty for a group without retries, or one whose words are damaged.
[[nodiscard]] std::string retries_to_text(const GroupDescription& group);
/// null for a group without retries.
[[nodiscard]] nlohmann::ordered_json retries_to_json(const GroupDescription& group);
[[nodiscard]] nlohmann::ordered_json retries_to_json(const GroupPartitionDescription& partition);

}  // namespace ringmain::cli
