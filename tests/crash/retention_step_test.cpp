// A keeper is killed, or stopped and resumed late, at every instruction of a step of retention or of a deletion of records; a
// second keeper follows.
//
// It is killed after each effect and stopped after each access to what is shared, which is as good as at each instruction
// (effects.hpp says why). RINGMAIN_LONG=1 takes each instruction besides. RINGMAIN_STEP=text takes only the scenarios whose names
// contain the text.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crash/retention_stage.hpp"
#include "crash/stride.hpp"
#include "support/catch.hpp"

using namespace ringmain;
using namespace ringmain::crash;

namespace {

constexpr std::uint64_t kStepsMax = 1'000'000;
constexpr unsigned kHangSeconds = 60;

enum class Fate { killed, resumed };

/// What a limit promises, looked at after each step of the second keeper.
class Promise {
public:
    explicit Promise(RetentionStage& stage) : stage_(stage), keeper_(stage.log) {}

    /// Lets another keeper work for a while. False if something went that had to stay.
    bool follow(std::uint64_t ns) {
        const std::uint64_t until = stage_.now.now_ns + ns;
        for (; stage_.now.now_ns < until; stage_.pass(RetentionStage::kStepNs)) {
            (void)stage_.step(keeper_);
            if (!nothing_went_early()) return false;
        }
        return true;
    }
    /// The same, for as long as it takes; false also if something stayed that had to go.
    bool follow_to_the_end() { return follow(3 * RetentionStage::kSecond) && all_went_that_had_to(); }

    [[nodiscard]] bool nothing_went_early() const {
        const std::uint64_t start = stage_.start();
        if (start > stage_.end() || !partition_log::check_control(stage_.log).sound()) return false;
        if (stage_.gate && start > stage_.gate_from) return false;
        const Retention& limits = stage_.limits;
        if (limits.records != 0 && stage_.end() - start < limits.records) return false;
        if (limits.bytes != 0 && start != 0 && (stage_.end() - start) * RetentionStage::kRecordBytes < limits.bytes * 98 / 100) return false;
        return limits.age.count() == 0 || start == 0 || age_of(start - 1) >= RetentionStage::kSecond;
    }

private:
    [[nodiscard]] std::uint64_t age_of(std::uint64_t offset) const { return stage_.now.now_ns - stage_.appended_ns[offset]; }

    [[nodiscard]] bool all_went_that_had_to() const {
        const std::uint64_t kept = stage_.end() - stage_.start();
        if (stage_.limits.age.count() != 0) return kept == 0;
        if (stage_.limits.records != 0) return kept <= stage_.limits.records;
        return kept * RetentionStage::kRecordBytes <= stage_.limits.bytes;
    }

    RetentionStage& stage_;
    RetentionStage::Keeper keeper_;
};

class RetentionStepper {
public:
    explicit RetentionStepper(const RetentionScenario& scenario) : scenario_(scenario), bytes_(RetentionStage::bytes(scenario.block)) {
        prepared_.emplace(bytes_.data(), scenario.block, scenario.limits);
        scenario.prepare(*prepared_);
        bytes_.remember();
        RetentionStage once = *prepared_;
        scenario.operation(once);  // resolves the symbols that it needs, so that no victim has to
        moved_ = once.start() != once.log.first_offset;
        bytes_.restore();
    }

    [[nodiscard]] bool moves_start() const noexcept { return moved_; }

    std::uint64_t length(StrideUnit unit) {
        RetentionStage stage = begin();
        Victim victim([&] { scenario_.operation(stage); }, *stage.done);
        const std::uint64_t steps = Stride(victim, unit, watched()).advance(kStepsMax);
        REQUIRE(victim.done());
        return steps;
    }

