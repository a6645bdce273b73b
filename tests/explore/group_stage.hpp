// The groups of a topic for scenarios, and the oracle of a partition in a group: where each tenure begins and ends.
//
// The logs are numbers: how far they reach, where they begin, and how far movers announced to go.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "explore/explored_memory.hpp"
#include "explore/scenario.hpp"
#include "partition_log/log_start.hpp"
#include "support/plain_groups.hpp"
#include "support/plain_log.hpp"

namespace ringmain::explore {

/// What is known from outside about one partition in a group. Its generations follow each other without a gap; of each
/// it is known who made it, where it began, and how far it came, or else somebody fell in between.
class PartitionStory {
public:
    static constexpr unsigned kGenerations = 32;

    void begin(std::uint64_t committed, std::uint32_t generation) noexcept;
    /// A member took the partition, and goes on at `committed`.
    void acquired(std::uint32_t generation, std::uint64_t committed);
    /// A commit is about to be tried, and was answered: in between it may have come to pass or not.
    void asks(std::uint32_t generation, std::uint64_t offset);
    void counted(std::uint32_t generation, std::uint64_t offset);
    void refused(std::uint32_t generation);
    /// The tenure is to be given up, or the owner to leave: it may be taken from now on.
    void gives_up(std::uint32_t generation) { at(generation).given_up = true; }
    [[nodiscard]] bool may_be_taken(std::uint32_t generation) { return at(generation).given_up; }
    /// A reset of the thread is about to be tried, and was done.
    void resets(unsigned thread, std::uint64_t target) noexcept { resets_[thread] = target; }
    void reset_done(unsigned thread, std::uint32_t generation, std::uint64_t committed);

    /// Each generation begins exactly where the one before ended: no commit is lost, and none counted that was refused.
    void finish(const group_table::PartitionWord& last) const;

private:
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};
    struct Generation {
        bool known = false;
        bool given_up = false;
        std::uint64_t began = 0;
        bool reset = false;
        std::uint64_t committed = 0;
        std::uint64_t asked = kNone;
    };
    [[nodiscard]] Generation& at(std::uint32_t generation);

    std::uint32_t first_ = 0;
    std::array<Generation, kGenerations> generations_{};
    std::array<std::uint64_t, kThreadsMax> resets_{};
};

struct GroupShape {
    std::uint32_t partitions = 1;
    std::uint32_t groups_max = 1;
    std::uint32_t members_max = 2;
    unsigned members = 0;  // threads that are members at the beginning, with the session time-out of kTimeoutMs
    bool owned = false;    // thread 0 owns every partition at the beginning
    bool gating = false;
    std::uint64_t lag_records_max = 0;
    bool creates = false;  // groups begin or end in it
};

/// The base of all scenarios of groups. Thread i is client i + 1; the group is there from the beginning.
class GroupStage : public Scenario {
public:
    GroupStage(const GroupShape& shape, const Bounds& bounds, unsigned threads);

    void set_up() override;
    void begin() override;
    void finish() override;
    [[nodiscard]] std::string name_of_location(const void* address) const override;

protected:
    using M = ExploredMemory;
    using Groups = group_table::GroupsMemory<M>;
    using Member = group_table::Membership<M>;

    static constexpr std::uint64_t kTimeoutMs = 8;
    static constexpr std::string_view kName = "g";

    [[nodiscard]] static constexpr std::uint64_t client_of(unsigned thread) noexcept {
        return std::uint64_t{1} << 32 | (thread + 1);
    }
    struct IsDead {
        bool operator()(std::uint64_t client) const {
            const unsigned thread = static_cast<unsigned>(client & 0xff) - 1;
            return thread < kThreadsMax && proven_dead(thread);  // a planted fault may make a word of nobody
        }
    };
    /// Of nobody.
    struct NoneIsDead {
        bool operator()(std::uint64_t) const noexcept { return false; }
    };

    /// The member that a thread is at the beginning.
    [[nodiscard]] Member member(unsigned thread) const { return *members_[thread]; }
    [[nodiscard]] Member new_member(unsigned thread) const {
        return {view_.groups, group_, client_of(thread), {{}, kTimeoutMs}};
    }
    /// An observer that is about to find overdue who does not poll.
    [[nodiscard]] group_table::Observer observer() const { return observer_; }
    static constexpr std::uint64_t kLookNs = kTimeoutMs * 1'000'000;

    /// The tenure of thread 0 at the beginning.
    [[nodiscard]] group_table::Tenure first_tenure(std::uint32_t partition) const noexcept {
        return {partition, first_generation_[partition]};
    }
    /// Takes the partition if it is free to take.
    std::optional<group_table::Tenure> acquire(const Member& member, std::uint32_t partition);
    /// Commits one partition. True: it was counted.
    bool commit(const Member& member, group_table::Tenure tenure, std::uint64_t offset);
    void release(const Member& member, group_table::Tenure tenure, std::optional<std::uint64_t> finished);
    /// One partition of a thread's plan.
    group_table::ResetDone reset(const group_table::GroupReset<M>& plan, std::uint32_t partition, std::uint64_t target);

    [[nodiscard]] group_table::SetWord set() const noexcept { return view_.groups.set(group_.slot); }
    [[nodiscard]] group_table::PartitionWord word(std::uint32_t partition) const noexcept {
        return view_.groups.word(group_.slot, partition);
    }
    [[nodiscard]] std::uint64_t log_start() const noexcept { return newest(&view_.controls[0].log_start); }
    /// The log of partition 0, as movers of its start see it.
    [[nodiscard]] partition_log::LogMemory<M> log() const noexcept;
    /// Whoever is proven dead is no member any more, and any partition whose owner is gone can be taken.
    void check_nobody_is_waited_for();

    GroupShape shape_;
    test::PageMemory memory_;
    test::GroupsView<M> view_;
    group_table::GroupRef group_;
    std::array<PartitionStory, 2> stories_;
    bool tells_stories_ = true;

private:
    [[nodiscard]] static layout::GroupsGeometry geometry(const GroupShape& shape) noexcept {
        return {shape.partitions, shape.groups_max, shape.members_max, 0};
    }
    void keep_calm_what_is_only_shown();

    std::array<std::optional<Member>, kThreadsMax> members_;
    std::array<std::uint32_t, 2> first_generation_{};
    group_table::Observer observer_;
};

}  // namespace ringmain::explore
