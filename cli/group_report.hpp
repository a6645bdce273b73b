// What `group`, `who-blocks` and `topic describe` show of consumer groups.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reset_plan_file.hpp"
#include "ringmain/group_admin.hpp"

namespace ringmain::cli {

/// A group's figures over all partitions.
struct GroupTotals {
    std::uint64_t records = 0;
    std::uint64_t lost = 0;
    std::optional<std::uint64_t> records_until_loss;  ///< The smallest.
};
[[nodiscard]] GroupTotals totals_of(const GroupDescription& group);

/// {"slot", "incarnation", "pid", "alive"}, or null; what is not known is null.
[[nodiscard]] nlohmann::ordered_json client_to_json(const std::optional<ClientDescription>& client);

/// Everything in the description.
[[nodiscard]] nlohmann::ordered_json group_to_json(const GroupDescription& group);

// Arrays of objects, on one line. Bytes of names that are not UTF-8 are shown as U+FFFD.
[[nodiscard]] std::string groups_to_json(const std::vector<GroupSummary>& groups);
[[nodiscard]] std::string groups_to_json(const std::vector<GroupDescription>& groups);
[[nodiscard]] std::string lag_to_json(const std::vector<GroupDescription>& groups);
[[nodiscard]] std::string holders_to_json(const std::vector<LogHolder>& holders);
/// For `topic describe`.
[[nodiscard]] nlohmann::ordered_json group_totals_to_json(const GroupDescription& group);

// Tables. "-" is what there is none of.
[[nodiscard]] std::string groups_to_text(const std::vector<GroupSummary>& groups);
[[nodiscard]] std::string group_to_text(const GroupDescription& group);
[[nodiscard]] std::string lag_to_text(const std::vector<GroupDescription>& groups);
[[nodiscard]] std::string holders_to_text(const std::vector<LogHolder>& holders);
[[nodiscard]] std::string plans_to_text(const ResetPlans& plans);
/// For `topic describe`: "group 'g': stable, 2 members, 17 records behind, 0 lost, …".
[[nodiscard]] std::string group_totals_to_text(const GroupDescription& group);

/// A name of a group or member with control characters as \xNN, so that no name can act on a terminal.
[[nodiscard]] std::string printable(std::string_view name);

}  // namespace ringmain::cli
