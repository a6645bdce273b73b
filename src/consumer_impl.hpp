// What a consumer is made of: cursors over its assigned partitions, and the batch that polls fill.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "broker_impl.hpp"
#include "group_member.hpp"
#include "idle_wait.hpp"
#include "partition_cursor.hpp"
#include "platform/fork_guard.hpp"
#include "poll_batch.hpp"
#include "readiness.hpp"
#include "ringmain/consumer.hpp"
#include "use_guard.hpp"

namespace ringmain {

class Consumer::Impl : private GroupMember::Listener {
public:
    Impl(std::shared_ptr<Broker::Impl> broker, const ConsumerOptions& options);
    Impl(std::shared_ptr<Broker::Impl> broker, const GroupOptions& group, const ConsumerOptions& options);
    ~Impl() override;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void assign(std::string_view topic, Position from);
    void assign(std::string_view topic, std::uint32_t partition, Position from);
    void unassign(std::string_view topic, std::uint32_t partition);

    PollResult poll(std::size_t records_max, std::chrono::nanoseconds timeout);
    VisitStatus visit(void (*call)(void*, const ConsumerRecord&), void* handler);
    [[nodiscard]] const Gap& last_gap() const noexcept { return last_gap_; }
    [[nodiscard]] const PartitionFailure& last_failure() const noexcept { return last_failure_; }
    [[nodiscard]] Status last_status() const noexcept { return last_status_; }

    SeekResult seek(std::string_view topic, std::uint32_t partition, Position to);
    [[nodiscard]] PartitionCursor& cursor(std::string_view topic, std::uint32_t partition) const;

    void hold_gates(std::string_view name);
    void move_gates() noexcept;
    void drop_gates() noexcept;

    // --- with a group (consumer_groups.cpp) ---

    void subscribe(std::string_view topic);
    void unsubscribe(std::string_view topic);
    CommitResult commit() noexcept;
    CommitResult commit(std::span<const ConsumerRecord> records) noexcept;
    CommitResult commit(std::span<const PartitionOffset> offsets) noexcept;
    SeekResult replay(std::string_view topic, std::uint32_t partition, Position to);
    [[nodiscard]] std::vector<TopicPartition> assignment() const;
    [[nodiscard]] std::optional<std::uint64_t> committed(std::string_view topic, std::uint32_t partition) const;
    CommitResult close() noexcept;

    int descriptor();

private:
    void assigned(const GroupMember& member, GroupMember::Partitions partitions) override;
    void revoked(const GroupMember& member, GroupMember::Partitions partitions) override;
    void lost(const GroupMember& member, GroupMember::Partitions partitions) override;
    void let_go(const GroupMember& member, GroupMember::Partitions partitions) override;
    void notify(const GroupListener::Call& listener, const GroupMember& member, GroupMember::Partitions partitions);

    [[nodiscard]] GroupMember* member_of(std::string_view topic) noexcept;
    [[nodiscard]] const GroupMember* member_of(std::string_view topic) const noexcept;
    /// Joins the group, or only finds it, in a topic.
    GroupMember& take_part(const std::shared_ptr<const TopicFiles>& topic, GroupMember::Role role);
    [[nodiscard]] Position resolved(const GroupMember& member, std::uint32_t partition, Position position) const;
    /// Keeps all memberships up; notes in last_status_ what was lost.
    void keep_up();
    void read_what_is_held();
    void check_delivered();
    [[nodiscard]] bool may_show(const PartitionCursor& cursor);
    void close_memberships(bool finished) noexcept;
    /// Runs a commit, unless the consumer is in use elsewhere. A listener's commit is inside a call already.
    template <class Fill>
    CommitResult run_commit(const Fill& fill) noexcept;
    void add_all_to_commit();
    void add_to_commit(std::string_view topic, std::uint32_t partition, std::uint64_t offset);
    /// What one refused partition means for the others of a commit.
    enum class Refusal : std::uint8_t {
        of_all,  // all are checked before any is applied
        of_one,  // the others are committed
    };
    CommitResult finish_commit(Refusal refusal) noexcept;
    [[nodiscard]] bool at_most_once() const noexcept { return group_->delivery == Delivery::at_most_once; }

