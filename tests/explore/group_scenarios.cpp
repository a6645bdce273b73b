// Scenarios of a group's partitions: hand-over, commits that race it, resets.
#include "explore/group_stage.hpp"

namespace ringmain::explore {

namespace {

using group_table::Tenure;

// Two members come, share two partitions, read, commit and go, or one dies in it. Whoever is left takes everything.
class JoinAndLeave : public GroupStage {
public:
    explicit JoinAndLeave(const Bounds& bounds) : GroupStage({.partitions = 2}, bounds, 2) {}
    void thread(unsigned index) override {
        test::PollingMember<M> member(view_, group_, client_of(index));
        require(member.join(NoneIsDead{}) == group_table::JoinStatus::joined, "there is no slot for a member");
        std::array<std::uint32_t, 2> told{};
        for (unsigned round = 0; round < 2; ++round) {
            require(member.poll(), "a member is none any more, and nobody took it out");
            for (std::uint32_t partition = 0; partition < 2; ++partition)
                work_on(member, partition, told);
        }
        for (std::uint32_t partition = 0; partition < 2; ++partition) {
            if (member.holds(partition))
                stories_[partition].asks(member.tenure(partition).generation, member.position(partition));
        }
        member.leave();
    }
    void finish() override {
        GroupStage::finish();
        check_nobody_is_waited_for();
        require(set().live == 0, "a member that left, or died, is still one");
        test::PollingMember<M> last(view_, group_, client_of(2));
        require(last.join(NoneIsDead{}) == group_table::JoinStatus::joined, "a slot of a member that left is not free");
        require(last.poll() && last.holdings() == 2, "a partition stays with a member that left");
    }

private:
    void work_on(test::PollingMember<M>& member, std::uint32_t partition, std::array<std::uint32_t, 2>& told) {
        PartitionStory& story = stories_[partition];
        if (!member.holds(partition))
            return;
        const std::uint32_t generation = member.tenure(partition).generation;
        if (std::exchange(told[partition], generation) != generation)
            story.acquired(generation, member.position(partition));
        if (member.read(partition, 1) == 0)
            return;
        story.asks(generation, member.position(partition));
        const group_table::CommitItem item = member.commit(partition);
        require(item.status == group_table::CommitStatus::committed, "a commit of a member is refused");
        story.counted(generation, item.committed);
    }
};

// The owner is alive: its heir gets nothing before it is given up, and then exactly what was finished.
class HandOver : public GroupStage {
public:
    HandOver() : GroupStage({.members = 2, .owned = true}, {.preemptions = 4, .stale = 2}, 2) {}
    void thread(unsigned index) override {
        Member me = member(index);
        if (index == 1) {
            inherit(me);
            return;
        }
        const Tenure tenure = first_tenure(0);
        for (std::uint64_t offset = 1; offset < 3; ++offset) {
            work().store(offset, std::memory_order_relaxed);
            require(commit(me, tenure, offset), "a commit of the owner is refused");
        }
        work().store(3, std::memory_order_relaxed);
        if (choose(2) == 0) {
            release(me, tenure, choose(2) == 0 ? std::optional<std::uint64_t>(3) : std::nullopt);
            require(!commit(me, tenure, 3), "a commit is counted after the partition was given up");
        } else {
            stories_[0].gives_up(tenure.generation);
            me.leave();
        }
    }
    void finish() override {
        GroupStage::finish();
        if (const auto tenure = acquire(member(1), 0))
            (void)commit(member(1), *tenure, 6);
        require(word(0).owner == member(1).positions().owner(), "the heir does not get what was given up");
    }

private:
    // What the records have been made into, as far as they were handled: any word of their own.
    [[nodiscard]] M::Atomic<std::uint64_t>& work() const noexcept { return view_.controls[0].lease; }

