// Consumer groups from outside: who is in them, how far they are behind, resetting and deleting them, and what holds the
// log start of a `block` topic back. No daemon is needed for any of it.
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
#include "ringmain/group.hpp"
#include "ringmain/position.hpp"
#include "ringmain/retry_policy.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain {

enum class GroupState : std::uint8_t {
    empty,        ///< No members.
    stable,       ///< Every partition is owned by a member.
    rebalancing,  ///< There are members, and a partition waits for one of them to take it.
    queue,        ///< A work queue: it has workers, and no members. See QueueAdmin.
};
RINGMAIN_API std::string_view to_string(GroupState state) noexcept;

/// A member of a group, or a process that holds a member's place without being one: evicted, or about to join.
struct GroupMemberDescription {
    std::uint32_t slot = 0;
    std::uint32_t incarnation = 0;  ///< Tells apart the members that had the slot.
    bool in_group = false;
    std::string static_name;        ///< Empty: none.
    std::optional<ClientDescription> client;  ///< Nothing: a static member that closed and is expected back.
    std::int64_t last_poll_ns = 0;  ///< Since the Unix epoch; 0 not yet.
    std::chrono::milliseconds session_timeout{0};
    std::vector<std::uint32_t> partitions;  ///< Those it owns.
};

/// How far a group is behind in one partition. No figure is ever negative.
struct GroupLag {
    std::uint32_t partition = 0;
    std::optional<std::uint64_t> committed;  ///< The next offset to read; nothing if nobody has committed yet.
    std::uint64_t position = 0;   ///< `committed`, or else where the group begins.
    std::uint64_t log_start = 0;
    std::uint64_t log_end = 0;
    std::uint64_t records = 0;    ///< Offsets still to be read, those of closed tickets among them.
    std::uint64_t lost = 0;       ///< Offsets that were not committed and are no longer there. Not in `records`.
    bool damaged = false;         ///< The log's offsets contradict each other: all figures of it are 0. See `ringmain verify`.
    /// Keys, values and headers of the unread records. Nothing if it was not asked for.
    std::optional<std::uint64_t> bytes;
    bool bytes_estimated = false; ///< There are more than LagOptions::bytes_records_max: extrapolated from as many.
    /// How old the oldest unread record is, by its timestamp (which its producer may have set; in the future: 0). Nothing if
    /// there is none, or if it is not committed yet.
    std::optional<std::chrono::milliseconds> time;
};

/// What a look at the lag may cost: per partition one cell for the time, and so many for the bytes.
struct LagOptions {
    bool time = true;
    std::uint64_t bytes_records_max = 1'024;  ///< 0: no bytes.
};

/// The records of a partition whose failures are retried. From the committed offset on; and counts since the group began.
struct RetryPartitionDescription {
    std::uint64_t waiting = 0;          ///< To be tried again, after their back-off.
    std::uint64_t in_hand = 0;          ///< An attempt has begun and not ended: a handler has it, or its process died.
    std::uint64_t ending = 0;           ///< Their attempts are used up: on their way to the dead letters, or stopped at.
    std::uint64_t finished = 0;         ///< Above the committed offset.
    std::uint64_t redelivered = 0;      ///< Attempts that were not the first.
    std::uint64_t returned = 0;         ///< Attempts that never ended, found by the next owner.
    std::uint64_t dead_lettered = 0;
    std::uint64_t skipped = 0;
    std::uint64_t lost = 0;             ///< To retention, before they were finished.
    std::uint64_t letters_refused = 0;  ///< Attempts at a letter.
};

/// What was decided about a group's retries: see RetryOptions.
struct RetryDescription {
    std::uint32_t attempts = 0;
    Backoff backoff = {};
    Exhausted exhausted = Exhausted::dead_letter;
    std::string dead_letter_topic;   ///< Empty: none.
    bool dead_letters_gone = false;  ///< That topic was deleted, or is another one by now: see DeadLetters::relink.
    std::string damage;              ///< Why nothing is known of its records; else empty.
};

