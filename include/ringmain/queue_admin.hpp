// Work queues from outside: creating, listing, describing, resetting and deleting them, and their workers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringmain/broker.hpp"
#include "ringmain/export.hpp"
#include "ringmain/group_admin.hpp"
#include "ringmain/queue.hpp"

namespace ringmain {

/// A worker's place in a queue.
struct WorkerDescription {
    std::uint32_t slot = 0;
    std::optional<ClientDescription> client;  ///< Nothing: the place is held by a client that is gone.
    std::uint64_t in_flight = 0;              ///< Counted in the words of all partitions.
    std::uint32_t max_in_flight = 0;
    std::int64_t since_ns = 0;                ///< Since the Unix epoch.
    std::uint64_t acquired = 0;
    std::uint64_t acked = 0;
    std::uint64_t nacked = 0;
    std::uint64_t released = 0;
    std::uint64_t rejected = 0;
    std::uint64_t renewed = 0;
    std::uint64_t refused = 0;                ///< Answers that came too late.
};

/// The states of the offsets from the committed one to the log end, and counts since the queue began or was reset.
struct QueuePartitionDescription {
    GroupLag lag;
    std::uint32_t generation = 0;
    bool gates = false;
    std::uint64_t available = 0;     ///< To be had now.
    std::uint64_t delayed = 0;       ///< To be had later: back-off, delay.
    std::uint64_t acquired = 0;      ///< Held by a worker, or whose lock ran out and nobody has taken yet.
    std::uint64_t lock_over = 0;     ///< Of `acquired`: the lock ran out.
    std::uint64_t ending = 0;        ///< On their way to the dead letters, or waiting for room there.
    std::uint64_t finished = 0;      ///< Above the committed offset.
    std::uint64_t beyond_window = 0; ///< To be had once the window moves: its first record is not finished.
    std::uint64_t expired = 0;       ///< Locks that ran out and were taken from their holder.
    std::uint64_t returned = 0;      ///< Records taken back from dead workers.
    std::uint64_t redelivered = 0;
    std::uint64_t dead_lettered = 0;
    std::uint64_t skipped = 0;
    std::uint64_t lost = 0;          ///< To retention, as workers have found; those that nobody has found yet are in `lag.lost`.
    std::uint64_t letters_refused = 0;
    /// The oldest unfinished record that somebody holds or waits for, and who and since when.
    std::optional<std::uint64_t> oldest_offset;
    std::optional<std::uint32_t> oldest_holder;       ///< Worker slot.
    std::uint32_t oldest_deliveries = 0;
    std::optional<std::chrono::milliseconds> oldest_due;  ///< Until its lock runs out or it is due; negative: since.
};

struct QueueDescription {
    std::string topic;
    std::string name;
    QueueOptions options;
    std::string dead_letter_topic;  ///< Empty: none.
    bool dead_letters_gone = false;  ///< That topic was deleted, or is another one by now: see DeadLetters::relink.
    std::vector<WorkerDescription> workers;
    std::vector<QueuePartitionDescription> partitions;
};

/// A line of a list.
struct QueueSummary {
    std::string topic;
    std::string name;
    std::uint32_t workers = 0;
    std::uint64_t records = 0;  ///< The lag over all partitions.
    std::uint64_t acquired = 0;
    std::uint64_t delayed = 0;
    std::uint64_t dead_lettered = 0;
    std::uint64_t lost = 0;
};

/// Administration of the queues of a broker. One thread at a time. Every call throws Error: forked, permission_denied,
/// version_mismatch, corrupt, and not_found for a topic or queue that is not there, mismatch for a name that is a stream group's.
class RINGMAIN_API QueueAdmin {
public:
    explicit QueueAdmin(const Broker& broker);
    QueueAdmin(QueueAdmin&&) noexcept;
    QueueAdmin& operator=(QueueAdmin&&) noexcept;
    ~QueueAdmin();

    /// Creates a queue, whole or not at all. Throws Error: already_exists, limit, no_space, mismatch (a stream group has the name),
    /// invalid_argument: an option out of range; a dead-letter topic that is exclusive, not writable, too small for the
    /// topic's largest record and its letter's headers, the topic itself, or one whose own letters come back here.
    void create(std::string_view topic, std::string_view queue, const QueueOptions& options = {});
    /// The same, or nothing if it exists with these options. Throws mismatch (names the first option that differs). True: created.
    bool ensure(std::string_view topic, std::string_view queue, const QueueOptions& options = {});
    /// The queues of a topic, or of all topics, by topic and name.
    [[nodiscard]] std::vector<QueueSummary> list(std::string_view topic = {});
    /// Walks the words of all unfinished offsets.
    [[nodiscard]] QueueDescription describe(std::string_view topic, std::string_view queue);
    /// Throws Error: busy (names the workers) unless forced.
    void remove(std::string_view topic, std::string_view queue, bool force = false);

    /// As GroupAdmin::plan and execute: each partition begins anew at its target, and locks of the time before are none any more.
    /// Refused (busy) unless forced while there are workers, and in any case while dead letters are under way: these are
    /// decided first, which only workers that go on giving up records keep from ending.
    [[nodiscard]] ResetPlan plan(std::string_view topic, std::string_view queue, const ResetTarget& target);
    std::vector<PartitionResetDone> execute(const ResetPlan& plan, bool force = false);

    class Impl;

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace ringmain
