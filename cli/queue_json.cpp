// Work queues as JSON. Names of members are those of the public API.
#include "group_report.hpp"
#include "json_values.hpp"
#include "queue_report.hpp"
#include "retry_report.hpp"

namespace ringmain::cli {

namespace {

using Json = nlohmann::ordered_json;

Json options_to_json(const QueueDescription& queue) {
    const QueueOptions& options = queue.options;
    return {{"start", start_to_json(options.start)},
            {"gating", options.gating},
            {"lock_time_ms", options.lock_time.count()},
            {"delivery_limit", number_or_null(options.delivery_limit)},
            {"backoff", backoff_to_json(options.backoff)},
            {"exhausted", to_string(options.exhausted)},
            {"expired", to_string(options.expired)},
            {"dead_letter_topic", text_or_null(queue.dead_letter_topic)},
            {"dead_letters_gone", queue.dead_letters_gone},
            {"max_in_flight", number_or_null(options.max_in_flight)},
            {"window", options.window}};
}

Json worker_to_json(const WorkerDescription& worker) {
    return {{"slot", worker.slot},
            {"client", client_to_json(worker.client)},
            {"in_flight", worker.in_flight},
            {"max_in_flight", worker.max_in_flight},
            {"since_ns", number_or_null(worker.since_ns)},
            {"acquired", worker.acquired},
            {"acked", worker.acked},
            {"nacked", worker.nacked},
            {"released", worker.released},
            {"rejected", worker.rejected},
            {"renewed", worker.renewed},
            {"refused", worker.refused}};
}

Json oldest_to_json(const QueuePartitionDescription& partition) {
    if (!partition.oldest_offset)
        return nullptr;
    return {{"offset", *partition.oldest_offset},
            {"worker", or_null(partition.oldest_holder)},
            {"deliveries", partition.oldest_deliveries},
            {"due_ms", ms_or_null(partition.oldest_due)}};
}

Json partition_to_json(const QueuePartitionDescription& partition) {
    const GroupLag& lag = partition.lag;
    return {{"partition", lag.partition},
            {"committed", or_null(lag.committed)},
            {"position", lag.position},
            {"start", lag.log_start},
            {"end", lag.log_end},
            {"lag", lag.records},
            {"lag_bytes", or_null(lag.bytes)},
            {"lag_bytes_estimated", lag.bytes_estimated},
            {"lag_ms", ms_or_null(lag.time)},
            {"damaged", lag.damaged},
            {"generation", partition.generation},
            {"gates", partition.gates},
            {"available", partition.available},
            {"delayed", partition.delayed},
            {"acquired", partition.acquired},
            {"lock_over", partition.lock_over},
            {"ending", partition.ending},
            {"finished", partition.finished},
            {"beyond_window", partition.beyond_window},
            {"expired", partition.expired},
            {"returned", partition.returned},
            {"redelivered", partition.redelivered},
            {"dead_lettered", partition.dead_lettered},
            {"skipped", partition.skipped},
            {"lost", lost_of(partition)},
            {"letters_refused", partition.letters_refused},
            {"oldest", oldest_to_json(partition)}};
}

}  // namespace

std::uint64_t lost_of(const QueuePartitionDescription& partition) noexcept { return partition.lost + partition.lag.lost; }

QueueTotals totals_of(const QueueDescription& queue) {
    QueueTotals totals;
    for (const QueuePartitionDescription& partition : queue.partitions) {
        totals.records += partition.lag.records;
        totals.available += partition.available;
        totals.delayed += partition.delayed;
        totals.acquired += partition.acquired;
        totals.lock_over += partition.lock_over;
        totals.ending += partition.ending;
        totals.finished += partition.finished;
        totals.beyond_window += partition.beyond_window;
        totals.expired += partition.expired;
        totals.returned += partition.returned;
        totals.redelivered += partition.redelivered;
        totals.dead_lettered += partition.dead_lettered;
        totals.skipped += partition.skipped;
        totals.lost += lost_of(partition);
        totals.letters_refused += partition.letters_refused;
    }
    return totals;
}

Json queue_to_json(const QueueDescription& queue) {
    Json json = {{"topic", queue.topic}, {"queue", queue.name}};
    json.update(options_to_json(queue));
    json["workers"] = Json::array();
    for (const WorkerDescription& worker : queue.workers)
        json["workers"].push_back(worker_to_json(worker));
    json["partitions"] = Json::array();
    for (const QueuePartitionDescription& partition : queue.partitions)
        json["partitions"].push_back(partition_to_json(partition));
    return json;
}

std::string queues_to_json(const std::vector<QueueSummary>& queues) {
    Json array = Json::array();
    for (const QueueSummary& queue : queues) {
        array.push_back({{"topic", queue.topic},
                         {"queue", queue.name},
                         {"workers", queue.workers},
                         {"lag", queue.records},
                         {"acquired", queue.acquired},
                         {"delayed", queue.delayed},
                         {"dead_lettered", queue.dead_lettered},
                         {"lost", queue.lost}});
    }
    return line(array);
}

std::string queues_to_json(const std::vector<QueueDescription>& queues) {
    Json array = Json::array();
    for (const QueueDescription& queue : queues)
        array.push_back(queue_to_json(queue));
    return line(array);
}

std::string workers_to_json(const std::vector<QueueDescription>& queues) {
    Json array = Json::array();
    for (const QueueDescription& queue : queues) {
        for (const WorkerDescription& worker : queue.workers) {
            Json json = {{"topic", queue.topic}, {"queue", queue.name}};
            json.update(worker_to_json(worker));
            array.push_back(std::move(json));
        }
    }
    return line(array);
}

}  // namespace ringmain::cli