struct GroupPartitionDescription {
    GroupLag lag;
    std::optional<std::uint32_t> owner;  ///< Slot of the member; nothing: nobody.
    std::uint32_t generation = 0;        ///< Counts tenures and resets of this partition.
    bool gates = false;                  ///< The log start waits for this group here. False on a gating group: it was let go.
    std::uint64_t delivered = 0;         ///< How far its owner has handed out; a hint.
    std::int64_t committed_ns = 0;       ///< Time of the last commit since the Unix epoch; 0 none.
    std::int64_t owned_ns = 0;           ///< Since when the last owner has or had it; 0 never.
    std::uint64_t commits = 0;
    std::uint64_t fenced = 0;            ///< Commits that were refused because the tenure was over.
    std::uint64_t handovers = 0;
    /// At least so many records can still be published before the group loses one, if all travel inline. Nothing if it gates.
    std::optional<std::uint64_t> records_until_loss;
    std::optional<RetryPartitionDescription> retries;  ///< By GroupAdmin::describe: a group with retries.
};

struct GroupDescription {
    std::string topic;
    std::string name;
    GroupState state = GroupState::empty;
    Position start;  ///< Where it began.
    OnLoss on_loss = OnLoss::error;
    bool gating = false;
    std::uint64_t lag_records_max = 0;
    std::chrono::milliseconds lag_time_max{0};
    std::vector<GroupMemberDescription> members;
    std::vector<GroupPartitionDescription> partitions;
    std::optional<RetryDescription> retries;  ///< By GroupAdmin::describe: it was made by a RetryRunner.
};

/// A line of a list.
struct GroupSummary {
    std::string topic;
    std::string name;
    GroupState state = GroupState::empty;
    std::uint32_t members = 0;
    bool gating = false;
    std::uint64_t records = 0;  ///< The lag over all partitions.
    std::uint64_t lost = 0;
};

/// Where a reset goes.
struct ResetTarget {
    enum class Kind : std::uint8_t { earliest, latest, offset, shift, time, back };
    Kind kind = Kind::earliest;
    std::uint64_t offset = 0;
    std::int64_t shift = 0;
    std::int64_t time_ns = 0;
    std::chrono::nanoseconds duration{0};

    static constexpr ResetTarget earliest() noexcept { return {}; }
    static constexpr ResetTarget latest() noexcept { return {.kind = Kind::latest}; }
    static constexpr ResetTarget at(std::uint64_t offset) noexcept { return {.kind = Kind::offset, .offset = offset}; }
    /// So many offsets forward, or back, from where the group is.
    static constexpr ResetTarget shifted(std::int64_t by) noexcept { return {.kind = Kind::shift, .shift = by}; }
    /// The first record not before that time (nanoseconds since the Unix epoch); the end if there is none.
    static constexpr ResetTarget since(std::int64_t ns) noexcept { return {.kind = Kind::time, .time_ns = ns}; }
    /// The same, so long before the moment at which the plan is made.
    static constexpr ResetTarget back(std::chrono::nanoseconds ns) noexcept { return {.kind = Kind::back, .duration = ns}; }
};

enum class ResetClamp : std::uint8_t {
    none,
    log_start,  ///< The target lies before what is kept (for a gating group: before where the log start may already go).
    log_end,    ///< The target lies beyond the end.
};
RINGMAIN_API std::string_view to_string(ResetClamp clamp) noexcept;

struct PartitionReset {
    std::uint32_t partition = 0;
    std::optional<std::uint64_t> committed;  ///< When the plan was made, as all here.
    std::uint64_t position = 0;
    std::uint32_t generation = 0;
    std::uint64_t log_start = 0;
    std::uint64_t log_end = 0;
    std::uint64_t target = 0;                ///< Within [log_start, log_end].
    ResetClamp clamp = ResetClamp::none;     ///< It would have been outside.
};

/// A reset with absolute targets for all partitions of one topic. It names the very topic and the very group it was made
/// for: others of the same names are refused. To be kept until it is done: see GroupAdmin::execute.
struct ResetPlan {
    std::string topic;
    TopicId topic_id{};
    std::string group;
    std::uint32_t group_slot = 0;
    std::uint64_t group_born = 0;
    std::vector<PartitionReset> partitions;
};