    void inherit(const Member& me) {
        for (unsigned tries = 0; tries < 2; ++tries) {
            const auto tenure = acquire(me, 0);
            if (!tenure)
                continue;
            require(work().load(std::memory_order_relaxed) >= me.positions().standing(*tenure).committed,
                    "an heir does not see what its predecessor did");
            require(stories_[0].may_be_taken(tenure->generation - 1), "a partition is taken from a live owner");
            (void)commit(me, *tenure, 5);
            return;
        }
    }
};

// The owner dies or stops anywhere. Who is proven dead is taken out at once, who does not poll when its time is over;
// the heir goes on at the last commit, and a stopped one that is not proven dead keeps its slot.
class HandOverFromFallen : public GroupStage {
public:
    HandOverFromFallen()
        : GroupStage({.members = 2, .owned = true},
                     {.preemptions = 2, .stale = 1, .deaths = 1, .stops = 1, .mortal = 1}, 2) {}
    void thread(unsigned index) override {
        Member me = member(index);
        if (index == 1) {
            inherit(me, observer());
            return;
        }
        const Tenure tenure = first_tenure(0);
        if (!commit(me, tenure, 1))
            return;
        me.count_poll(1);
        if (commit(me, tenure, 2))
            release(me, tenure, 3);
    }
    void finish() override {
        GroupStage::finish();
        check_nobody_is_waited_for();
        if (!proven_dead(0))
            return;
        const auto tenure = acquire(member(1), 0);
        require(tenure.has_value(), "the dead owner's partition is not free");
        GroupStage::finish();
    }

private:
    void inherit(const Member& me, group_table::Observer observer) {
        std::uint64_t now = 9 * kLookNs;
        for (unsigned look = 0; look < 2; ++look, now += kLookNs) {
            (void)group_table::evict_dead(view_.groups, group_.slot, IsDead{});
            const auto verdict = observer.look(view_.groups, group_.slot, now);
            const std::uint64_t others = verdict.overdue & ~(std::uint64_t{1} << me.slot());
            (void)group_table::evict(view_.groups, group_.slot, verdict.set, others);
            if (const auto tenure = acquire(me, 0)) {
                require(commit(me, *tenure, 5), "a commit of the heir is refused");
                return;
            }
        }
    }
};

// A member that is at work is evicted by mistake while it commits, and is told so. Its heir may die.
class CommitAndEviction : public GroupStage {
public:
    CommitAndEviction()
        : GroupStage({.members = 2, .owned = true}, {.preemptions = 4, .stale = 2, .deaths = 1, .mortal = 2}, 2) {}
    void thread(unsigned index) override {
        Member me = member(index);
        if (index == 1) {
            evict_and_inherit(me);
            return;
        }
        const Tenure tenure = first_tenure(0);
        for (std::uint64_t offset = 1; offset <= 3; ++offset) {
            if (commit(me, tenure, offset))
                continue;
            require(me.look().status == group_table::LookStatus::evicted, "a fenced owner is not told why");
            return;
        }
    }
    void finish() override {
        GroupStage::finish();
        check_nobody_is_waited_for();
    }

private:
    void evict_and_inherit(const Member& me) {
        const group_table::SetWord seen = set();
        (void)group_table::evict(view_.groups, group_.slot, seen, std::uint64_t{1} << member(0).slot());
        std::optional<Tenure> tenure;
        for (unsigned tries = 0; tries < 4 && !tenure;
             ++tries)  // each commit of the evicted one may be in the way once
            tenure = acquire(me, 0);
        require(tenure.has_value(), "an evicted owner's partition is not free");
        require(commit(me, *tenure, 5) && commit(me, *tenure, 6), "a commit of the heir is refused");
    }
};

// The same; the evicted one joins again with a new incarnation, where it may die, and the heir leaves.
class EvictedRejoins : public GroupStage {
public:
    EvictedRejoins()
        : GroupStage({.members = 2, .owned = true}, {.preemptions = 3, .stale = 2, .deaths = 1, .mortal = 1}, 2) {}
    void thread(unsigned index) override {
        Member me = member(index);
        if (index == 1) {
            (void)group_table::evict(view_.groups, group_.slot, set(), std::uint64_t{1} << member(0).slot());
            if (const auto tenure = acquire(me, 0)) {
                if (commit(me, *tenure, 5))
                    release(me, *tenure, 6);
            }
            return;
        }
        Tenure tenure = first_tenure(0);
        if (commit(me, tenure, 1) && me.look().status == group_table::LookStatus::member)
            return;
        require(me.join(NoneIsDead{}, view_.floors()) == group_table::JoinStatus::joined, "there is no way back");
        if (const auto again = acquire(me, 0))
            (void)commit(me, *again, 7);
    }
    void finish() override {
        GroupStage::finish();
        check_nobody_is_waited_for();
        if (!proven_dead(0))
            return;
        if (const auto tenure = acquire(member(1), 0))
            (void)commit(member(1), *tenure, 8);
        require(word(0).owner == member(1).positions().owner(), "the dead owner's partition is not free");
        GroupStage::finish();
    }
};

// An operator resets both partitions under an owner that commits and comes back, and may die in between; another one
// runs the same plan once more.
class ResetAndCommit : public GroupStage {
public:
    static constexpr std::uint64_t kTarget = 7;
    explicit ResetAndCommit(const Bounds& bounds, unsigned threads = 3)
        : GroupStage({.partitions = 2, .members = 1, .owned = true}, bounds, threads) {}
    void begin() override {
        GroupStage::begin();
        planned_ = {};
    }
    void thread(unsigned index) override {
        if (index != 0) {
            run_plan();
            return;
        }
        const Member me = member(0);
        for (std::uint32_t partition = 0; partition < 2; ++partition) {
            Tenure tenure = first_tenure(partition);
            if (commit(me, tenure, 1) && commit(me, tenure, 2))
                continue;
            if (const auto again = acquire(me, partition))
                (void)commit(me, *again, kTarget + 1);
        }
    }
    void finish() override {
        GroupStage::finish();
        if (!planned_[1] && !planned_[2])
            run_plan();
        for (std::uint32_t partition = 0; partition < 2; ++partition)
            require(word(partition).committed >= kTarget, "a plan was run to its end, and a partition is elsewhere");
    }

private:
    void run_plan() {
        const group_table::GroupReset<M> plan(view_.groups, group_);
        group_table::ResetStatus begun = group_table::ResetStatus::changed;
        while (begun == group_table::ResetStatus::changed)
            begun = plan.begin(set(), true);
        require(begun == group_table::ResetStatus::begun, "a reset is refused");
        for (std::uint32_t partition = 0; partition < 2; ++partition)
            (void)reset(plan, partition, kTarget);
        plan.finish();
        planned_[this_thread() % kThreadsMax] = true;
    }

