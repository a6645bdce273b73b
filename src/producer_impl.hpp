// What a producer is made of: the topic, its attached partitions, and scratch memory that is kept between calls.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "broker_impl.hpp"
#include "partition_log/record_parts.hpp"
#include "partition_producer.hpp"
#include "platform/fork_guard.hpp"
#include "platform/sleep.hpp"
#include "ringmain/partitioner.hpp"
#include "ringmain/producer.hpp"
#include "use_guard.hpp"

namespace ringmain {

/// Whether a call may wait for room on a `block` topic.
enum class Wait : bool { no, yes };

class Producer::Impl {
public:
    Impl(std::shared_ptr<Broker::Impl> broker, std::string_view topic, const ProducerOptions& options);

    PublishResult publish(const ProducerRecord& record, Wait wait) noexcept;
    BatchResult publish_batch(std::span<const ProducerRecord> records, std::span<PublishResult> results, Wait wait) noexcept;

    /// What a Loan shows of the one loan that this producer may have out.
    struct Lent {
        Status status = Status::invalid;
        std::span<std::byte> value;
        std::uint32_t partition = 0;
    };
    Lent lend(std::size_t value_bytes, const ProducerRecord& record) noexcept;
    PublishResult publish_lent(Wait wait) noexcept;
    void take_back() noexcept;

    /// Throws Error as PartitionProducer; topic_deleted, forked, invalid_argument.
    PartitionProducer& attach(std::uint32_t partition);
    /// As attach; invalid_argument without a name.
    std::uint64_t last_sequence(std::uint32_t partition);

    [[nodiscard]] const TopicFiles& topic() const noexcept { return *topic_; }
    [[nodiscard]] std::uint64_t record_bytes_max() const noexcept { return record_bytes_max_; }
    [[nodiscard]] std::uint64_t batch_records_max() const noexcept { return batch_records_max_; }

private:
    /// The one outstanding loan. A value that fits a cell is kept in `small_value` and copied at publish.
    struct LoanState {
        bool outstanding = false;
        PartitionProducer* producer = nullptr;
        std::uint32_t partition = 0;
        partition_log::Location location = partition_log::kInCell;
        partition_log::RecordParts parts;
        std::optional<std::int64_t> timestamp_ns;
        std::uint64_t sequence = 0;
        std::vector<std::byte> small_value;
        std::vector<std::byte> key_and_headers;
    };

    [[nodiscard]] Status entry_status() const noexcept;
    /// The partition's producer, attached if need be, or why it cannot be.
    [[nodiscard]] PartitionProducer* attached(std::uint32_t partition, Status& status) noexcept {
        PartitionProducer* const producer = attachment(partition).get();
        if (producer != nullptr && !producer->gone()) [[likely]] return producer;
        return attach_now(partition, status);
    }
    [[nodiscard]] PartitionProducer* attach_now(std::uint32_t partition, Status& status) noexcept;
    /// The record's partition, or a number that is none if it asks for one that does not exist. `null_key` is called for
    /// the partition of a record that has neither a partition nor a key.
    template <class NullKey>
    [[nodiscard, gnu::always_inline]] std::uint32_t choose_partition(const ProducerRecord& record, const NullKey& null_key) noexcept {
        if (record.partition) return *record.partition;
        if (partitions_ == 1) return 0;
        return record.key ? partition_for_key(*record.key, partitions_) : null_key();
    }
    /// The same for a record by itself: each null key takes its turn.
    [[nodiscard, gnu::always_inline]] std::uint32_t choose_partition(const ProducerRecord& record) noexcept {
        return choose_partition(record, [&] { return next_for_null_key(record); });
    }
    [[nodiscard]] bool named() const noexcept { return producer_id_ != 0; }
    [[nodiscard]] std::unique_ptr<PartitionProducer>& attachment(std::uint32_t partition) noexcept {
        return named() ? named_producers_[partition] : producers_[partition];
    }
    [[nodiscard]] bool exists(std::uint32_t partition) const noexcept { return partition < partitions_; }
    std::uint32_t next_round_robin() noexcept;
    /// The next partition that is not damaged, or the last that was tried.
    [[nodiscard]] std::uint32_t next_sound() noexcept;
    /// A named producer's null keys follow the sequence: whoever publishes it again must find it in the same partition.
    [[nodiscard]] std::uint32_t next_for_null_key(const ProducerRecord& record) noexcept {
        return named() ? static_cast<std::uint32_t>(record.sequence % partitions_) : next_round_robin();
    }
    [[nodiscard, gnu::always_inline]] std::int64_t timestamp_of(const ProducerRecord& record) const noexcept {
        return record.timestamp_ns ? *record.timestamp_ns : clock_ns();
    }
    [[nodiscard]] std::int64_t clock_ns() const noexcept;
    /// A sequence is there exactly if there is a name.
    [[nodiscard]] bool sound_sequence(const ProducerRecord& record) const noexcept { return named() == (record.sequence != 0); }
    [[nodiscard]] Status encode(const ProducerRecord& record, std::vector<std::byte>& headers,
                                partition_log::RecordParts& parts) const noexcept;
    template <class Attempt>
    auto persist(PartitionProducer& producer, Wait wait, const Attempt& attempt) const noexcept;

