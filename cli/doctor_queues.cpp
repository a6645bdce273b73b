// Queues: nobody there, a stopped worker that holds records, losses, dead letters that find no room, a window that is full.
#include <fmt/format.h>

#include <algorithm>

#include "doctor_examination.hpp"
#include "figures.hpp"
#include "group_report.hpp"
#include "numbers.hpp"
#include "queue_report.hpp"

namespace ringmain::cli {

namespace {

std::string queue_object(const QueueDescription& queue) {
    return fmt::format("queue '{}' of topic '{}'", printable(queue.name), queue.topic);
}

std::string queue_arguments(const QueueDescription& queue) {
    return fmt::format("{} -t {}", shell_word(queue.name), shell_word(queue.topic));
}

/// Partitions that a figure is about.
template <class Figure>
std::vector<std::uint32_t> partitions_with(const QueueDescription& queue, const Figure& figure) {
    std::vector<std::uint32_t> partitions;
    for (const QueuePartitionDescription& partition : queue.partitions) {
        if (figure(partition) != 0)
            partitions.push_back(partition.lag.partition);
    }
    return partitions;
}

void examine_absence(const BrokerStats& stats, const TopicStats& topic, const QueueDescription& queue, Findings& findings) {
    const QueueTotals totals = totals_of(queue);
    const std::uint64_t open = totals.records - std::min(totals.records, totals.finished);
    if (!queue.workers.empty() || open == 0)
        return;
    const bool holds = queue.options.gating && topic.description.options.when_full == WhenFull::block;
    Finding& finding = findings.emplace_back(make_finding(
        "queue-without-workers", queue_object(queue),
        fmt::format("has {} to be handled, and no workers{}: start them, or delete the queue if nobody needs it", counted(open, "record"),
                    holds ? "; producers wait for it once the topic is full" : "")));
    finding.command = ringmain_command(stats, "queue delete " + queue_arguments(queue));
}

void examine_stopped_worker(const BrokerStats& stats, const QueueDescription& queue, const WorkerDescription& worker, Findings& findings) {
    const ClientStats* const client = worker.client ? find_client(stats, *worker.client) : nullptr;
    if (worker.in_flight == 0 || client == nullptr || client->process != ProcessState::stopped)
        return;
    Finding& finding = findings.emplace_back(make_finding(
        "worker-stopped", describe_client(*client),
        fmt::format("is stopped by a signal or a debugger, and holds {} of {}; others get them when their locks run out (lock time: {})",
                    counted(worker.in_flight, "record"), queue_object(queue), short_time(queue.options.lock_time))));
    finding.since_ns = 0;
    finding.command = fmt::format("kill -CONT {}", client->client.pid);
}

void examine_losses(const BrokerStats& stats, const QueueDescription& queue, Findings& findings) {
    const std::uint64_t lost = totals_of(queue).lost;
    if (lost == 0)
        return;
    Finding& finding = findings.emplace_back(make_finding(
        "queue-lost", queue_object(queue),
        fmt::format("lost {} in partitions {}, which went before they were finished: more workers, a topic that holds more, or one that "
                    "blocks and a queue that gates",
                    counted(lost, "record"), fmt::join(partitions_with(queue, [](const auto& partition) { return lost_of(partition); }), " "))));
    finding.command = ringmain_command(stats, "queue describe " + queue_arguments(queue));
    finding.mends = false;
}

/// Also before a record waits for it: none can end.
void examine_link(const BrokerStats& stats, const QueueDescription& queue, Findings& findings) {
    if (!queue.dead_letters_gone)
        return;
    Finding& finding = findings.emplace_back(make_finding(
        "letters-gone", queue_object(queue),
        fmt::format("sends its dead letters to topic '{}', which was deleted, or is another one by now; waiting for one: {}. End its workers, "
                    "link it to the topic of that name, which is created if it is not there, and start them again",
                    queue.dead_letter_topic, counted(totals_of(queue).ending, "record"))));
    finding.command = ringmain_command(stats, fmt::format("dlq relink {} --group {}", shell_word(queue.topic), shell_word(queue.name)));
}

/// Only while records wait for it: what was refused and has found room since is no finding.
void examine_letters(const BrokerStats& stats, const QueueDescription& queue, Findings& findings) {
    const QueueTotals totals = totals_of(queue);
    if (totals.letters_refused == 0 || totals.ending == 0 || queue.dead_letters_gone)
        return;
    Finding& finding = findings.emplace_back(make_finding(
        "letters-refused", queue_object(queue),
        fmt::format("has {} waiting for room in the dead-letter topic '{}', which is full or refuses",
                    counted(totals.ending, "record"), queue.dead_letter_topic)));
    finding.command = ringmain_command(stats, "dlq list " + shell_word(queue.dead_letter_topic));
    finding.mends = false;
}

void examine_window(const BrokerStats& stats, const QueueDescription& queue, Findings& findings) {
    for (const QueuePartitionDescription& partition : queue.partitions) {
        if (partition.beyond_window == 0 || partition.available != 0)
            continue;
        const std::string holder = partition.oldest_holder ? fmt::format("worker {}", *partition.oldest_holder) : "its back-off or delay";
        Finding& finding = findings.emplace_back(make_finding(
            "window-full", fmt::format("{}, partition {}", queue_object(queue), partition.lag.partition),
            fmt::format("has a window of {}, which is full: {} wait behind offset {}, which is with {}",
                        counted(queue.options.window, "offset"), counted(partition.beyond_window, "record"),
                        partition.oldest_offset.value_or(partition.lag.position), holder)));
        finding.command = ringmain_command(stats, "queue workers " + queue_arguments(queue));
        finding.mends = false;
    }
}

}  // namespace

void examine_queues(const Examined& examined, Findings& findings) {
    const BrokerStats& stats = examined.stats;
    for (const TopicStats& topic : stats.topics) {
        for (const QueueStats& queue : topic.queues) {
            if (!queue.error.empty())
                continue;  // that is found by itself
            examine_absence(stats, topic, queue, findings);
            examine_losses(stats, queue, findings);
            examine_link(stats, queue, findings);
            examine_letters(stats, queue, findings);
            examine_window(stats, queue, findings);
            for (const WorkerDescription& worker : queue.workers)
                examine_stopped_worker(stats, queue, worker, findings);
        }
    }
}

}  // namespace ringmain::cli
