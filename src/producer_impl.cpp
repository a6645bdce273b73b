// Publishing single records and batches: choosing the partition, attaching to it, waiting for room.
#include "producer_impl.hpp"

#include <algorithm>
#include <string>

#include "error_about.hpp"
#include "platform/clock.hpp"
#include "record_encoding.hpp"
#include "ringmain/partitioner.hpp"
#include "topic_geometry.hpp"

namespace ringmain {

namespace {

/// What a data-path call answers when attaching to a partition fails.
Status status_of(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::topic_deleted: return Status::topic_deleted;
        case ErrorCode::corrupt: return Status::corrupt;
        default: return Status::cannot_attach;
    }
}

}  // namespace

Producer::Impl::Impl(std::shared_ptr<Broker::Impl> broker, std::string_view topic, const ProducerOptions& options)
    : broker_(std::move(broker)), fork_guard_(broker_->fork_guard()), topic_(broker_->open_topic(topic)), options_(options) {
    const layout::PartitionGeometry geometry = geometry_for(topic_->options());
    record_bytes_max_ = ringmain::record_bytes_max(geometry);
    batch_records_max_ = geometry.batch_records_max;
    partitions_ = topic_->options().partitions;
    producers_.resize(partitions_);
    if (options.name.size() > producer_name_bytes_max) {
        throw error_about(ErrorCode::invalid_argument, "topic '" + topic_->name() + "'",
                    "cannot have a producer name of " + std::to_string(options.name.size()) + " bytes; the longest has " +
                        std::to_string(producer_name_bytes_max));
    }
    if (!options.name.empty()) {
        named_producers_.resize(partitions_);
        producer_id_ = producer_id(options.name);
    }
    if (partitions_ == 1) attach(0);  // one partition: what is wrong is said now
}

PartitionProducer& Producer::Impl::attach(std::uint32_t partition) {
    if (fork_guard_.forked()) {
        throw error_about(ErrorCode::forked, "producer of topic '" + topic_->name() + "'", "was inherited through fork(); open one of your own");
    }
    if (partition >= producers_.size()) {
        throw error_about(ErrorCode::invalid_argument, "topic '" + topic_->name() + "'",
                    "has no partition " + std::to_string(partition) + "; it has 0.." + std::to_string(producers_.size() - 1));
    }
    if (topic_->deleted()) throw error_about(ErrorCode::topic_deleted, "topic '" + topic_->name() + "'", "was deleted");
    auto& producer = attachment(partition);
    if (producer && producer->gone() && producer->why() == Status::topic_deleted) {
        throw error_about(ErrorCode::topic_deleted, "topic '" + topic_->name() + "'", "was deleted");
    }
    const bool lent = loan_.outstanding && loan_.producer == producer.get();
    if (producer && producer->gone() && !lent) {  // damaged: what can be used by now is at its path, if anything
        const platform::Mapping now = topic_->map_partition(partition, platform::Access::read_write);
        if (!producer->revive(now)) producer.reset();
    }
    if (!producer) producer = std::make_unique<PartitionProducer>(broker_, topic_, partition, options_.exclusive, options_.name);
    return *producer;
}

std::uint64_t Producer::Impl::last_sequence(std::uint32_t partition) {
    if (!named()) throw error_about(ErrorCode::invalid_argument, "producer of topic '" + topic_->name() + "'", "has no name, and so no sequence");
    for (;;) {
        const PartitionProducer& producer = attach(partition);
        const std::uint64_t last = producer.last_sequence();
        if (!producer.gone()) return last;  // else attaching says why, or opens what is there by now
    }
}

Status Producer::Impl::entry_status() const noexcept {
    return fork_guard_.forked() ? Status::forked : Status::ok;
}

PartitionProducer* Producer::Impl::attach_now(std::uint32_t partition, Status& status) noexcept {
    try {
        PartitionProducer& producer = attach(partition);
        if (!producer.gone()) return &producer;
        status = producer.why();
    } catch (const Error& error) {
        status = status_of(error.code());
    } catch (...) {
        status = Status::cannot_attach;
    }
    return nullptr;
}

std::uint32_t Producer::Impl::next_round_robin() noexcept {
    const std::uint32_t chosen = round_robin_;
    round_robin_ = chosen + 1 < producers_.size() ? chosen + 1 : 0;
    return chosen;
}

std::uint32_t Producer::Impl::next_sound() noexcept {
    std::uint32_t chosen = 0;
    for (std::uint32_t tries = 0; tries < partitions_; ++tries) {
        chosen = next_round_robin();
        Status status = Status::ok;
        if (attached(chosen, status) != nullptr || status != Status::corrupt) break;
    }
    return chosen;
}

std::int64_t Producer::Impl::clock_ns() const noexcept {
    return options_.clock == ProducerClock::coarse ? platform::realtime_coarse_ns() : platform::realtime_ns();
}

