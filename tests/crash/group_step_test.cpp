// A process is killed, or stopped and resumed late, at every instruction of what it does to a consumer group.
//
// It is killed after each effect and stopped after each access to what is shared, which is as good as at each instruction
// (effects.hpp says why); around large offsets it is stopped after every third. RINGMAIN_LONG=1 takes all, and each instruction
// besides. RINGMAIN_STEP=text takes only the scenarios whose names contain the text.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crash/group_stage.hpp"
#include "crash/stride.hpp"
#include "support/catch.hpp"

using namespace ringmain;
using namespace ringmain::crash;
using namespace ringmain::group_table;

namespace {

constexpr std::uint64_t kStepsMax = 1'000'000;
constexpr unsigned kHangSeconds = 60;
constexpr int kPolls = 3;  // more than any hand-over between two takes

enum class Fate { killed, resumed };

struct Counts {
    std::uint64_t points = 0;
    std::uint64_t bad = 0;
};

bool long_run() { return std::getenv("RINGMAIN_LONG") != nullptr; }

class GroupStepper {
public:
    GroupStepper(const GroupScenario& scenario, std::uint64_t first_offset) : scenario_(scenario), bytes_(GroupStage::bytes()) {
        prepared_.emplace(bytes_.data(), first_offset);
        prepared_->group = prepared_->create(test::kClientC, "group", scenario.gating).group;
        prepared_->me = GroupMember(prepared_->view, prepared_->group, test::kClientB);
        prepared_->victim = GroupMember(prepared_->view, prepared_->group, test::kClientA);
        scenario.prepare(*prepared_);
        bytes_.remember();
        GroupStage once = *prepared_;
        scenario.operation(once);  // resolves the symbols that it needs, so that no victim has to
        bytes_.restore();
    }

    std::uint64_t length(StrideUnit unit) {
        GroupStage stage = begin();
        Victim victim([&] { scenario_.operation(stage); }, stage.report->done);
        const std::uint64_t steps = Stride(victim, unit, watched()).advance(kStepsMax);
        REQUIRE(victim.done());
        return steps;
    }

    /// True if everything is as it must be.
    bool run_point(std::uint64_t steps, StrideUnit unit, Fate fate) {
        ::alarm(kHangSeconds);
        GroupStage stage = begin();
        Victim victim([&] { scenario_.operation(stage); }, stage.report->done);
        Stride stride(victim, unit, watched());
        bool good = stride.advance(steps) == steps;
        if (fate == Fate::killed) {
            victim.kill();
            stage.dead.push_back(test::kClientA);
        }
        good = others_go_on(stage) && good;
        if (fate == Fate::resumed) {
            good = stride.resume() && good;
            good = acknowledged_is_kept(stage) && good;
            victim.kill();
            stage.dead.push_back(test::kClientA);
        }
        good = finish(stage) && good;
        ::alarm(0);
        return good;
    }

private:
    /// The table, without the page in which a victim reports.
    [[nodiscard]] std::span<std::byte> watched() const noexcept { return {bytes_.data(), GroupStage::bytes() - layout::kPageBytes}; }

    GroupStage begin() {
        bytes_.restore();
        return *prepared_;
    }

    /// Nobody waits for the victim: whoever wants the group has it, and its partitions after the victim's eviction.
    bool others_go_on(GroupStage& stage) {
        if (scenario_.deletes) return finish_deletion(stage);
        if (stage.create(test::kClientB, "new", false).status > FindStatus::created) return false;
        if (!stage.me.in() && stage.me.join(stage.is_dead()) != JoinStatus::joined) return false;
        // the victim is dead, or has not polled for long: out of the set either way
        const SetWord seen = stage.set();
        evict(stage.view.groups, stage.group.slot, seen, seen.live & ~(std::uint64_t{1} << stage.me.membership().slot()));
        if (scenario_.resets) stage.reset_all(GroupStage::kRecords / 2);
        return take_all(stage);
    }

    bool take_all(GroupStage& stage) {
        std::array<std::uint64_t, GroupStage::kPartitions> words{};
        for (std::uint32_t p = 0; p < words.size(); ++p) words[p] = stage.committed(p);
        for (int i = 0; i < kPolls; ++i) {
            for (std::uint32_t p = 0; p < words.size(); ++p) stage.me.read(p, 0);  // what was lost is noticed
            stage.me.poll();
        }
        for (std::uint32_t p = 0; p < words.size(); ++p) {
            if (!stage.me.holds(p) || !may_be_committed(words[p])) return false;
            start_[p] = stage.me.position(p) - stage.first;
            if (start_[p] > words[p] && start_[p] > GroupStage::kHandedOut + GroupStage::kCommitted) return false;
            stage.me.read(p, GroupStage::kRecords);
            if (stage.me.commit(p).status != CommitStatus::committed) return false;
        }
        return true;
    }

    /// The start, what was committed before, what the operation commits, or a reset's target; nothing in between.
    [[nodiscard]] bool may_be_committed(std::uint64_t records) const {
        return records == 0 || records == GroupStage::kCommitted || records == scenario_.commits ||
               (scenario_.resets && records == GroupStage::kRecords / 2);
    }

    /// A commit that was answered with yes was in place when the next owner began.
    [[nodiscard]] bool acknowledged_is_kept(const GroupStage& stage) const {
        for (std::uint32_t p = 0; p < GroupStage::kPartitions; ++p) {
            if (stage.report->committed[p] && start_[p] < scenario_.commits) return false;
        }
        return true;
    }