    void assign(const std::shared_ptr<const TopicFiles>& topic, std::uint32_t first, std::uint32_t count, Position from);

    // --- damaged partitions (consumer_damage.cpp) ---

    /// A partition that is assigned and cannot be read now; it is looked at again now and then.
    struct Aside {
        std::shared_ptr<const TopicFiles> topic;
        std::uint32_t partition = 0;
        Position from;
        bool told = false;
    };
    /// What an assignment finds: partitions that can be read, and those that cannot.
    struct Found {
        std::vector<std::shared_ptr<PartitionCursor>> moved;
        std::vector<std::shared_ptr<PartitionCursor>> fresh;
        std::vector<std::uint32_t> damaged;
    };
    [[nodiscard]] Found find_all(const std::shared_ptr<const TopicFiles>& topic, std::uint32_t first, std::uint32_t count, GroupMember* bystander);
    [[nodiscard]] std::shared_ptr<PartitionCursor> open(const std::shared_ptr<const TopicFiles>& topic, std::uint32_t partition, GroupMember* bystander) const;
    void set_aside(std::shared_ptr<const TopicFiles> topic, std::uint32_t partition, Position from, bool told);
    void forget_aside(std::string_view topic, std::uint32_t partition);
    void note_aside() noexcept;
    void tell_aside();
    void take_back();
    [[nodiscard]] bool take_back(const Aside& aside);
    void move_damaged_aside();
    void check_not_aside(std::string_view topic, std::uint32_t partition) const;
    void begin_anew();
    void hold_all(std::span<const std::shared_ptr<PartitionCursor>> cursors, std::string_view name);
    [[nodiscard]] std::size_t find(std::string_view topic, std::uint32_t partition) const noexcept;
    void check_not_forked() const;
    void check_may_change() const;
    void check_by_hand(const std::string& what) const;

    /// One pass over the partitions, each giving up to `share` records.
    void collect(std::size_t share);
    /// Looks at all partitions, fairly. True if the batch is not empty or the status is not ok.
    bool look_once();
    VisitStatus stop_visit(Status why) noexcept;
    Status collect_from(PartitionCursor& cursor, std::size_t count);
    /// Notes that the partition cannot be read, once a poll or visit.
    void fail(const PartitionCursor& cursor, Status status);
    void fail(std::string_view topic, std::uint32_t partition, Status status);
    void drop_gone();
    [[nodiscard]] bool failed(const PartitionCursor& cursor, Status status) const noexcept;
    void forget_failures() noexcept;
    void wait_and_look(std::chrono::nanoseconds timeout);
    void sleep(std::chrono::nanoseconds left) noexcept;
    void rearm();

    std::shared_ptr<Broker::Impl> broker_;
    platform::ForkGuard fork_guard_;  // the broker's
    ConsumerOptions options_;
    std::optional<GroupOptions> group_;
    std::vector<std::unique_ptr<GroupMember>> members_;      // by topic
    std::vector<std::unique_ptr<GroupMember>> past_members_;  // records and failures still name their topics
    std::vector<PartitionCommit> commits_;
    std::vector<PartitionOffset> highest_;  // of the records of one commit
    bool in_listener_ = false;
    std::vector<std::shared_ptr<PartitionCursor>> cursors_;
    std::size_t next_ = 0;  // the cursor whose turn it is
    PollBatch batch_;
    ConsumerRecord visited_;
    Status last_status_ = Status::ok;
    Gap last_gap_;
    PartitionFailure last_failure_;
    std::vector<PartitionFailure> failures_;
    std::vector<std::shared_ptr<PartitionCursor>> dropped_;  // of deleted topics: records and failures still name them
    std::vector<Aside> aside_;
    std::vector<std::shared_ptr<const TopicFiles>> past_topics_;  // failures still name them
    std::uint64_t taken_back_ticks_ = 0;  // when aside_ was last looked at
    std::string gate_name_;                                  // empty: no gates are held
    std::uint64_t patience_ticks_ = 0;
    UseFlag use_;
    std::unique_ptr<Readiness> readiness_;
};

}  // namespace ringmain
