// Drawing: the head, one table, the foot.
#include "top_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "figures.hpp"
#include "group_report.hpp"
#include "queue_report.hpp"
#include "stats_report.hpp"
#include "table.hpp"
#include "top_rates.hpp"

namespace ringmain::cli {

namespace {

constexpr std::size_t kHeadRows = 4;  // three lines and the heading of the table
constexpr std::size_t kFootRows = 1;
constexpr std::size_t kNameColumns = 20;

struct Looks {
    const BrokerStats& before;
    const BrokerStats& now;
};

std::string trend(double per_second) {
    if (std::abs(per_second) < 0.05)
        return "=";
    return (per_second > 0 ? "+" : "-") + short_rate(std::abs(per_second));
}

std::string short_name(const std::string& name) { return cut_to(printable(name), kNameColumns); }

/// By the figure, the largest first, then by name.
template <class Rates, class Figure>
void sort_by(std::vector<Rates>& all, const Figure& figure) {
    std::stable_sort(all.begin(), all.end(), [&](const Rates& a, const Rates& b) { return figure(a) > figure(b); });
}

template <class Rates>
std::vector<Rates> sorted(std::vector<Rates> all, TopSort sort) {
    if (sort == TopSort::rate)
        sort_by(all, [](const Rates& rates) { return rates.records_per_s; });
    if (sort == TopSort::lag)
        sort_by(all, [](const Rates& rates) { return rates.lag; });
    return all;
}

std::vector<std::string> topic_row(const TopicRates& rates) {
    const TopicStats& topic = *rates.topic;
    if (!topic.error.empty())
        return {short_name(topic.name), "-", "unreadable", "-", "-", "-", "-", "-", "-", "-", "-"};
    std::uint64_t records = 0;
    std::uint64_t open = 0;
    std::uint64_t quarantined = 0;
    std::size_t producers = 0;
    for (const PartitionStats& partition : topic.partitions) {
        records += partition.records;
        open += partition.open_tickets;
        quarantined += partition.quarantined_cells;
        producers += partition.attached.size();
    }
    return {short_name(topic.name),
            std::to_string(topic.partitions.size()),
            short_rate(rates.records_per_s),
            short_bytes(static_cast<std::uint64_t>(rates.bytes_per_s)) + "/s",
            short_count(records),
            short_count(rates.lag),
            trend(rates.lag_per_s),
            std::to_string(topic.groups.size()),
            std::to_string(producers),
            short_count(open),
            short_count(quarantined)};
}

Table topics_table(const Looks& looks, TopSort sort) {
    Table table(
        {"<TOPIC", "PARTS", "RECORDS/s", "BYTES/s", "RECORDS", "LAG", "TREND", "GROUPS", "PROD", "OPEN", "QUAR"});
    for (const TopicRates& rates : sorted(topic_rates(looks.before, looks.now), sort))
        table.add(topic_row(rates));
    return table;
}

std::vector<std::string> partition_row(const PartitionRates& rates) {
    const PartitionStats& partition = *rates.partition;
    if (!partition.error.empty() || !partition.damage.empty())
        return {short_name(rates.topic->name),
                std::to_string(partition.partition),
                partition.error.empty() ? "damaged" : "unreadable",
                "-",
                "-",
                "-",
                "-",
                "-",
                "-",
                "-"};
    return {short_name(rates.topic->name),
            std::to_string(partition.partition),
            short_rate(rates.records_per_s),
            short_bytes(static_cast<std::uint64_t>(rates.bytes_per_s)) + "/s",
            short_count(partition.records),
            short_count(rates.lag),
            std::to_string(partition.attached.size()),
            short_count(partition.open_tickets),
            short_count(partition.quarantined_cells),
            short_rate(rates.gaps_per_s)};
}

Table partitions_table(const Looks& looks, TopSort sort) {
    Table table({"<TOPIC", "PART", "RECORDS/s", "BYTES/s", "RECORDS", "LAG", "PROD", "OPEN", "QUAR", "GAPS/s"});
    for (const PartitionRates& rates : sorted(partition_rates(looks.before, looks.now), sort))
        table.add(partition_row(rates));
    return table;
}

std::vector<std::string> group_row(const GroupRates& rates) {
    const GroupDescription& group = *rates.group;
    std::chrono::milliseconds time{0};
    for (const GroupPartitionDescription& partition : group.partitions)
        time = std::max(time, partition.lag.time.value_or(std::chrono::milliseconds(0)));
    const auto members =
        std::count_if(group.members.begin(), group.members.end(), [](const auto& member) { return member.in_group; });
    return {short_name(group.name),  short_name(group.topic),         std::string(to_string(group.state)),
            std::to_string(members), short_count(rates.lag),          trend(rates.lag_per_s),
            short_time(time),        short_rate(rates.records_per_s), short_rate(rates.commits_per_s)};
}

Table groups_table(const Looks& looks, TopSort sort) {
    Table table({"<GROUP", "<TOPIC", "<STATE", "MEM", "LAG", "TREND", "BEHIND", "RECORDS/s", "COMMITS/s"});
    for (const GroupRates& rates : sorted(group_rates(looks.before, looks.now), sort))
        table.add(group_row(rates));
    return table;
}

std::vector<std::string> queue_row(const QueueRates& rates) {
    const QueueStats& queue = *rates.queue;
    if (!queue.error.empty())
        return {short_name(queue.name), short_name(queue.topic), "-", "unreadable", "-", "-", "-", "-", "-", "-"};
    const QueueTotals totals = totals_of(queue);
    return {short_name(queue.name),
            short_name(queue.topic),
            std::to_string(queue.workers.size()),
            short_count(rates.lag),
            trend(rates.lag_per_s),
            short_count(totals.delayed),
            short_count(totals.acquired),
            short_count(totals.ending),
            short_rate(rates.records_per_s),
            short_rate(rates.redelivered_per_s)};
}

Table queues_table(const Looks& looks, TopSort sort) {
    Table table(
        {"<QUEUE", "<TOPIC", "WORKERS", "LAG", "TREND", "DELAYED", "ACQUIRED", "ENDING", "RECORDS/s", "AGAIN/s"});
    for (const QueueRates& rates : sorted(queue_rates(looks.before, looks.now), sort))
        table.add(queue_row(rates));
    return table;
}

Table clients_table(const Looks& looks) {
    Table table({"<CLIENT", "<COMMAND", "<STATE", "SINCE", "PROD", "LEASES", "OPEN", "GATES", "MEM", "PARTS"});
    for (const ClientStats& client : looks.now.clients) {
        table.add({cut_to(name_of(client), kNameColumns), client.command.empty() ? "-" : printable(client.command),
                   state_of(client), age_of(client.since_ns, looks.now.taken_ns), std::to_string(client.producers),
                   std::to_string(client.leases), std::to_string(client.open_tickets), std::to_string(client.gates),
                   std::to_string(client.member_slots), std::to_string(client.group_partitions)});
    }
    return table;
}

std::vector<std::string> help_lines() {
    return {"Keys",
            "",
            "  t  topics: rates over the last interval, records in the log, the lag of the",
            "     group that is furthest behind and its trend, groups, producers, open",
            "     tickets, cells in quarantine",
            "  p  partitions: the same of each, and gap events of its readers",
            "  g  groups: state, members, lag, trend, age of the oldest unread record,",
            "     records and commits per second",
            "  w  work queues: workers, lag, trend, records that wait for their time, that",
            "     workers hold, that go to the dead letters; finished and handed out again",
            "     per second",
            "  c  clients: who is attached, and what each holds",
            "  s  sorts by rate, lag, name",
            "  arrows, Page Up, Page Down, Home, End  scroll",
            "  space  looks now",
            "  ?  this help",
            "  q  ends",
            "",
            "Bytes per second are those of the newest records times their number.",
            "'ringmain doctor' explains stalls, and says what to do about them."};
}

std::vector<std::string> table_lines(const Looks& looks, const TopState& state) {
    switch (state.view) {
        case TopView::topics:
            return topics_table(looks, state.sort).lines();
        case TopView::partitions:
            return partitions_table(looks, state.sort).lines();
        case TopView::groups:
            return groups_table(looks, state.sort).lines();
        case TopView::queues:
            return queues_table(looks, state.sort).lines();
        case TopView::clients:
            return clients_table(looks).lines();
        case TopView::help:
            break;
    }
    return help_lines();
}

std::string first_line(const BrokerStats& now) {
    const std::string free =
        now.file_system.free_bytes ? short_bytes(*now.file_system.free_bytes) + " free" : "free space not known";
    return fmt::format("{}  {}, {}  keeper {}", now.directory, now.file_system.type, free, describe_keeper(now.keeper));
}

std::string second_line(const Looks& looks) {
    double records = 0;
    double bytes = 0;
    for (const TopicRates& rates : topic_rates(looks.before, looks.now)) {
        records += rates.records_per_s;
        bytes += rates.bytes_per_s;
    }
    return fmt::format("topics {} ({})  clients {}  {} records, {}/s", looks.now.topics.size(),
                       short_bytes(looks.now.topics_bytes), looks.now.clients.size(), short_rate(records),
                       short_bytes(static_cast<std::uint64_t>(bytes)));
}

std::string third_line(const Looks& looks) {
    const std::vector<std::string> all = stalls(looks.before, looks.now);
    if (all.empty())
        return "no stalls";
    const std::string others = all.size() > 1 ? fmt::format("{} stalls, e.g. ", all.size()) : "stall: ";
    return others + all.front();
}

std::string foot(const TopState& state, std::size_t hidden) {
    const std::string more = hidden != 0 ? fmt::format("  {} more", hidden) : "";  // all of it fits 80 columns
    return fmt::format("t topics p parts g groups w queues c clients s sort: {} ? help q quit{}", to_string(state.sort),
                       more);
}

}  // namespace

std::string_view to_string(TopSort sort) noexcept {
    switch (sort) {
        case TopSort::rate:
            return "rate";
        case TopSort::lag:
            return "lag";
        case TopSort::name:
            return "name";
    }
    return "unknown";
}

std::size_t table_rows(ScreenSize size) noexcept {
    return size.rows > kHeadRows + kFootRows ? size.rows - kHeadRows - kFootRows : 0;
}

std::size_t scroll_max(const BrokerStats& before, const BrokerStats& now, ScreenSize size, const TopState& state) {
    const std::size_t rows = table_lines({before, now}, state).size() - 1;
    return rows - std::min(rows, table_rows(size));
}

std::vector<TopLine> draw(const BrokerStats& before, const BrokerStats& now, ScreenSize size, const TopState& state) {
    const Looks looks{before, now};
    const std::vector<std::string> table = table_lines(looks, state);
    const std::size_t room = table_rows(size);
    const std::size_t rows = table.size() - 1;
    const std::size_t from = std::min(state.scroll, rows - std::min(rows, room));
    const std::size_t shown = std::min(room, rows - from);
    std::vector<TopLine> lines{
        {first_line(now)}, {second_line(looks)}, {third_line(looks)}, {table.front(), state.view != TopView::help}};
    for (std::size_t i = 0; i < shown; ++i)
        lines.push_back({table[1 + from + i]});
    const std::size_t above_foot = size.rows - std::min(size.rows, kFootRows);
    lines.resize(std::min(lines.size(), above_foot));
    lines.resize(above_foot);
    if (size.rows != 0)
        lines.push_back({foot(state, rows - from - shown)});
    for (TopLine& line : lines)
        line.text = cut_to(line.text, size.columns);
    return lines;
}

std::string frame_to_text(const BrokerStats& before, const BrokerStats& now, TopSort sort) {
    const Looks looks{before, now};
    std::string text = first_line(now) + "\n" + second_line(looks) + "\n";
    for (const std::string& stall : stalls(before, now))
        text.append("stall: ").append(stall).append("\n");
    for (const Table& table : {topics_table(looks, sort), partitions_table(looks, sort), groups_table(looks, sort),
                               queues_table(looks, sort), clients_table(looks)}) {
        if (!table.empty())
            text.append("\n").append(table.text());
    }
    return text;
}

}  // namespace ringmain::cli
