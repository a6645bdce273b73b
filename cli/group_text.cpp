// Consumer groups as text.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "group_report.hpp"
#include "numbers.hpp"
#include "retry_report.hpp"
#include "times.hpp"

namespace ringmain::cli {

namespace {

template <class... Args>
void add(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
}

template <class Value>
std::string or_dash(const std::optional<Value>& value) {
    return value ? fmt::format("{}", *value) : "-";
}

std::string ms_or_dash(const std::optional<std::chrono::milliseconds>& time) {
    return time ? std::to_string(time->count()) : "-";
}

std::string time_or_dash(std::int64_t ns) { return ns != 0 ? format_time_ns(ns) : "-"; }

/// Of a damaged log nothing is known.
std::string known(const GroupLag& lag, std::uint64_t figure) { return lag.damaged ? "damaged" : std::to_string(figure); }

std::string bytes_of(const GroupLag& lag) {
    if (!lag.bytes)
        return "-";
    return fmt::format("{}{}", lag.bytes_estimated ? "~" : "", *lag.bytes);
}

std::string start_of(const Position& start) {
    switch (start.kind) {
        case Position::Kind::latest:
            return "latest";
        case Position::Kind::offset:
            return fmt::format("offset {}", start.value);
        case Position::Kind::time:
            return format_time_ns(start.time_ns);
        default:
            return "earliest";
    }
}

std::string name_of(const GroupMemberDescription& member) {
    return member.static_name.empty() ? fmt::format("member {}", member.slot) : printable(member.static_name);
}

std::string owner_of(const GroupDescription& group, std::optional<std::uint32_t> owner) {
    const auto found = std::find_if(group.members.begin(), group.members.end(), [&](const auto& member) { return owner == member.slot; });
    return found == group.members.end() ? "-" : name_of(*found);
}

std::string client_of(const GroupMemberDescription& member) {
    if (!member.client)
        return "closed, expected back";
    return to_string(*member.client);
}

constexpr const char* kLagFormat = "{:<24} {:>9} {:>20} {:>20} {:>20} {:>12} {:>12} {:>14} {:>12} {}\n";

void add_lag_heading(std::string& text) {
    add(text, fmt::runtime(kLagFormat), "TOPIC", "PARTITION", "COMMITTED", "START", "END", "LAG", "LOST", "LAG-BYTES", "LAG-MS", "OWNER");
}

void add_lag_rows(std::string& text, const GroupDescription& group) {
    for (const GroupPartitionDescription& partition : group.partitions) {
        const GroupLag& lag = partition.lag;
        add(text, fmt::runtime(kLagFormat), group.topic, lag.partition, or_dash(lag.committed), known(lag, lag.log_start),
            known(lag, lag.log_end), known(lag, lag.records), known(lag, lag.lost), bytes_of(lag), ms_or_dash(lag.time), owner_of(group, partition.owner));
    }
}

void add_options(std::string& text, const GroupDescription& group) {
    add(text, "group             {}\n", printable(group.name));
    add(text, "topic             {}\n", group.topic);
    add(text, "state             {}\n", to_string(group.state));
    add(text, "start             {}\n", start_of(group.start));
    add(text, "on loss           {}\n", to_string(group.on_loss));
    add(text, "gating            {}\n", group.gating ? "yes" : "no");
    if (group.lag_records_max != 0)
        add(text, "let go beyond     {} of lag\n", counted(group.lag_records_max, "record"));
    if (group.lag_time_max.count() != 0)
        add(text, "let go beyond     {} ms of lag\n", group.lag_time_max.count());
    text.append(retry_options_to_text(group));
    add(text, "expires           never; 'ringmain group delete' ends it\n");
}

void add_members(std::string& text, const GroupDescription& group) {
    for (const GroupMemberDescription& member : group.members) {
        add(text, "{}: {}; {}, last poll {}, session timeout {} ms, partitions {}\n", name_of(member), client_of(member),
            member.in_group ? "in the group" : "not in the group", time_or_dash(member.last_poll_ns), member.session_timeout.count(),
            member.partitions.empty() ? "-" : fmt::format("{}", fmt::join(member.partitions, " ")));
    }
}

std::string owner_of(const LogHolder& holder) {
    if (holder.letters)
        return fmt::format("dead letters hold it; see 'ringmain dlq list {}', then replay or purge", holder.topic);
    if (!holder.client)
        return holder.group && !holder.queue ? "no member owns it" : "-";
    return holder.static_name.empty() ? to_string(*holder.client)
                                      : fmt::format("{} ({})", printable(holder.static_name), to_string(*holder.client));
}

std::string clamped(const PartitionReset& reset) {
    switch (reset.clamp) {
        case ResetClamp::none:
            return "";
        case ResetClamp::log_start:
            return "  raised to the log start";
        case ResetClamp::log_end:
            return "  lowered to the log end";
    }
    return "";
}

}  // namespace

std::string printable(std::string_view name) {
    std::string text;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f)
            add(text, "\\x{:02x}", byte);
        else
            text.push_back(c);
    }
    return text;
}

