// Reading records: assign partitions, then poll copies or visit in place. History and live are read by the same calls.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ringmain/broker.hpp"
#include "ringmain/export.hpp"
#include "ringmain/group.hpp"
#include "ringmain/position.hpp"
#include "ringmain/record.hpp"
#include "ringmain/status.hpp"

namespace ringmain {

/// What a consumer does when it finds nothing.
enum class WaitStrategy : std::uint8_t {
    spin,   ///< Look again at once: the lowest latency, one core.
    yield,  ///< Pause about a microsecond, then give the core away between looks.
    block,  ///< As yield for a short while, then sleep until a producer wakes it: no CPU while idle.
};

struct ConsumerOptions {
    WaitStrategy wait = WaitStrategy::block;
    /// How long an unfinished offset may hold the reader up before its ticket is closed: 1 us to 1 s.
    std::chrono::nanoseconds patience = std::chrono::microseconds(50);
    /// Memory kept for copies of polled records; grows to hold at least one record of any size.
    std::size_t buffer_bytes = 1 << 18;
};

struct SeekResult {
    std::uint64_t offset = 0;
    bool at_end = false;      ///< The next record to be published is the next one read.
    bool beyond_end = false;  ///< Records are still to be published that will be passed over, up to `offset`.
};

/// In place of a partition: what is told concerns the whole topic.
inline constexpr std::uint32_t kWholeTopic = ~std::uint32_t{0};

/// A partition that could not be read.
struct PartitionFailure {
    std::string_view topic;
    std::uint32_t partition = 0;  ///< kWholeTopic: this consumer's membership in the topic (evicted, fenced_instance, ...).
    /// topic_deleted: it is not assigned any more. corrupt: its file is damaged or missing. It stays assigned, is not read, and is looked at
    /// again once a second by polls that find nothing; when it can be read again, it goes on at its position.
    Status status = Status::ok;
};

/// What poll found: copies, in offset order per partition, fair over the partitions.
struct PollResult {
    /// ok also when nothing was found; forked or misuse; else what the last of `failures` says: topic_deleted, corrupt,
    /// position_lost, or of a member that lost all its partitions of a topic evicted, fenced_instance, group_deleted.
    /// Whatever it is, `records` has what was read, and the other partitions go on.
    Status status = Status::ok;
    std::span<const ConsumerRecord> records;
    std::span<const Gap> gaps;  ///< Losses found by this poll, each before the records that follow it.
    /// Partitions that this poll could not read. One of a deleted topic, or a damaged one, is reported once; the others go on.
    std::span<const PartitionFailure> failures = {};
};

enum class [[nodiscard]] VisitStatus : std::uint8_t {
    valid,    ///< The handler saw the record as it was published; the position moved on.
    lapped,   ///< The record was overwritten while the handler looked: discard what it did. The next poll or visit reports the gap.
    empty,    ///< Nothing to visit.
    gap,      ///< A loss was found first: see last_gap(). Visit again.
    stopped,  ///< See last_status(): forked, misuse; or topic_deleted, corrupt, position_lost, evicted and the like: last_failure()
              ///< names the partition. Others go on with the next visit.
};

/// Reads any number of topics and partitions: by itself (assign), or as a member of a group (subscribe), which shares the
/// partitions among its members. A consumer does one or the other.
///
/// Threads: one at a time; concurrent use is a bug of the caller and answers `misuse` where it is noticed. Progress: looking is wait-free; an offset whose producer
/// died or was stopped inside publish is closed after `patience` and stepped over. Nothing a consumer does slows
/// producers down. Record memory is mapped read-only. If the process dies, nothing needs cleaning up.
/// A moved-from consumer may be assigned to or destroyed, nothing else.
class RINGMAIN_API Consumer {
public:
    /// Throws Error: invalid_argument.
    explicit Consumer(const Broker& broker, const ConsumerOptions& options = {});
    /// A consumer with a group. Throws Error: invalid_argument (names the option, its value and its range).
    Consumer(const Broker& broker, const GroupOptions& group, const ConsumerOptions& options = {});
    Consumer(Consumer&&) noexcept;
    Consumer& operator=(Consumer&&) noexcept;
    ~Consumer();

    /// Adds all partitions of a topic, or one. A partition that is assigned already is moved to `from`. All or nothing:
    /// when it throws, nothing has changed. Of several partitions the damaged ones are told by the next poll (PartitionFailure,
    /// corrupt), and do not keep the consumer from the others. Throws Error: not_found, permission_denied, version_mismatch, corrupt, forked,
    /// invalid_argument (offset over kOffsetMax); while gates are held also as hold_gates.
    void assign(std::string_view topic, Position from = Position::earliest());
    void assign(std::string_view topic, std::uint32_t partition, Position from = Position::earliest());
    /// Throws Error: not_found, invalid_argument (the consumer has subscribed), busy (in a listener), forked.
    void unassign(std::string_view topic, std::uint32_t partition);

