// Temporary topics and the content of measured records.
#include "perf_parts.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "errors.hpp"
#include "perf_run.hpp"

namespace ringmain::cli::perf {

namespace {

constexpr std::uint64_t kExtentsPerSlot = 2;
constexpr std::uint64_t kRecordsPerExtent = 4;
constexpr std::uint64_t kInlineOverhead = 24;

}  // namespace

TopicOptions topic_options(const Plan& plan, std::uint32_t partitions) {
    TopicOptions options;
    options.partitions = partitions;
    options.cell_bytes = plan.cell_bytes;
    options.when_full = plan.when_full;
    options.producer_slots = std::max(options.producer_slots, std::bit_ceil(plan.producers));
    if (plan.size + kInlineOverhead <= plan.cell_bytes)
        return options;
    while (options.producer_slots > std::bit_ceil(plan.producers) && plan.size * kRecordsPerExtent > (1U << 18)) {
        options.producer_slots /= 2;  // large records: rather fewer and larger extents than more memory
    }
    const std::uint64_t extent_bytes = std::bit_ceil(plan.size * kRecordsPerExtent);
    options.payload_bytes = std::max(options.payload_bytes, extent_bytes * kExtentsPerSlot * options.producer_slots);
    return options;
}

TemporaryTopic::TemporaryTopic(const Plan& plan, const std::string& purpose, std::uint32_t partitions)
    : broker_(plan.broker),
      name_(fmt::format("perf-{}-{}", purpose, ::getpid())),
      guardian_([this] { Broker(broker_.directory()).delete_topic(name_); }) {
    const TopicDescription topic = broker_.create_topic(name_, topic_options(plan, partitions));
    if (plan.size <= topic.record_bytes_max)
        return;
    broker_.delete_topic(name_);
    throw CommandError(
        fmt::format("--size: records of {} bytes do not fit a topic (at most {})", plan.size, topic.record_bytes_max));
}

TemporaryTopic::~TemporaryTopic() {
    try {
        broker_.delete_topic(name_);
    } catch (const Error& error) {
        note("{}", error.what());
    }
}

void expect_ok(Status status, const char* what) {
    if (status != Status::ok)
        throw CommandError(fmt::format("{}: {}", what, to_string(status)));
}

Stamp read_stamp(const ConsumerRecord& record, std::uint64_t size) {
    if (!record.value || record.value->size() != size)
        throw CommandError("perf: a record arrived with another size");
    Stamp stamp;
    std::uint64_t again = 0;
    std::memcpy(&stamp.ticks, record.value->data(), sizeof stamp.ticks);
    std::memcpy(&stamp.number, record.value->data() + 8, sizeof stamp.number);
    std::memcpy(&again, record.value->data() + size - 8, sizeof again);
    if (again != stamp.number)
        throw CommandError(fmt::format("perf: the record at offset {} arrived torn", record.offset));
    return stamp;
}

}  // namespace ringmain::cli::perf