struct PartitionResetDone {
    std::uint32_t partition = 0;
    std::uint64_t target = 0;
    std::uint64_t committed = 0;   ///< Now. Above the target: the log start, or the floor of a gating group, has passed it.
    std::uint32_t generation = 0;  ///< Now: whoever owned the partition is fenced.
};

/// What keeps the log start of a partition where it is: a group that gates, or a reader with a gate of its own.
struct LogHolder {
    std::string topic;
    std::uint32_t partition = 0;
    std::string name;
    bool group = false;           ///< A consumer group or a queue; false: a reader's gate.
    bool queue = false;           ///< A work queue: it has workers, and `offset` is its first record that is not finished.
    bool letters = false;         ///< The reserved group that keeps dead letters: no member reads, replaying and purging let go.
    bool lowest = false;          ///< The log start waits for this one; the others come after it.
    std::uint64_t offset = 0;     ///< Everything from here on is kept.
    std::uint64_t log_start = 0;
    std::uint64_t log_end = 0;
    std::uint64_t records = 0;    ///< How far it is behind.
    std::optional<std::chrono::milliseconds> time;  ///< How old the record at `offset` is; nothing: there is none.
    std::uint64_t delivered = 0;  ///< Groups: how far the owner has handed out. Above `offset`: it has not committed that.
    std::string static_name;      ///< Groups: of the member that owns the partition.
    std::optional<ClientDescription> client;  ///< The owner or holder. Nothing: no member owns the partition.
    std::int64_t since_ns = 0;    ///< Groups: the last commit, since the Unix epoch; 0 not known.
    /// Records that can be published at once: 0, and the producers of this partition wait. Payload memory may end before.
    std::uint64_t room_records = 0;
};

/// Administration of the groups of a broker. Reading needs no more than the right to read the files. Keeps the files of the
/// topics that it has looked at mapped, so that looking again costs no system call. One thread at a time. After fork() the
/// child's copy answers `forked`. Every call throws Error: forked, permission_denied, version_mismatch, corrupt, and
/// not_found for a topic or a group that is not there.
class RINGMAIN_API GroupAdmin {
public:
    explicit GroupAdmin(const Broker& broker);
    GroupAdmin(GroupAdmin&&) noexcept;
    GroupAdmin& operator=(GroupAdmin&&) noexcept;
    ~GroupAdmin();

    /// The groups of a topic, or of all topics, by topic and name.
    [[nodiscard]] std::vector<GroupSummary> list(std::string_view topic = {});
    /// The topics in which there is a group of that name; none is no error.
    [[nodiscard]] std::vector<std::string> topics_of(std::string_view group);
    [[nodiscard]] GroupDescription describe(std::string_view topic, std::string_view group, const LagOptions& options = {});
    /// All partitions, in order. Each is read in an order in which no figure can be negative; they are not one moment's.
    [[nodiscard]] std::vector<GroupLag> lag(std::string_view topic, std::string_view group, const LagOptions& options = {});

    /// Deletes the group in a topic at one moment: it gates nothing any more, and members find out at their next call.
    /// Members that are proven dead do not count. Throws Error: busy (names the members) unless forced; invalid_argument for the
    /// reserved group that keeps dead letters.
    void remove(std::string_view topic, std::string_view group, bool force = false);

    /// Says what a reset would do. Changes nothing.
    [[nodiscard]] ResetPlan plan(std::string_view topic, std::string_view group, const ResetTarget& target);
    /// Does it: each partition in one step, which fences its owner. Not one step over all: if the process dies in between,
    /// run the same plan again; what is done already stays as it is. Throws Error: busy (names the members, or the partition
    /// that is no longer as it was planned) unless forced; mismatch (the topic or the group is another one by now);
    /// invalid_argument (a plan that cannot be: partitions missing or twice, a target beyond the log end).
    std::vector<PartitionResetDone> execute(const ResetPlan& plan, bool force = false);

    /// What holds the log start back, of one or all topics that block when full: by topic, partition and offset.
    [[nodiscard]] std::vector<LogHolder> who_blocks(std::string_view topic = {});

    class Impl;

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace ringmain