Status Producer::Impl::encode(const ProducerRecord& record, std::vector<std::byte>& headers,
                              partition_log::RecordParts& parts) const noexcept {
    if (!sound_sequence(record)) return Status::invalid;
    std::uint64_t headers_bytes = 0;
    if (!record.headers.empty()) {
        const auto bytes = encoded_headers_bytes(record.headers);
        if (!bytes) return Status::invalid;
        if (*bytes > record_bytes_max_) return Status::too_large;
        headers_bytes = *bytes;
    }
    headers.resize(headers_bytes + (named() ? layout::kStampBytes : 0));
    encode_headers(record.headers, headers.data());
    const Status status = take_apart(record, headers.data(), headers_bytes, record_bytes_max_, parts);
    if (status != Status::ok || !named()) return status;
    write_stamp(headers.data() + headers_bytes, {producer_id_, record.sequence});
    return add_stamp(headers.data(), record_bytes_max_, parts);
}

PublishResult Producer::Impl::publish(const ProducerRecord& record, Wait wait) noexcept {
    const UseScope scope(use_);
    if (!scope.entered()) [[unlikely]] return {Status::misuse};
    if (fork_guard_.forked()) [[unlikely]] return {Status::forked};
    const std::uint32_t partition = choose_partition(record);
    if (!exists(partition)) [[unlikely]] return {Status::invalid};
    PartitionProducer* const producer = producers_[partition].get();
    if (producer == nullptr || producer->gone() || (record.headers.size() | record.sequence) != 0) [[unlikely]] return publish_slowly(record, partition, wait);
    partition_log::RecordParts parts;
    const Status status = take_apart(record, nullptr, 0, record_bytes_max_, parts);
    if (status != Status::ok) [[unlikely]] return {status, partition};
    parts.timestamp_ns = timestamp_of(record);
    const partition_log::Published published = producer->publish(parts);
    if (published.status == Status::would_block) [[unlikely]] return publish_patiently(*producer, parts, partition, wait);
    return {published.status, partition, published.offset};
}

/// The first record to a partition, records with headers, and those of named producers.
PublishResult Producer::Impl::publish_slowly(const ProducerRecord& record, std::uint32_t partition, Wait wait) noexcept {
    Status status = Status::ok;
    PartitionProducer* producer = attached(partition, status);
    if (producer == nullptr && status == Status::corrupt && !record.partition && !record.key && !named()) {
        partition = next_sound();  // it may go anywhere
        producer = attached(partition, status = Status::ok);
    }
    if (producer == nullptr) return {status, partition};
    partition_log::RecordParts parts;
    status = encode(record, headers_, parts);
    if (status != Status::ok) return {status, partition};
    parts.timestamp_ns = timestamp_of(record);
    if (named()) return publish_named(*producer, parts, record.sequence, partition, wait);
    return publish_patiently(*producer, parts, partition, wait);
}

PublishResult Producer::Impl::publish_named(PartitionProducer& producer, const partition_log::RecordParts& parts,
                                            std::uint64_t sequence, std::uint32_t partition, Wait wait) noexcept {
    const auto published = persist(producer, wait, [&] { return producer.publish_named(parts, sequence); });
    return {published.status, partition, published.offset};
}

PublishResult Producer::Impl::publish_patiently(PartitionProducer& producer, partition_log::RecordParts parts,
                                                std::uint32_t partition, Wait wait) noexcept {
    const partition_log::Published published = persist(producer, wait, [&] { return producer.publish(parts); });
    return {published.status, partition, published.offset};
}

/// Everything that publish would refuse the record for, whatever is in the log. `parts` are complete but for headers.
Status Producer::Impl::check(const ProducerRecord& record, partition_log::RecordParts& parts) const noexcept {
    std::uint64_t headers_bytes = 0;
    if (!record.headers.empty()) {
        const auto bytes = encoded_headers_bytes(record.headers);
        if (!bytes) return Status::invalid;
        headers_bytes = *bytes;
    }
    const Status status = take_apart(record, nullptr, headers_bytes, record_bytes_max_, parts);
    if ((producer_id_ | record.sequence) != 0 && status == Status::ok) [[unlikely]] return check_stamp(record, parts);
    return status;
}

Status Producer::Impl::check_stamp(const ProducerRecord& record, partition_log::RecordParts parts) const noexcept {
    return sound_sequence(record) ? add_stamp(nullptr, record_bytes_max_, parts) : Status::invalid;
}

Status Producer::Impl::prepare_batch(std::span<const ProducerRecord> records, std::span<PublishResult> results) noexcept {
    batch_.partitions.resize(records.size());
    batch_.parts.resize(records.size());
    batch_.one_share = true;
    std::optional<std::uint32_t> null_key;
    std::optional<std::int64_t> now_ns;  // one reading for all
    Status refusal = Status::ok;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const ProducerRecord& record = records[i];
        const std::uint32_t partition = choose_partition(record, [&] {
            if (named()) return next_for_null_key(record);
            if (!null_key) null_key = next_sound();
            return *null_key;
        });
        partition_log::RecordParts& parts = batch_.parts[i];
        parts = {};
        const Status status = exists(partition) ? check(record, parts) : Status::invalid;
        if (!record.timestamp_ns && !now_ns) now_ns = clock_ns();
        parts.timestamp_ns = record.timestamp_ns ? *record.timestamp_ns : *now_ns;
        batch_.partitions[i] = partition;
        batch_.one_share &= partition == batch_.partitions[0] && record.headers.empty();
        if (refusal == Status::ok) refusal = status;
        if (!results.empty()) results[i] = {status == Status::ok ? Status::not_attempted : status, partition, 0};
    }
    return refusal;
}