    std::array<bool, kThreadsMax> planned_{};
};

// An owner goes back by its own will while it is evicted, and may die in it.
class ReplayAndEviction : public GroupStage {
public:
    ReplayAndEviction()
        : GroupStage({.members = 2, .owned = true}, {.preemptions = 4, .stale = 2, .deaths = 1, .mortal = 1}, 2) {}
    void thread(unsigned index) override {
        const Member me = member(index);
        if (index == 1) {
            (void)group_table::evict(view_.groups, group_.slot, set(), std::uint64_t{1} << member(0).slot());
            if (const auto tenure = acquire(me, 0))
                require(commit(me, *tenure, 5), "a commit of the heir is refused");
            return;
        }
        Tenure tenure = first_tenure(0);
        if (!commit(me, tenure, 3))
            return;
        PartitionStory& story = stories_[0];
        const std::uint32_t before = tenure.generation;
        story.resets(0, 1);
        if (!me.positions().replay(tenure, 1, view_.floors()))
            return;
        require(tenure.generation != before, "a replay in the same tenure");
        story.reset_done(0, tenure.generation, 1);
        (void)commit(me, tenure, 2);
    }
};

const Registered join_and_leave{"groups.join_leave",
                                [] { return std::make_unique<JoinAndLeave>(Bounds{.preemptions = 2, .stale = 1}); }};
const Registered join_dying{
    "groups.join_dying",
    [] { return std::make_unique<JoinAndLeave>(Bounds{.preemptions = 1, .stale = 1, .deaths = 1, .mortal = 1}); }};
const Registered hand_over{"groups.hand_over", [] { return std::make_unique<HandOver>(); }};
const Registered hand_over_fallen{"groups.hand_over_fallen", [] { return std::make_unique<HandOverFromFallen>(); }};
const Registered commit_eviction{"groups.commit_eviction", [] { return std::make_unique<CommitAndEviction>(); }};
const Registered rejoin{"groups.rejoin", [] { return std::make_unique<EvictedRejoins>(); }};
const Registered reset_commit{"groups.reset_commit",
                              [] { return std::make_unique<ResetAndCommit>(Bounds{.preemptions = 3, .stale = 2}, 2); }};
const Registered reset_resumed{"groups.reset_resumed", [] {
                                   return std::make_unique<ResetAndCommit>(
                                       Bounds{.preemptions = 2, .stale = 1, .deaths = 1, .stops = 1, .mortal = 2});
                               }};
const Registered replay_eviction{"groups.replay_eviction", [] { return std::make_unique<ReplayAndEviction>(); }};

}  // namespace

}  // namespace ringmain::explore