    /// Joins the group in a topic, and creates the group there if it is new. Partitions come with the polls that follow. All
    /// or nothing; damaged partitions as with assign: no member of the group reads them. A topic that is subscribed to already stays as it is, unless its group or the topic was deleted meanwhile.
    /// Throws Error: not_found, invalid_argument (no group, partitions are assigned by hand, or gates are held), limit (groups
    /// of the topic, members of the group), permission_denied, version_mismatch, corrupt, busy (in a listener), forked.
    void subscribe(std::string_view topic);
    /// Leaves the group in a topic: hands its partitions over, as close does. Throws Error: not_found, busy (in use, or in a
    /// listener), forked.
    void unsubscribe(std::string_view topic);

    /// Commits what polls and visits have delivered, in all partitions.
    CommitResult commit() noexcept;
    /// Commits these records: in each partition the offset after the highest one. Processed records, in any order.
    CommitResult commit(std::span<const ConsumerRecord> records) noexcept;
    /// Commits these positions. First all are checked; any refusal, and nothing is applied. Then each is one atomic step: a
    /// fence in between is answered for that partition alone, and a process that dies has committed a prefix of them.
    /// Lower than committed is refused as stale, further than this consumer's own position as beyond_position.
    /// Partitions assigned by hand are committed only while no member owns them.
    CommitResult commit(std::span<const PartitionOffset> offsets) noexcept;
    /// Moves the group in an assigned partition, back or forward, and reads on from there: the only way in which a member goes
    /// back. A new tenure: commits under way are fenced. Throws Error: as seek, and busy if another member has it by now.
    SeekResult replay(std::string_view topic, std::uint32_t partition, Position to);
    /// The partitions that this consumer reads now.
    [[nodiscard]] std::vector<TopicPartition> assignment() const;
    /// The group's committed offset; nothing if nobody has committed yet. Throws Error: not_found (not assigned).
    [[nodiscard]] std::optional<std::uint64_t> committed(std::string_view topic, std::uint32_t partition) const;
    /// Leaves all groups, after telling the listener (revoked). Records of earlier polls count as processed with
    /// Delivery::at_least_once: they are committed, each partition by itself, which the result tells; the destructor alone
    /// commits nothing. A static member keeps its share until its session times out.
    CommitResult close() noexcept;

    /// Up to `max_records` copies; waits up to `timeout` while there is none. timeout 0 only looks. max_records 0 reads
    /// nothing and does not wait, but counts as polling for a member of a group.
    PollResult poll(std::size_t max_records = 256, std::chrono::nanoseconds timeout = std::chrono::nanoseconds::zero()) noexcept;

    /// Shows the next record in place: `handler(const ConsumerRecord&)` sees views of shared memory that a producer may
    /// be overwriting; act on them only after `valid`.
    template <class Handler>
    VisitStatus visit(Handler&& handler) noexcept(noexcept(handler(std::declval<const ConsumerRecord&>()))) {
        return visit_erased([](void* h, const ConsumerRecord& r) { (*static_cast<std::remove_reference_t<Handler>*>(h))(r); },
                            const_cast<void*>(static_cast<const void*>(std::addressof(handler))));
    }
    [[nodiscard]] const Gap& last_gap() const noexcept;
    [[nodiscard]] const PartitionFailure& last_failure() const noexcept;  ///< Valid until the next poll or visit.
    [[nodiscard]] Status last_status() const noexcept;

    /// Throws Error: not_found (not assigned), topic_deleted, corrupt, invalid_argument (offset over kOffsetMax).
    SeekResult seek(std::string_view topic, std::uint32_t partition, Position to);
    /// The next offset this consumer reads.
    [[nodiscard]] std::uint64_t position(std::string_view topic, std::uint32_t partition) const;
    [[nodiscard]] std::uint64_t log_start(std::string_view topic, std::uint32_t partition) const;
    [[nodiscard]] std::uint64_t log_end(std::string_view topic, std::uint32_t partition) const;

    /// Holds the producers of `block` topics back for this reader: from now on nothing at or above a gate's offset is
    /// dropped. Every partition that is assigned now or later, until drop_gates, has a gate of that name; it starts at the
    /// position and moves by `move_gates` alone. The gates go with this consumer, and when its process is proven dead.
    /// Calling it again with the same name changes nothing. All or nothing: when it throws, the gates are as they were.
    /// Throws Error: limit, permission_denied, invalid_argument (name empty, over 63 bytes or other than the one held; an
    /// overwrite topic is assigned, whose records no gate can keep; the consumer has subscribed: groups gate by their own option).
    void hold_gates(std::string_view name);
    /// Lets producers reuse everything below this consumer's positions. After a seek back it holds from there on, as far
    /// as that has not been given up.
    void move_gates() noexcept;
    /// Ends hold_gates, also for partitions that are assigned later.
    void drop_gates() noexcept;

    /// A descriptor for poll/epoll that is readable when there may be records. A poll() that finds nothing makes it
    /// unreadable until the next record. For a member of a group it also becomes readable when partitions may come or go, and
    /// every session_timeout / 8: an event loop that polls whenever it is readable stays a member. Owned by the consumer.
    /// Throws Error: io, limit.
    [[nodiscard]] int descriptor();

    class Impl;

private:
    VisitStatus visit_erased(void (*call)(void*, const ConsumerRecord&), void* handler);
    std::unique_ptr<Impl> impl_;
};

}  // namespace ringmain