    [[nodiscard, gnu::noinline]] PublishResult publish_slowly(const ProducerRecord& record, std::uint32_t partition, Wait wait) noexcept;
    [[nodiscard, gnu::noinline]] PublishResult publish_patiently(PartitionProducer& producer, partition_log::RecordParts parts,
                                                                 std::uint32_t partition, Wait wait) noexcept;

    [[nodiscard]] PublishResult publish_named(PartitionProducer& producer, const partition_log::RecordParts& parts,
                                              std::uint64_t sequence, std::uint32_t partition, Wait wait) noexcept;
    [[nodiscard]] BatchResult publish_named_batch(std::span<const ProducerRecord> records, std::span<PublishResult> results,
                                                  Wait wait) noexcept;

    [[nodiscard]] Status lend_memory(std::size_t value_bytes) noexcept;
    [[nodiscard]] Status check(const ProducerRecord& record, partition_log::RecordParts& parts) const noexcept;
    [[nodiscard, gnu::noinline]] Status check_stamp(const ProducerRecord& record, partition_log::RecordParts parts) const noexcept;
    /// Before anything is published: chooses the partition of each record and checks it. Gives `results`, if any, each
    /// record's own refusal, or not_attempted, and returns the first refusal.
    [[nodiscard]] Status prepare_batch(std::span<const ProducerRecord> records, std::span<PublishResult> results) noexcept;
    /// Publishes all records of the batch that go to the partition of record `first`. Returns its status and count.
    [[nodiscard]] BatchResult publish_share(std::span<const ProducerRecord> records, std::size_t first,
                                            std::span<PublishResult> results, Wait wait) noexcept;
    [[nodiscard]] std::uint64_t share_headers_bytes(std::span<const ProducerRecord> records, std::uint32_t partition) const noexcept;
    void encode_share(std::span<const ProducerRecord> records, std::uint32_t partition) noexcept;

    [[nodiscard]] BatchResult publish_parts(std::span<const partition_log::RecordParts> parts, std::uint32_t partition, Wait wait) noexcept;
    [[nodiscard]] BatchResult publish_one_share(std::span<PublishResult> results, Wait wait) noexcept;

    static constexpr std::uint32_t kTaken = ~std::uint32_t{0};  // in batch_.partitions: published already

    /// Scratch of a batch, kept so that a warm producer does not allocate.
    struct BatchScratch {
        std::vector<std::uint32_t> partitions;              // of each record
        std::vector<partition_log::RecordParts> parts;      // of each record, without headers
        bool one_share = false;                             // all go to one partition, and none has headers
        std::vector<std::size_t> indices;                   // the records of one share
        std::vector<partition_log::RecordParts> share;      // their parts
        std::vector<std::uint64_t> offsets;                 // of one share
        std::vector<std::byte> headers;
    };

    std::shared_ptr<Broker::Impl> broker_;
    platform::ForkGuard fork_guard_;  // the broker's
    std::shared_ptr<const TopicFiles> topic_;
    ProducerOptions options_;
    std::uint64_t producer_id_ = 0;  // of the name; 0: none
    std::uint32_t partitions_ = 0;
    std::uint64_t record_bytes_max_;
    std::uint64_t batch_records_max_;
    std::vector<std::unique_ptr<PartitionProducer>> producers_;        // by partition; a named producer has its
    std::vector<std::unique_ptr<PartitionProducer>> named_producers_;  // here, out of the fast path
    std::uint32_t round_robin_ = 0;
    UseFlag use_;
    LoanState loan_;
    std::vector<std::byte> headers_;
    BatchScratch batch_;
};

/// Repeats `attempt` while it answers would_block and the time is not up; gates of the dead are dropped on the way.
template <class Attempt>
auto Producer::Impl::persist(PartitionProducer& producer, Wait wait, const Attempt& attempt) const noexcept {
    auto result = attempt();
    if (result.status != Status::would_block) [[likely]] return result;
    if (wait == Wait::no) {
        if (producer.reap_gates() != 0) result = attempt();
        return result;
    }
    platform::PatientSleep sleep(options_.timeout);
    while (result.status == Status::would_block && sleep.again()) {
        if (sleep.is_long()) producer.reap_gates();
        if (producer.gone()) {
            result.status = producer.why();
            return result;
        }
        result = attempt();
    }
    return result;
}

}  // namespace ringmain
