// Publishing records to a topic.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ringmain/broker.hpp"
#include "ringmain/export.hpp"
#include "ringmain/record.hpp"
#include "ringmain/status.hpp"

namespace ringmain {

/// Where a record's timestamp comes from when the caller gives none.
enum class ProducerClock : std::uint8_t {
    coarse,   ///< CLOCK_REALTIME_COARSE: a few nanoseconds, resolution of a kernel tick (1 to 4 ms).
    precise,  ///< CLOCK_REALTIME.
};

struct ProducerOptions {
    /// The only producer of its partitions: no fetch-add and no compare-and-swap. Refused (busy) while shared
    /// producers are attached; shared producers are refused while it is attached.
    bool exclusive = false;
    ProducerClock clock = ProducerClock::coarse;
    /// How long publish waits on a full `block` topic; the try_ forms never wait.
    std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max();
    /// Makes this a *named producer*, at most producer_name_bytes_max bytes: each of its records needs a sequence, which must grow
    /// in each partition, and last_sequence() tells a successor of the same name exactly what is in the log already, whatever
    /// this process dies of and wherever. One producer of a name at a time: while its process lives, stopped or not, another
    /// one is refused (busy, with its pid), because a stopped one might wake up and publish.
    std::string name = {};
};

/// Longest name of a named producer, and how many names a partition can have. Names stay as long as the topic.
inline constexpr std::size_t producer_name_bytes_max = 112;
inline constexpr std::size_t producer_names_max = 64;

struct [[nodiscard]] PublishResult {
    Status status = Status::ok;
    std::uint32_t partition = 0;
    std::uint64_t offset = 0;  ///< Valid if status is ok.
};

struct [[nodiscard]] BatchResult {
    Status status = Status::ok;   ///< ok: all are published; otherwise why the first one that is not is not.
    std::size_t published = 0;
};

class Loan;

/// Publishes to one topic. If that has one partition, the constructor attaches to it. If it has more, each is attached to at
/// its first record, or by attach(), and nothing is held in the others; what is wrong there comes as cannot_attach (or corrupt,
/// topic_deleted) from publish, and attach() throws the reason. Damage concerns one partition: publish answers corrupt for it, looks at its
/// file again each time, and works as soon as that can be used. A record with neither key nor partition goes to one that is sound.
///
/// Threads: one at a time. Concurrent use is a bug of the caller; where it is noticed (always without NDEBUG, nearly always
/// with it) it answers `misuse`. Different producers, in any number of
/// threads and processes, need no coordination. Progress: publish is lock-free and waits for no other process; only on
/// a full `block` topic it waits for the gates, at most `timeout`. Cost does not depend on the number of consumers.
/// If the process dies inside publish, the record is either in the log or not; others go on at once.
/// fork(): the child's copy answers `forked`. A moved-from producer may be assigned to or destroyed, nothing else.
class RINGMAIN_API Producer {
public:
    /// Throws Error: not_found, permission_denied, version_mismatch, corrupt, forked, invalid_argument (name too long); for a topic
    /// of one partition also busy and limit (all producer slots held by live processes, or no room for another name).
    Producer(const Broker& broker, std::string_view topic, const ProducerOptions& options = {});
    Producer(Producer&&) noexcept;
    Producer& operator=(Producer&&) noexcept;
    ~Producer();

    /// Publishes a copy. The record's key + value + headers (+ 16 bytes with a sequence) must not exceed the topic's
    /// record_bytes_max. A named producer answers `duplicate` and publishes nothing if the sequence is not above the last one of
    /// its name in the partition; `invalid` means a record without a sequence, or with one and no name.
    PublishResult publish(const ProducerRecord& record) noexcept;
    /// The same, never waiting: would_block on a full `block` topic.
    PublishResult try_publish(const ProducerRecord& record) noexcept;

    /// Publishes records with one reservation for each run of records to one partition; their order is kept in each
    /// partition. Null keys of one batch go to one partition. All records are checked before the first is published: if
    /// one can never be (invalid, too_large), none is. `results`, if not empty, must be as long as `records` and gets
    /// each record's own answer; those that were only stopped by another one have not_attempted. A named producer reserves
    /// for each record by itself, and a duplicate does not stop the others: see the results, or `published`.
    BatchResult publish_batch(std::span<const ProducerRecord> records, std::span<PublishResult> results = {}) noexcept;
    BatchResult try_publish_batch(std::span<const ProducerRecord> records, std::span<PublishResult> results = {}) noexcept;

    /// Lends memory for a value of exactly `value_bytes`; key, headers, partition and timestamp come from `record`
    /// (its value is ignored; key and headers are copied now). One loan at a time per producer. Never waits.
    Loan loan(std::size_t value_bytes, const ProducerRecord& record = {}) noexcept;
    /// Publishes what was lent, without copying the value if it does not fit a cell. Consumes the loan only if ok.
    PublishResult publish(Loan& loan) noexcept;
    PublishResult try_publish(Loan& loan) noexcept;

    /// Attaches to a partition now instead of at its first record. Throws Error: busy, limit, permission_denied,
    /// version_mismatch, corrupt, topic_deleted, forked, invalid_argument (no such partition).
    void attach(std::uint32_t partition);

    /// Named producers: the highest sequence that is in the partition's log for this name, or was and left it by retention; 0:
    /// none. Exact, also after a predecessor was killed at any instruction. Attaches to the partition and throws as attach();
    /// invalid_argument without a name.
    [[nodiscard]] std::uint64_t last_sequence(std::uint32_t partition = 0);

    /// The gate that holds the partition's log start back, if any; for messages about would_block.
    [[nodiscard]] std::optional<GateDescription> blocking_gate(std::uint32_t partition) const;

    [[nodiscard]] std::uint32_t partitions() const noexcept;
    [[nodiscard]] const std::string& topic() const noexcept;
    [[nodiscard]] const TopicOptions& options() const noexcept;
    [[nodiscard]] std::uint64_t record_bytes_max() const noexcept;
    [[nodiscard]] std::uint64_t batch_records_max() const noexcept;

    class Impl;

private:
    PublishResult publish_loan(Loan& loan, bool wait) noexcept;
    std::unique_ptr<Impl> impl_;
};

/// Memory lent for one record's value. Filling it holds no ticket: a slow filler blocks nobody. Dropping it gives
/// the memory back. Move-only; must not outlive its producer (moving the producer is fine). A moved-from loan has
/// status invalid and no value.
class RINGMAIN_API Loan {
public:
    Loan(Loan&& other) noexcept;
    Loan& operator=(Loan&& other) noexcept;
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan();

    /// ok, or why there is no memory (would_block, too_large, loan_outstanding, ...).
    [[nodiscard]] Status status() const noexcept { return status_; }
    /// The writable value, aligned to at least 8 bytes (64 when it does not fit a cell). Empty if status is not ok.
    [[nodiscard]] std::span<std::byte> value() const noexcept { return value_; }
    [[nodiscard]] std::uint32_t partition() const noexcept { return partition_; }

private:
    friend class Producer;
    Loan() = default;
    Producer::Impl* impl_ = nullptr;
    std::span<std::byte> value_;
    std::uint32_t partition_ = 0;
    Status status_ = Status::invalid;
};

}  // namespace ringmain
