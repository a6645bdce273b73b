// One topic of a consumer with a group: its membership, the partitions that it holds, and its commits.
//
//   keep_up: the set changed? -> look -> give up what is another's (revoked, release) -> take what is ours (acquire, assigned)
//   check:   before records are handed out, each partition that delivered: still ours? else lost, and its records are dropped
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "broker_impl.hpp"
#include "death_oracle.hpp"
#include "group_table/eviction.hpp"
#include "group_table/membership.hpp"
#include "group_table/positions.hpp"
#include "partition_cursor.hpp"
#include "platform/futex.hpp"
#include "platform/memory.hpp"
#include "poll_batch.hpp"
#include "ringmain/group.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// Not thread-safe. Tells its listener through the calls that the consumer gives it, which may come back with commits.
class GroupMember {
public:
    using Memory = platform::HostMemory;
    using Partitions = std::span<const std::uint32_t>;

    /// What the consumer does when partitions come and go.
    class Listener {
    public:
        virtual ~Listener() = default;
        virtual void assigned(const GroupMember& member, Partitions partitions) = 0;
        virtual void revoked(const GroupMember& member, Partitions partitions) = 0;
        virtual void lost(const GroupMember& member, Partitions partitions) = 0;
        virtual void let_go(const GroupMember& member, Partitions partitions) = 0;
    };

    /// Of a group that is named and not joined.
    class Nobody final : public Listener {
    public:
        void assigned(const GroupMember&, Partitions) override {}
        void revoked(const GroupMember&, Partitions) override {}
        void lost(const GroupMember&, Partitions) override {}
        void let_go(const GroupMember&, Partitions) override {}
    };

    enum class Role : std::uint8_t {
        member,     // joins; gets its share
        bystander,  // reads what it is told by hand, and commits only what no member owns
    };

    /// Finds the group in the topic or creates it, and joins. `options` and `listener` must outlive the object.
    /// Throws Error: limit, permission_denied, invalid_argument, topic_deleted, corrupt.
    GroupMember(std::shared_ptr<Broker::Impl> broker, std::shared_ptr<const TopicFiles> topic, const GroupOptions& options,
                Role role, Listener& listener);
    GroupMember(const GroupMember&) = delete;
    GroupMember& operator=(const GroupMember&) = delete;

    [[nodiscard]] const TopicFiles& topic() const noexcept { return *topic_; }
    [[nodiscard]] const std::shared_ptr<PartitionCursor>& cursor(std::uint32_t partition) const noexcept { return parts_[partition].cursor; }
    /// The same, mapped now if it could not be before; for a reader by hand. Throws Error as PartitionCursor; corrupt.
    [[nodiscard]] const std::shared_ptr<PartitionCursor>& open(std::uint32_t partition);
    [[nodiscard]] bool holds(std::uint32_t partition) const noexcept { return partition < parts_.size() && parts_[partition].held; }
    [[nodiscard]] Role role() const noexcept { return role_; }
    [[nodiscard]] group_table::GroupRef group() const noexcept { return group_; }
    /// As the group says: what to do when its position was lost.
    [[nodiscard]] OnLoss on_loss() const noexcept { return on_loss_; }
    /// Of the tenure, while the partition is held, and of the member.
    [[nodiscard]] std::uint32_t generation(std::uint32_t partition) const noexcept { return parts_[partition].generation; }
    [[nodiscard]] std::uint32_t slot() const noexcept { return membership_->slot(); }
    /// The group or its topic is gone, for ever.
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    /// The same, looked at now.
    [[nodiscard]] bool gone() const noexcept;
    [[nodiscard]] const std::shared_ptr<const TopicFiles>& files() const noexcept { return topic_; }

    /// What every poll does first. ok, or why all partitions were lost: evicted (the next call joins again),
    /// fenced_instance, group_deleted, topic_deleted.
    [[nodiscard]] Status keep_up();
    /// Whether the set of held partitions changed since the last call.
    [[nodiscard]] bool take_changed() noexcept { return std::exchange(changed_, false); }

    /// Partitions that have moved since the last check: still held? The records of those that are not leave the batch.
    /// At most once: commits them first.
    void check_delivered(PollBatch& batch, bool commit_first);
    /// The same for one record that is to be shown in place. False: it is not ours.
    [[nodiscard]] bool may_show(std::uint32_t partition, bool commit_first);

    // A damaged partition is nobody's: whoever would own it leaves it alone, and goes on with the others.