/// Bytes that the headers of all records of the partition take, encoded. Requires records that were checked.
std::uint64_t Producer::Impl::share_headers_bytes(std::span<const ProducerRecord> records, std::uint32_t partition) const noexcept {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (records[i].headers.empty() || batch_.partitions[i] != partition) continue;
        total += encoded_headers_bytes(records[i].headers).value_or(0);
    }
    return total;
}

/// Collects the parts of all records of the partition; their headers stay together in one buffer. Requires records that
/// were checked.
void Producer::Impl::encode_share(std::span<const ProducerRecord> records, std::uint32_t partition) noexcept {
    batch_.indices.clear();
    batch_.share.clear();
    batch_.headers.resize(share_headers_bytes(records, partition));
    std::byte* headers_end = batch_.headers.data();
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (batch_.partitions[i] != partition) continue;
        batch_.partitions[i] = kTaken;
        batch_.indices.push_back(i);
        partition_log::RecordParts& parts = batch_.share.emplace_back(batch_.parts[i]);
        parts.headers = headers_end;
        if (!records[i].headers.empty()) headers_end = encode_headers(records[i].headers, headers_end);
    }
}

/// Publishes what goes to one partition. `batch_.offsets` has the offsets of as many as it says.
BatchResult Producer::Impl::publish_parts(std::span<const partition_log::RecordParts> parts, std::uint32_t partition, Wait wait) noexcept {
    Status status = Status::ok;
    PartitionProducer* const producer = attached(partition, status);
    if (producer == nullptr) return {status, 0};
    batch_.offsets.resize(parts.size());
    const std::span offsets(batch_.offsets);
    std::size_t done = 0;
    status = persist(*producer, wait, [&] {
                 const auto published = producer->publish_batch(parts.subspan(done), offsets.subspan(done));
                 done += published.count;
                 return published;
             }).status;
    return {status, done};
}

/// Nearly always a batch is one share, whose parts are ready.
BatchResult Producer::Impl::publish_one_share(std::span<PublishResult> results, Wait wait) noexcept {
    const std::uint32_t partition = batch_.partitions[0];
    const BatchResult share = publish_parts(batch_.parts, partition, wait);
    for (std::size_t i = 0; i < results.size(); ++i) {
        results[i] = i < share.published ? PublishResult{Status::ok, partition, batch_.offsets[i]} : PublishResult{share.status, partition, 0};
    }
    return share;
}

BatchResult Producer::Impl::publish_share(std::span<const ProducerRecord> records, std::size_t first,
                                          std::span<PublishResult> results, Wait wait) noexcept {
    const std::uint32_t partition = batch_.partitions[first];
    encode_share(records, partition);
    const BatchResult share = publish_parts(batch_.share, partition, wait);
    if (results.empty()) return share;
    for (std::size_t i = 0; i < batch_.indices.size(); ++i) {
        results[batch_.indices[i]] = i < share.published ? PublishResult{Status::ok, partition, batch_.offsets[i]}
                                                         : PublishResult{share.status, partition, 0};
    }
    return share;
}

/// Each record under its own ticket: the sequence of one ticket at a time can be in doubt when this process dies.
BatchResult Producer::Impl::publish_named_batch(std::span<const ProducerRecord> records, std::span<PublishResult> results,
                                                Wait wait) noexcept {
    BatchResult total;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const PublishResult result = publish_slowly(records[i], batch_.partitions[i], wait);
        if (!results.empty()) results[i] = result;
        if (result.status == Status::ok) ++total.published;
        if (total.status == Status::ok) total.status = result.status;
        if (result.status == Status::ok || result.status == Status::duplicate) continue;
        total.status = result.status;
        break;
    }
    return total;
}

BatchResult Producer::Impl::publish_batch(std::span<const ProducerRecord> records, std::span<PublishResult> results,
                                          Wait wait) noexcept {
    const UseScope scope(use_);
    BatchResult total{scope.entered() ? entry_status() : Status::misuse, 0};
    if (!results.empty() && results.size() != records.size()) total.status = Status::invalid;
    if (total.status != Status::ok) {
        std::fill(results.begin(), results.end(), PublishResult{total.status});
        return total;
    }
    total.status = prepare_batch(records, results);
    if (total.status == Status::ok && named()) return publish_named_batch(records, results, wait);
    if (total.status == Status::ok && batch_.one_share && !records.empty()) return publish_one_share(results, wait);
    for (std::size_t i = 0; i < records.size() && total.status == Status::ok; ++i) {
        if (batch_.partitions[i] == kTaken) continue;
        const BatchResult share = publish_share(records, i, results, wait);
        total.status = share.status;
        total.published += share.published;
    }
    return total;
}

}  // namespace ringmain