std::string groups_to_text(const std::vector<GroupSummary>& groups) {
    std::string text;
    add(text, "{:<24} {:<24} {:<12} {:>8} {:>12} {:>12} {}\n", "TOPIC", "GROUP", "STATE", "MEMBERS", "LAG", "LOST", "GATING");
    for (const GroupSummary& group : groups) {
        add(text, "{:<24} {:<24} {:<12} {:>8} {:>12} {:>12} {}\n", group.topic, printable(group.name), to_string(group.state), group.members,
            group.records, group.lost, group.gating ? "yes" : "no");
    }
    return text;
}

std::string group_to_text(const GroupDescription& group) {
    std::string text;
    add_options(text, group);
    add_members(text, group);
    text.push_back('\n');
    add(text, "{:>9} {:>20} {:>12} {:>12} {:>12} {:>14} {:>10} {:>10} {:>8} {:>10} {:>6} {:<30} {}\n", "PARTITION", "COMMITTED(NEXT)", "LAG",
        "LOST", "LAG-MS", "LAG-BYTES", "GENERATION", "COMMITS", "FENCED", "HANDOVERS", "GATES", "LAST-COMMIT", "OWNER");
    for (const GroupPartitionDescription& partition : group.partitions) {
        const GroupLag& lag = partition.lag;
        add(text, "{:>9} {:>20} {:>12} {:>12} {:>12} {:>14} {:>10} {:>10} {:>8} {:>10} {:>6} {:<30} {}\n", lag.partition,
            or_dash(lag.committed), known(lag, lag.records), known(lag, lag.lost), ms_or_dash(lag.time), bytes_of(lag), partition.generation, partition.commits,
            partition.fenced, partition.handovers, partition.gates ? "yes" : "no", time_or_dash(partition.committed_ns),
            owner_of(group, partition.owner));
    }
    if (const std::string retries = retries_to_text(group); !retries.empty())
        text.append("\n").append(retries);
    return text;
}

std::string lag_to_text(const std::vector<GroupDescription>& groups) {
    std::string text;
    add_lag_heading(text);
    for (const GroupDescription& group : groups)
        add_lag_rows(text, group);
    return text;
}

std::string holders_to_text(const std::vector<LogHolder>& holders) {
    constexpr const char* kFormat = "{:<24} {:>9} {:<5} {:<24} {:>20} {:>12} {:>12} {:>12} {:<30} {}\n";
    std::string text;
    add(text, fmt::runtime(kFormat), "TOPIC", "PARTITION", "KIND", "NAME", "OFFSET", "BEHIND", "BEHIND-MS", "ROOM", "LAST-COMMIT", "OWNER");
    for (const LogHolder& holder : holders) {
        add(text, fmt::runtime(kFormat), holder.topic, holder.partition, holder.queue ? "queue" : holder.group ? "group" : "gate", printable(holder.name),
            holder.offset, holder.records, ms_or_dash(holder.time), holder.room_records, time_or_dash(holder.since_ns), owner_of(holder));
    }
    return text;
}

std::string plans_to_text(const ResetPlans& plans) {
    std::string text;
    add(text, "{:<24} {:>9} {:>20} {:>20} {:>21}\n", "TOPIC", "PARTITION", "COMMITTED", "TARGET", "CHANGE");
    for (const ResetPlan& plan : plans) {
        for (const PartitionReset& reset : plan.partitions) {
            const bool forward = reset.target >= reset.position;
            const std::uint64_t distance = forward ? reset.target - reset.position : reset.position - reset.target;
            add(text, "{:<24} {:>9} {:>20} {:>20} {:>21}{}\n", plan.topic, reset.partition, or_dash(reset.committed), reset.target,
                fmt::format("{}{}", distance == 0 ? "" : (forward ? "+" : "-"), distance), clamped(reset));
        }
    }
    return text;
}

std::string group_totals_to_text(const GroupDescription& group) {
    const GroupTotals totals = totals_of(group);
    const auto members = std::count_if(group.members.begin(), group.members.end(), [](const auto& member) { return member.in_group; });
    std::string text;
    if (group.state == GroupState::queue)
        return fmt::format("queue '{}': {} to be handled{}\n", printable(group.name), counted(totals.records, "record"), group.gating ? ", gating" : "");
    add(text, "group '{}': {}, {}, {} behind, {} lost", printable(group.name), to_string(group.state),
        counted(static_cast<std::uint64_t>(members), "member"), counted(totals.records, "record"), totals.lost);
    if (totals.records_until_loss)
        add(text, ", at least {} until it loses some", counted(*totals.records_until_loss, "record"));
    add(text, "{}\n", group.gating ? ", gating" : "");
    return text;
}

}  // namespace ringmain::cli