    /// It cannot be read any more: what was delivered is committed as the options say, and it is given up.
    void set_aside(std::uint32_t partition);
    [[nodiscard]] bool damaged() const noexcept { return damaged_ != 0; }
    /// A damaged partition of which the consumer was not told.
    [[nodiscard]] std::optional<std::uint32_t> untold_damage() const noexcept;
    void note_told(std::uint32_t partition) noexcept { parts_[partition].told_damage = true; }
    /// Looks whether what was damaged can be read again.
    void take_back();

    /// Commits to add to, for this topic: `offset` of a held partition. Then allows, then apply.
    void begin_commit() noexcept { items_.clear(); }
    void add_to_commit(std::uint32_t partition, std::uint64_t offset);
    [[nodiscard]] std::span<group_table::CommitItem> items() noexcept { return items_; }
    bool allows() noexcept;
    bool apply() noexcept;

    /// Moves the group in a held partition. Nothing: it is not held any more. Throws Error as RetriesMoved.
    [[nodiscard]] std::optional<std::uint64_t> replay(std::uint32_t partition, std::uint64_t offset);
    [[nodiscard]] group_table::PartitionWord word(std::uint32_t partition) const noexcept;

    /// Tells the listener that everything is about to be handed over. Before leave, if it may still commit.
    void tell_leaving();
    /// Hands everything over and leaves. `finished`: what was delivered counts as processed.
    void leave(bool finished) noexcept;

    /// What to sleep on beside the doorbells, as it was before keep_up looked, and how long at most.
    [[nodiscard]] platform::FutexWait wake_word() const noexcept;
    [[nodiscard]] std::int64_t sleep_max_ns() const noexcept;

private:
    struct Part {
        std::shared_ptr<PartitionCursor> cursor;  // null: damaged
        bool told_damage = false;
        bool held = false;
        bool gates = false;
        bool let_go = false;  // and not told yet
        std::uint32_t generation = 0;
        std::uint64_t checked_at = 0;  // the position at the last check
        std::size_t item = 0;          // where it is in items_, if it is there
    };

    void open_all();
    void reopen(std::uint32_t partition);
    void find_or_create();
    void join();
    void begin_to_gate() noexcept;
    [[nodiscard]] Status rebalance();
    [[nodiscard]] Status part_from(group_table::LookStatus why);
    void give_up();
    void hand_over(std::uint32_t partition, bool finished) noexcept;
    [[nodiscard]] bool take();
    void check_held();
    void lose(std::uint32_t partition) noexcept;
    void lose_all();
    void judge_others(std::uint64_t now_ns);
    void wake() noexcept;

    template <class Wanted>
    void gather(const Wanted& wanted);
    void tell(void (Listener::*call)(const GroupMember&, Partitions));
    void tell_let_go();
    [[nodiscard]] bool still_held(std::uint32_t partition);
    void note_gates(Part& part, bool gates) noexcept;
    [[nodiscard]] bool commit_now(std::uint32_t partition, std::uint64_t offset) noexcept;

    [[nodiscard]] group_table::Positions<Memory> positions() const noexcept { return membership_->positions(); }
    [[nodiscard]] auto floors() const noexcept {
        return [this](std::uint32_t p) noexcept -> const Memory::Atomic<std::uint64_t>& {
            static constinit Memory::Atomic<std::uint64_t> none{0};
            return parts_[p].cursor ? parts_[p].cursor->gate_floor() : none;
        };
    }
    [[nodiscard]] static std::uint64_t commit_clock_ns() noexcept;

    std::shared_ptr<Broker::Impl> broker_;
    std::shared_ptr<const TopicFiles> topic_;
    const GroupOptions& options_;
    Listener& listener_;
    group_table::GroupsMemory<Memory> groups_;
    std::optional<group_table::Membership<Memory>> membership_;
    group_table::GroupRef group_;
    group_table::Observer observer_;
    std::vector<Part> parts_;              // by partition
    std::uint32_t damaged_ = 0;            // how many have no cursor
    std::vector<std::uint8_t> owners_;     // by partition: what the assignment says
    std::vector<std::uint32_t> told_;      // the partitions of one call of the listener
    std::vector<std::uint32_t> leaving_;   // the same, kept while the listener commits
    std::vector<group_table::CommitItem> items_;
    Role role_;
    OnLoss on_loss_ = OnLoss::error;
    bool joined_ = false;
    bool ended_ = false;
    bool fenced_ = false;   // by another instance with our static name
    bool waiting_ = false;  // for partitions that others still own
    bool changed_ = false;
    bool told_let_go_ = false;  // some part has news for the listener
    std::uint32_t wake_seen_ = 0;
    std::uint64_t poll_every_ticks_ = 0;
    std::uint64_t polled_at_ticks_ = 0;
    std::uint64_t judged_ns_ = 0;
};

}  // namespace ringmain
