// The keeper: housekeeping of one broker directory. The data path never needs it; only recycling does.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "ringmain/broker.hpp"
#include "ringmain/export.hpp"

namespace ringmain {

/// What one step did.
struct KeeperReport {
    std::uint64_t reaped_producers = 0;
    std::uint64_t reaped_gates = 0;
    std::uint64_t sealed_extents = 0;
    std::uint64_t closed_tickets = 0;
    std::uint64_t released_cells = 0;
    std::uint64_t swept_directories = 0;
    std::uint64_t evicted_members = 0;      ///< Of consumer groups: proven dead, or silent for their session time-out.
    std::uint64_t freed_member_slots = 0;
    std::uint64_t swept_groups = 0;
    std::uint64_t expired_records = 0;      ///< By retention.
    std::uint64_t let_go = 0;               ///< Partitions of groups whose next record was older than they want to hold.
    std::uint64_t reaped_workers = 0;       ///< Of queues: proven dead.
    std::uint64_t returned_records = 0;     ///< That they held.
    std::uint64_t unfinished = 0;  ///< Partitions whose cells are being walked over several steps: work again at once.
    [[nodiscard]] bool idle() const noexcept {
        return reaped_producers + reaped_gates + sealed_extents + closed_tickets + released_cells + swept_directories + evicted_members +
                   freed_member_slots + swept_groups + let_go + reaped_workers + returned_records + unfinished == 0;
    }
};

enum class KeeperEventKind : std::uint8_t {
    topic_found,        ///< The keeper looks after it from now on.
    topic_gone,         ///< It was deleted.
    topic_unreadable,   ///< It cannot be opened, or may not be written: nobody looks after it. `subject` says why.
    topic_recovered,    ///< It was told unreadable, and is looked after again.
    partition_unreadable,  ///< Its file is damaged, missing, or may not be written: nobody looks after it, but after the topic's others. `subject` says why.
    partition_recovered,   ///< It was told unreadable, and is looked after again.
    file_missing,       ///< `subject` was removed from under those who have it open.
    file_replaced,      ///< `subject` is another file than the one that is open.
    producer_reaped,    ///< `subject` is the client.
    gate_reaped,        ///< `subject` is the gate's name and its client.
    extents_sealed,     ///< `count` extents of a dead producer; `subject` is the client.
    tickets_closed,     ///< `count` tickets that nobody else closed.
    cells_released,     ///< `count` cells that nobody can write late any more.
    records_expired,    ///< The log start moved by retention: offsets [from, to).
    retention_held,     ///< Retention would delete up to `to`, and `subject` holds the log start at `from`.
    member_evicted,     ///< `count` members, dead or silent for their session time-out; `subject` is the group.
    group_let_go,       ///< `subject` is the group: it gates no longer in this partition; `from` is its next record.
    worker_reaped,      ///< `subject` is the worker, with its queue and client; `count` records that it held are to be had again.
    queue_lost,         ///< Retention took `count` records before the queue `subject` had finished them.
    letters_refused,    ///< `count` times a dead letter of the queue `subject` found no room: its records wait. Told once a minute.
    leftovers_swept,    ///< `count` directories and files of killed creations and deletions.
    keeping_stopped,    ///< Nothing is kept any more; `subject` says why (KeeperStatistics::keeping).
    keeping_resumed,
};
RINGMAIN_API std::string_view to_string(KeeperEventKind kind) noexcept;

/// Something that happened, for a log. Whatever a keeper did is in one; nothing that repeats unchanged is told twice.
struct KeeperEvent {
    KeeperEventKind kind{};
    std::string topic;                       ///< Empty: the directory as a whole.
    std::optional<std::uint32_t> partition;  ///< Nothing: the topic as a whole.
    std::string subject;
    std::uint64_t count = 0;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
};

/// How a keeper fares. Times are real ones, also when do_work is given another clock.
struct KeeperStatistics {
    std::uint64_t steps = 0;
    std::uint64_t idle_steps = 0;  ///< Of those: found nothing to do, and nothing changed.
    std::chrono::nanoseconds last_step{0};      ///< How long the last step took.
    std::chrono::nanoseconds longest_step{0};   ///< Of all steps.
    std::chrono::nanoseconds longest_step_of_minute{0};  ///< Of those that ended within the last minute.
    std::chrono::steady_clock::time_point last_step_at{};  ///< When the last step ended; the clock's epoch: there was none.
    std::uint64_t topics = 0;       ///< That are looked after.
    std::uint64_t partitions = 0;   ///< Of those topics.
    std::uint64_t unreadable_topics = 0;  ///< That nobody looks after (KeeperEventKind::topic_unreadable).
    std::uint64_t unreadable_partitions = 0;  ///< The same of partitions, in topics that are looked after.
    std::uint64_t clients = 0;      ///< That are alive in the directory.
    std::uint64_t watched_clients = 0;  ///< Of those: their end is noticed at once, that of others within a second.
    bool keeping = true;  ///< False: another keeper took over, or the client table was replaced; nothing is recycled.
};

/// Reaps dead producers and gates, closes tickets that nobody else closed, releases quarantined cells and sweeps what a
/// killed creation or deletion left behind, evicts members of groups that are gone. One at a time per broker directory, by a
/// kernel-held lock. If it dies anywhere, the next keeper goes on from what it finds. A moved-from keeper may be assigned to or
/// destroyed, nothing else.
class RINGMAIN_API Keeper {
public:
    /// Throws Error: busy (names the pid of the other keeper), permission_denied, limit (descriptors), no_space, io.
    explicit Keeper(const Broker& broker);
    /// Tells `listener` what happens, within do_work, on its thread. It must not call the keeper. What it throws is ignored.
    Keeper(const Broker& broker, std::function<void(const KeeperEvent&)> listener);
    Keeper(Keeper&&) noexcept;
    Keeper& operator=(Keeper&&) noexcept;
    ~Keeper();

    /// One bounded step. `now`: monotonic, any origin; used for patience only. Errors of single topics do not stop the
    /// others. Throws nothing; not to be called from two threads at once.
    KeeperReport do_work(std::chrono::nanoseconds now) noexcept;

    /// Works until told to stop, pausing for `interval` between steps that find nothing to do; after about a second in which
    /// nothing changed anywhere, for up to half a second. A client of this pid namespace that ends, a reader that asks for the
    /// closing of a ticket, and topics that come and go end a pause; sessions that time out, retention and waiting cells shorten
    /// it.
    void run(std::stop_token stop, std::chrono::milliseconds interval = std::chrono::milliseconds(10));

    /// Any thread, at any time, also while a step is under way.
    [[nodiscard]] KeeperStatistics statistics() const;

    class Impl;

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace ringmain
