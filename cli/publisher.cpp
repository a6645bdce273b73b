// Publishing in batches.
#include "publisher.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "errors.hpp"
#include "holder_text.hpp"
#include "numbers.hpp"
#include "signals.hpp"
#include "status_text.hpp"

namespace ringmain::cli {

namespace {

std::string to_text(const Origin& origin) {
    return origin.line == 0 ? std::string(origin.source) : fmt::format("line {} of {}", origin.line, origin.source);
}

std::size_t size_of(const OptionalBytes& bytes) noexcept { return bytes ? bytes->size() : 0; }

/// Names and values; what the topic adds to store them is not known here.
std::size_t header_bytes(const ProducerRecord& record) noexcept {
    std::size_t bytes = 0;
    for (const Header& header : record.headers)
        bytes += header.name.size() + size_of(header.value);
    return bytes;
}

std::string too_large_text(const Producer& producer, const ProducerRecord& record) {
    return fmt::format(
        "record of {} bytes (key {}, value {}, headers {}) is over the largest record of topic '{}', {} bytes",
        size_of(record.key) + size_of(record.value) + header_bytes(record), size_of(record.key), size_of(record.value),
        header_bytes(record), producer.topic(), producer.record_bytes_max());
}

}  // namespace

Publisher::Publisher(const Broker& broker, Producer& producer) : broker_(broker), producer_(producer) {}

void Publisher::add(const ProducerRecord& record, const Origin& origin) {
    check_size(record, origin);
    records_.push_back(record);
    origins_.push_back(origin);
    if (records_.size() >= producer_.batch_records_max())
        publish();
}

void Publisher::check_size(const ProducerRecord& record, const Origin& origin) {
    std::string problem;
    if (size_of(record.key) > kKeyBytesMax) {
        problem = fmt::format("key of {} bytes is over the largest key, {} bytes", record.key->size(), kKeyBytesMax);
    } else if (size_of(record.key) + size_of(record.value) + header_bytes(record) > producer_.record_bytes_max()) {
        problem = too_large_text(producer_, record);
    }
    if (problem.empty())
        return;
    publish();
    throw CommandError(fmt::format("{}: {}", to_text(origin), problem));
}

void Publisher::refuse_large(const Origin& origin, std::uint64_t bytes) {
    publish();
    throw CommandError(fmt::format("{}: {} bytes are over the largest record of topic '{}', {} bytes", to_text(origin),
                                   bytes, producer_.topic(), producer_.record_bytes_max()));
}

void Publisher::publish() {
    std::size_t attempted_max = records_.size();
    while (!records_.empty()) {
        const std::size_t attempted = std::min(attempted_max, records_.size());
        results_.assign(attempted, PublishResult{});
        const BatchResult result = producer_.publish_batch(std::span(records_).first(attempted), results_);
        published_ += result.published;
        drop_done(attempted);
        if (result.status == Status::ok || result.status == Status::duplicate) {
            has_told_to_wait_ = false;
            continue;
        }
        const std::size_t stopped_by = find_result(result.status);
        if (result.status == Status::would_block) {
            wait_for_room(results_[stopped_by].partition);
        } else if (result.published == 0 && stopped_by > 0) {
            attempted_max = stopped_by;  // what comes before it is good
        } else {
            refuse(stopped_by);
        }
    }
}

/// The first of the records that are left whose answer is `status`.
std::size_t Publisher::find_result(Status status) const noexcept {
    const auto found = std::find_if(results_.begin(), results_.end(),
                                    [status](const PublishResult& result) { return result.status == status; });
    return static_cast<std::size_t>(found - results_.begin());
}

void Publisher::drop_done(std::size_t attempted) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < records_.size(); ++i) {
        const bool duplicate = i < attempted && results_[i].status == Status::duplicate;
        duplicates_ += duplicate ? 1 : 0;
        if (duplicate || (i < attempted && results_[i].status == Status::ok))
            continue;
        if (i < attempted)
            results_[kept] = results_[i];
        records_[kept] = records_[i];
        origins_[kept] = origins_[i];
        ++kept;
    }
    records_.resize(kept);
    origins_.resize(kept);
}

void Publisher::wait_for_room(std::uint32_t partition) {
    if (stop_requested()) {
        throw CommandError(fmt::format("stopped while topic '{}' was full: {} read but not published",
                                       producer_.topic(), counted(records_.size(), "record")));
    }
    if (has_told_to_wait_)
        return;
    has_told_to_wait_ = true;
    if (const std::optional<GateDescription> gate = producer_.blocking_gate(partition)) {
        note("topic '{}' partition {} is full: waiting for {} to move on from offset {}", producer_.topic(), partition,
             describe_gate(broker_, producer_.topic(), partition, *gate), gate->offset);
    } else {
        note("topic '{}' partition {} is full: waiting for room", producer_.topic(), partition);
    }
}

void Publisher::refuse(std::size_t index) const {
    const Status status = results_[index].status;
    if (status == Status::cannot_attach || status == Status::corrupt)
        producer_.attach(results_[index].partition);  // throws with the reason, unless it was attached before
    const std::string reason =
        status == Status::too_large ? too_large_text(producer_, records_[index]) : explain(status);
    throw CommandError(fmt::format("{}: {}", to_text(origins_[index]), reason));
}

}  // namespace ringmain::cli
