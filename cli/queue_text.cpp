// Work queues as text.
#include <fmt/format.h>

#include <iterator>

#include "durations.hpp"
#include "figures.hpp"
#include "group_report.hpp"
#include "numbers.hpp"
#include "queue_report.hpp"
#include "retry_report.hpp"
#include "table.hpp"
#include "times.hpp"

namespace ringmain::cli {

namespace {

template <class... Args>
void add(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
}

std::string number(std::uint64_t value) { return std::to_string(value); }
std::string time_or_dash(std::int64_t ns) { return ns != 0 ? format_time_ns(ns) : "-"; }

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

std::string client_of(const WorkerDescription& worker) { return worker.client ? to_string(*worker.client) : "a client that is gone"; }

/// When something is due, from now.
std::string due(std::chrono::milliseconds in) {
    if (in.count() > 0)
        return "in " + short_time(in);
    return short_time(-in) + " ago";
}

/// The oldest record that is not finished and was handed out, and why it is not.
std::string oldest_of(const QueuePartitionDescription& partition) {
    if (!partition.oldest_offset)
        return "-";
    std::string text = fmt::format("{}, delivery {}", *partition.oldest_offset, partition.oldest_deliveries);
    if (partition.oldest_holder)
        add(text, ", worker {}", *partition.oldest_holder);
    if (partition.oldest_due)
        add(text, ", {} {}", partition.oldest_holder ? "lock over" : "due", due(*partition.oldest_due));
    return text;
}

Table worker_table() {
    return Table({"<TOPIC", "<QUEUE", "WORKER", "<CLIENT", "<SINCE", "IN-FLIGHT", "MAX-IN-FLIGHT", "ACQUIRED", "ACKED", "NACKED", "RELEASED", "REJECTED",
                  "RENEWED", "REFUSED"});
}

void add_workers(Table& table, const QueueDescription& queue) {
    for (const WorkerDescription& worker : queue.workers) {
        table.add({queue.topic, printable(queue.name), number(worker.slot), client_of(worker), time_or_dash(worker.since_ns),
                   number(worker.in_flight), number(worker.max_in_flight), number(worker.acquired), number(worker.acked),
                   number(worker.nacked), number(worker.released), number(worker.rejected), number(worker.renewed), number(worker.refused)});
    }
}

std::string states_to_text(const QueueDescription& queue) {
    Table table({"PARTITION", "COMMITTED", "LAG", "AVAILABLE", "DELAYED", "ACQUIRED", "LOCK-OVER", "ENDING", "FINISHED", "BEYOND-WINDOW", "GATES",
                 "<OLDEST-UNFINISHED"});
    for (const QueuePartitionDescription& partition : queue.partitions) {
        const bool known = !partition.lag.damaged;
        const auto figure = [&](std::uint64_t value) { return known ? number(value) : std::string("damaged"); };
        table.add({number(partition.lag.partition), number(partition.lag.position), figure(partition.lag.records), figure(partition.available),
                   figure(partition.delayed), figure(partition.acquired), figure(partition.lock_over), figure(partition.ending),
                   figure(partition.finished), figure(partition.beyond_window), partition.gates ? "yes" : "no", oldest_of(partition)});
    }
    return table.text();
}

std::string counts_to_text(const QueueDescription& queue) {
    Table table({"PARTITION", "GENERATION", "EXPIRED", "RETURNED", "REDELIVERED", "DEAD-LETTERED", "SKIPPED", "LOST", "LETTERS-REFUSED"});
    for (const QueuePartitionDescription& partition : queue.partitions) {
        table.add({number(partition.lag.partition), number(partition.generation), number(partition.expired), number(partition.returned),
                   number(partition.redelivered), number(partition.dead_lettered), number(partition.skipped), number(lost_of(partition)),
                   number(partition.letters_refused)});
    }
    return table.text();
}

}  // namespace

std::string queues_to_text(const std::vector<QueueSummary>& queues) {
    Table table({"<TOPIC", "<QUEUE", "WORKERS", "LAG", "ACQUIRED", "DELAYED", "DEAD-LETTERED", "LOST"});
    for (const QueueSummary& queue : queues) {
        table.add({queue.topic, printable(queue.name), number(queue.workers), number(queue.records), number(queue.acquired),
                   number(queue.delayed), number(queue.dead_lettered), number(queue.lost)});
    }
    return table.text();
}

std::string queue_options_to_text(const QueueDescription& queue) {
    const QueueOptions& options = queue.options;
    std::string text;
    add(text, "queue             {}\n", printable(queue.name));
    add(text, "topic             {}\n", queue.topic);
    add(text, "start             {}\n", start_of(options.start));
    add(text, "gating            {}\n", options.gating ? "yes" : "no");
    add(text, "lock time         {}\n", format_duration(options.lock_time));
    add(text, "delivery limit    {}\n", options.delivery_limit == 0 ? "none" : fmt::format("{}", options.delivery_limit));
    add(text, "back-off          {}\n", backoff_to_text(options.backoff));
    add(text, "exhausted         {}\n", exhausted_to_text(options.exhausted, queue.dead_letter_topic, queue.dead_letters_gone));
    add(text, "expired           {}\n", exhausted_to_text(options.expired, queue.dead_letter_topic, queue.dead_letters_gone));
    add(text, "max in flight     {}\n", options.max_in_flight == 0 ? "no limit" : counted(options.max_in_flight, "record"));
    add(text, "window            {}\n", counted(options.window, "offset"));
    return text;
}

std::string queue_to_text(const QueueDescription& queue) {
    std::string text = queue_options_to_text(queue) + "\n" + states_to_text(queue) + "\n" + counts_to_text(queue);
    if (!queue.workers.empty())
        text.append("\n").append(workers_to_text({queue}));
    return text;
}

std::string workers_to_text(const std::vector<QueueDescription>& queues) {
    Table table = worker_table();
    for (const QueueDescription& queue : queues)
        add_workers(table, queue);
    return table.text();
}

}  // namespace ringmain::cli
