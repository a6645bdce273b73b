// Consumer groups: what a member asks for when it joins, what it is told, and what a commit answers.
//
// The records of a topic are shared among the live members of a group, each partition read by one member; every group gets
// every record. A group's position in a partition is its committed offset: the next one to read.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "ringmain/export.hpp"
#include "ringmain/position.hpp"
#include "ringmain/status.hpp"

namespace ringmain {

/// When a group's position moves.
enum class Delivery : std::uint8_t {
    /// Records are processed, then committed: by commit(), and by poll and close for partitions that are handed over. Calling
    /// poll again says that the records of the poll before are processed. Who dies in between lets others repeat them.
    at_least_once,
    /// poll and visit commit before they hand records out. Who dies in between loses them; nothing is repeated.
    at_most_once,
    /// As at_least_once, but nothing is committed except by commit(): for records that are processed elsewhere, later.
    manual,
};
RINGMAIN_API std::string_view to_string(Delivery delivery) noexcept;

/// What a group does when its position was lost to retention. A gap event with numbers and a counter tell it in any case.
enum class OnLoss : std::uint8_t {
    error,     ///< Deliver nothing from the partition (Status::position_lost) until somebody seeks. Holds over restarts.
    earliest,  ///< Go on at the oldest record that is there.
    latest,    ///< Go on at the end.
};
RINGMAIN_API std::string_view to_string(OnLoss policy) noexcept;

/// A partition of a topic.
struct TopicPartition {
    std::string_view topic;
    std::uint32_t partition = 0;
    friend bool operator==(const TopicPartition&, const TopicPartition&) = default;
};

/// Called from inside poll, visit, unsubscribe and close, on their thread. A listener may call commit, committed, seek, position
/// and assignment; anything else answers `misuse` or throws Error `busy`. It must not throw.
struct GroupListener {
    using Call = std::function<void(std::span<const TopicPartition>)>;
    Call assigned = {};  ///< Read by this member from now on; positions are the committed offsets.
    Call revoked = {};   ///< About to be handed over: the last chance to commit.
    Call lost = {};      ///< Another member has them, or the group's position was reset: what was not committed is repeated there.
    Call let_go = {};    ///< The group gated and was further behind than it wants to hold: records may go unread. It gates again
                         ///< with the next commit, if retention has not passed that. By the poll after; a new owner is told, too.
};

/// Limits of names.
inline constexpr std::size_t kGroupNameBytesMax = 200;
inline constexpr std::size_t kStaticNameBytesMax = 64;

/// What a member brings. The options of the group itself count for whoever names it first; later ones find it as it is.
struct GroupOptions {
    std::string name;  ///< 1 to kGroupNameBytesMax bytes. Not kDeadLettersGroup, which is the dead letters' own.

    // The group's own.
    Position start = Position::earliest();  ///< Of a new group: resolved once for all partitions, and stored. Not Position::last.
    OnLoss on_loss = OnLoss::error;
    bool gating = false;                    ///< On `block` topics: producers wait for this group, also while no member runs.
    std::uint64_t lag_records_max = 0;      ///< A gating group further behind is let go; 0 never. Refused unless it gates.
    std::chrono::milliseconds lag_time_max{0};  ///< So is one whose next record is older; 0 never. Needs a keeper.

    // The member's own.
    Delivery delivery = Delivery::at_least_once;
    /// Keeps the member's share over a restart within `session_timeout`; at most kStaticNameBytesMax bytes. Empty: none.
    /// Of two processes with one name the older is told (Status::fenced_instance) and does not come back by itself.
    std::string static_name = {};
    /// A member that does not poll for so long is evicted: 100 ms to 1 h, by the observers' own running time.
    std::chrono::milliseconds session_timeout{45'000};
    GroupListener listener = {};
};

/// A position to be committed: the next offset to read.
struct PartitionOffset {
    std::string_view topic;
    std::uint32_t partition = 0;
    std::uint64_t offset = 0;
};

/// What became of one partition of a commit.
enum class CommitOutcome : std::uint8_t {
    committed,
    not_applied,      ///< Right by itself, refused because of another partition of the call.
    stale,            ///< Lower than what is committed: nothing has changed. To go back, see Consumer::replay.
    beyond_position,  ///< Beyond what was handed out: records would be skipped. Seek there first.
    fenced,           ///< Another member has had the partition since, or the group was reset. Never to be tried again.
    not_assigned,     ///< The partition is not this member's.
};
RINGMAIN_API std::string_view to_string(CommitOutcome outcome) noexcept;

struct PartitionCommit {
    std::string_view topic;
    std::uint32_t partition = 0;
    CommitOutcome outcome = CommitOutcome::not_applied;
    std::uint64_t offset = 0;               ///< As asked for.
    std::uint64_t committed = 0;            ///< The group's position now. Of fenced partitions that of the new owner.
    std::uint32_t generation = 0;           ///< Of this member's tenure.
    std::uint32_t current_generation = 0;   ///< Another one than `generation`: fenced.
    bool let_go = false;                    ///< The group gates, and had been let go in this partition.
};

struct [[nodiscard]] CommitResult {
    /// ok: all are committed. commit_refused: see `partitions`. no_group, forked, misuse: there are none.
    Status status = Status::ok;
    std::span<const PartitionCommit> partitions;  ///< Valid until the next commit.
};

}  // namespace ringmain
