// Loans: memory for a value that the caller fills before any ticket is taken.
#include <cstring>

#include "producer_impl.hpp"
#include "record_encoding.hpp"

namespace ringmain {

namespace {

Producer::Impl::Lent refused(Status status) noexcept { return {status, {}, 0}; }

}  // namespace

Producer::Impl::Lent Producer::Impl::lend(std::size_t value_bytes, const ProducerRecord& record) noexcept {
    const UseScope scope(use_);
    if (!scope.entered()) return refused(Status::misuse);
    if (const Status status = entry_status(); status != Status::ok) return refused(status);
    if (loan_.outstanding) return refused(Status::loan_outstanding);
    const std::uint32_t partition = choose_partition(record);
    if (!exists(partition)) return refused(Status::invalid);
    Status status = Status::ok;
    loan_.producer = attached(partition, status);
    if (loan_.producer == nullptr) return refused(status);
    ProducerRecord without_value = record;
    without_value.value = Bytes{};
    partition_log::RecordParts parts;
    if (status = encode(without_value, headers_, parts); status != Status::ok) return refused(status);
    if (value_bytes > record_bytes_max_ || parts.length() + value_bytes > record_bytes_max_) return refused(Status::too_large);
    parts.value_bytes = static_cast<std::uint32_t>(value_bytes);
    loan_.partition = partition;
    loan_.timestamp_ns = record.timestamp_ns;
    loan_.sequence = record.sequence;
    loan_.parts = parts;
    if (status = lend_memory(value_bytes); status != Status::ok) return refused(status);
    loan_.outstanding = true;
    auto* const value = loan_.location != partition_log::kInCell ? loan_.producer->log().payload + loan_.location : loan_.small_value.data();
    return {Status::ok, {value, value_bytes}, loan_.partition};
}

Status Producer::Impl::lend_memory(std::size_t value_bytes) noexcept {
    auto& bodies = loan_.producer->bodies();
    partition_log::RecordParts& parts = loan_.parts;
    loan_.location = partition_log::kInCell;
    if (!bodies.fits_inline(parts.length())) {
        const partition_log::Reserved reserved = bodies.reserve(parts.length());
        if (reserved.status != Status::ok) return reserved.status;
        partition_log::write_tail<platform::HostMemory>(loan_.producer->log().payload + reserved.location + value_bytes, parts);
        bodies.pin();
        loan_.location = reserved.location;
        return Status::ok;
    }
    // small: key and headers must outlive the caller's views, and the other calls that use headers_
    loan_.small_value.assign(value_bytes + 1, std::byte{0});
    const std::size_t headers_and_stamp = parts.headers_bytes + partition_log::RecordParts::stamp_bytes(parts.flags);
    loan_.key_and_headers.resize(parts.key_bytes + headers_and_stamp + 1);
    std::byte* const kept = loan_.key_and_headers.data();
    if (parts.key_bytes != 0) std::memcpy(kept, parts.key, parts.key_bytes);
    if (headers_and_stamp != 0) std::memcpy(kept + parts.key_bytes, parts.headers, headers_and_stamp);
    parts.value = loan_.small_value.data();
    parts.key = kept;
    parts.headers = kept + parts.key_bytes;
    return Status::ok;
}

PublishResult Producer::Impl::publish_lent(Wait wait) noexcept {
    const UseScope scope(use_);
    if (!scope.entered()) return {Status::misuse};
    if (const Status status = entry_status(); status != Status::ok) return {status};
    if (!loan_.outstanding) return {Status::invalid};
    PartitionProducer& producer = *loan_.producer;
    if (producer.gone()) return {producer.why(), loan_.partition};
    loan_.parts.timestamp_ns = timestamp_of({.value = {}, .key = {}, .headers = {}, .partition = {}, .timestamp_ns = loan_.timestamp_ns, .sequence = 0});
    const partition_log::Published published =
        persist(producer, wait, [&] {
            if (named()) return producer.publish_named_placed(loan_.parts, loan_.location, loan_.sequence);
            return producer.publish_placed(loan_.parts, loan_.location);
        });
    if (published.status == Status::ok) {
        loan_.outstanding = false;
        producer.bodies().unpin();
    }
    return {published.status, loan_.partition, published.offset};
}

void Producer::Impl::take_back() noexcept {
    if (!loan_.outstanding || fork_guard_.forked()) return;
    loan_.outstanding = false;
    loan_.producer->bodies().unpin();
    if (loan_.location != partition_log::kInCell) loan_.producer->bodies().give_back(loan_.location, loan_.parts.length());
}

}  // namespace ringmain