    /// True if everything is as it must be.
    bool run_point(std::uint64_t steps, StrideUnit unit, Fate fate) {
        ::alarm(kHangSeconds);
        RetentionStage stage = begin();
        Victim victim([&] { scenario_.operation(stage); }, *stage.done);
        Stride stride(victim, unit, watched());
        bool good = stride.advance(steps) == steps;
        if (fate == Fate::killed) victim.kill();
        good = others_go_on(stage) && good;
        if (fate == Fate::resumed) {
            good = stride.resume() && good;
            victim.kill();
            good = Promise(stage).nothing_went_early() && good;
        }
        good = finish(stage) && good;
        ::alarm(0);
        return good;
    }

private:
    /// The partition, without the page in which a victim says that it is done.
    [[nodiscard]] std::span<std::byte> watched() const noexcept { return {bytes_.data(), RetentionStage::bytes(scenario_.block) - layout::kPageBytes}; }

    RetentionStage begin() {
        bytes_.restore();
        return *prepared_;
    }

    /// Producers publish, a reader begins to gate, another keeper works or another user deletes: beside the victim.
    bool others_go_on(RetentionStage& stage) {
        if (!Promise(stage).nothing_went_early()) return false;
        stage.publish(5);
        if (scenario_.block && !stage.gate) (void)stage.hold_gate(stage.start());
        if (scenario_.deletes_before != 0) return delete_again(stage);
        return Promise(stage).follow(10 * RetentionStage::kStepNs);
    }

    bool delete_again(RetentionStage& stage) const {
        const std::uint64_t target = scenario_.deletes_before;
        const std::uint64_t held = stage.gate ? std::min(stage.gate_from, target) : target;
        const auto moved = partition_log::delete_before(stage.log, target);
        return moved.start == held && stage.start() == held && moved.gate.has_value() == (held < target);
    }

    /// All gates are gone: everything that has to go goes, and a third keeper finds marks that are right.
    bool finish(RetentionStage& stage) {
        stage.drop_gate();
        stage.publish(5);
        if (scenario_.deletes_before != 0) return delete_again(stage);
        if (!Promise(stage).follow_to_the_end()) return false;
        stage.publish(50);
        return Promise(stage).follow_to_the_end();
    }

    RetentionScenario scenario_;
    SharedBytes bytes_;
    std::optional<RetentionStage> prepared_;
    bool moved_ = false;
};

struct Counts {
    std::uint64_t points = 0;
    std::uint64_t bad = 0;
};

/// All steps of a scenario, or the first that went wrong and those beside it.
Counts run_all(RetentionStepper& stepper, const std::string& name, StrideUnit unit, Fate fate) {
    const std::uint64_t length = stepper.length(unit);
    Counts counts;
    std::optional<std::uint64_t> first_bad;
    for (std::uint64_t steps = 0; steps <= length; ++steps, ++counts.points) {
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

Counts run(Fate fate) {
    stay_on_one_core();
    const char* only = std::getenv("RINGMAIN_STEP");
    std::vector<StrideUnit> units;
    if (!effects_refused()) units.push_back(fate == Fate::killed ? StrideUnit::effect : StrideUnit::access);
    if (std::getenv("RINGMAIN_LONG") != nullptr) units.push_back(StrideUnit::instruction);
    Counts total;
    std::printf("%-40s %-12s %8s %5s\n", "stopped in", "after each of", "points", "bad");
    for (const RetentionScenario& scenario : retention_scenarios()) {
        if (only != nullptr && scenario.name.find(only) == std::string::npos) continue;
        RetentionStepper stepper(scenario);
        INFO(scenario.name);
        CHECK((stepper.moves_start() || scenario.name == "mark an age"));
        for (const StrideUnit unit : units) {
            const Counts counts = run_all(stepper, scenario.name, unit, fate);
            total.points += counts.points;
            total.bad += counts.bad;
        }
    }
    return total;
}

}  // namespace

TEST_CASE("step_kill: a keeper killed at any instruction of retention is followed by one that goes on") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    const Counts total = run(Fate::killed);
    CHECK(total.points > 0);
    CHECK(total.bad == 0);
}

TEST_CASE("step_stop: a keeper stopped at any instruction of retention deletes nothing early, nor when it wakes up late") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    const Counts total = run(Fate::resumed);
    CHECK(total.points > 0);
    CHECK(total.bad == 0);
}