    bool finish_deletion(GroupStage& stage) {
        (void)delete_group(stage.view.groups, stage.group, true);
        if (stage.set().state == GroupState::closed) sweep(stage.view.groups, stage.group.slot);
        if (stage.me.poll() || stage.me.last_look() != LookStatus::group_deleted) return false;
        return stage.create(test::kClientB, "group", false).status <= FindStatus::created;
    }

    /// All is given back: one member, its slot, no claims; and the late one has moved nothing backwards.
    bool finish(GroupStage& stage) {
        const auto& groups = stage.view.groups;
        if (!scenario_.deletes) {
            if (scenario_.resets) stage.reset_all(GroupStage::kRecords);  // a late operator's targets are replaced by the next plan
            for (std::uint32_t p = 0; p < GroupStage::kPartitions; ++p) {
                if (stage.committed(p) != GroupStage::kRecords) return false;
            }
            evict_dead(groups, stage.group.slot, stage.is_dead());
            const SetWord seen = stage.set();
            evict(groups, stage.group.slot, seen, seen.live & ~(std::uint64_t{1} << stage.me.membership().slot()));
            free_member_slots(groups, stage.group.slot, stage.is_dead());
            if (!stage.me.in()) return false;
            for (int i = 0; i < kPolls; ++i) {
                for (std::uint32_t p = 0; p < GroupStage::kPartitions; ++p) stage.me.read(p, 0);
                stage.me.poll();
            }
            if (stage.me.holdings() != GroupStage::kPartitions || stage.set().members() != 1) return false;
            std::uint32_t held = 0;
            for (std::uint32_t slot = 0; slot < groups.members_max(); ++slot) held += groups.head(stage.group.slot, slot).held ? 1 : 0;
            if (held != 1) return false;
        }
        // whatever was claimed comes back: exactly as many groups fit as there are slots
        stage.dead.push_back(test::kClientC);
        std::uint32_t open = 0;
        for (int i = 0; i < 6; ++i) (void)stage.create(test::kClientB, "fill " + std::to_string(i), false);
        for (std::uint32_t slot = 0; slot < groups.groups_max(); ++slot) open += groups.set(slot).state == GroupState::open ? 1 : 0;
        return open == groups.groups_max();
    }

    GroupScenario scenario_;
    SharedBytes bytes_;
    std::optional<GroupStage> prepared_;
    std::array<std::uint64_t, GroupStage::kPartitions> start_{};  // of the next owner, in records from the first one on
};

/// Every `stride`-th step of a scenario.
Counts run_all(GroupStepper& stepper, const std::string& name, StrideUnit unit, Fate fate, std::uint64_t stride) {
    const std::uint64_t length = stepper.length(unit);
    Counts counts;
    std::optional<std::uint64_t> first_bad;
    for (std::uint64_t steps = 0; steps <= length; steps += stride, ++counts.points) {
        if (stepper.run_point(steps, unit, fate)) continue;
        ++counts.bad;
        if (!first_bad) first_bad = steps;
    }
    const char* const what = unit == StrideUnit::instruction ? "instructions" : unit == StrideUnit::effect ? "effects" : "accesses";
    std::printf("%-40s %-12s %8llu %5llu", name.c_str(), what, static_cast<unsigned long long>(counts.points), static_cast<unsigned long long>(counts.bad));
    if (first_bad) std::printf("   first after %llu", static_cast<unsigned long long>(*first_bad));
    std::printf("\n");
    std::fflush(stdout);
    CHECK(length > 0);
    return counts;
}

Counts run(Fate fate, std::uint64_t first_offset = 0, std::uint64_t stride = 1) {
    stay_on_one_core();
    const char* only = std::getenv("RINGMAIN_STEP");
    std::vector<StrideUnit> units;
    if (!effects_refused()) units.push_back(fate == Fate::killed ? StrideUnit::effect : StrideUnit::access);
    if (long_run()) units.push_back(StrideUnit::instruction);
    Counts total;
    std::printf("%-40s %-12s %8s %5s\n", "stopped in", "after each of", "points", "bad");
    for (const GroupScenario& scenario : group_scenarios()) {
        if (only != nullptr && scenario.name.find(only) == std::string::npos) continue;
        GroupStepper stepper(scenario, first_offset);
        INFO(scenario.name);
        for (const StrideUnit unit : units) {
            const Counts counts = run_all(stepper, scenario.name, unit, fate, stride);
            total.points += counts.points;
            total.bad += counts.bad;
        }
    }
    std::printf("%-40s %-12s %8llu %5llu\n", "total", "", static_cast<unsigned long long>(total.points),
                static_cast<unsigned long long>(total.bad));
    return total;
}

}  // namespace

TEST_CASE("step_kill: a member, an operator or a creator of groups killed at any instruction harms nobody") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    const Counts total = run(Fate::killed);
    CHECK(total.points > 0);
    CHECK(total.bad == 0);
}

TEST_CASE("step_stop: a member, an operator or a creator of groups stopped at any instruction harms nobody, nor when it wakes up") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    const Counts total = run(Fate::resumed);
    CHECK(total.points > 0);
    CHECK(total.bad == 0);
}

TEST_CASE("step_wrap: members, operators and creators of groups are killed and stopped around offsets 2^32, 2^48 and 2^61") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    for (const unsigned power : {32U, 48U, 61U}) {
        // between what is committed before and what the victim commits or hands over
        const std::uint64_t first_offset = (std::uint64_t{1} << power) - 6;
        for (const Fate fate : {Fate::killed, Fate::resumed}) {
            const Counts total = run(fate, first_offset, fate == Fate::killed || long_run() ? 1 : 3);
            CHECK(total.points > 0);
            CHECK(total.bad == 0);
        }
    }
}
