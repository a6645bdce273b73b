// A worker is killed, or stopped and resumed late, at every instruction of what it does to a queue.
//
// The quick run takes a sample of each operation's instructions; RINGMAIN_LONG=1 takes all. RINGMAIN_STEP=text takes only
// the scenarios whose names contain the text.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "crash/victim.hpp"
#include "crash/work_stage.hpp"
#include "support/catch.hpp"

using namespace ringmain;
using namespace ringmain::crash;

namespace {

constexpr std::uint64_t kSample = 60;
constexpr std::uint64_t kWrapSample = 5;
constexpr unsigned kHangSeconds = 60;

enum class Fate { killed, resumed };

struct Counts {
    std::uint64_t points = 0;
    std::uint64_t bad = 0;
};

class WorkStepper {
public:
    explicit WorkStepper(const WorkScenario& scenario) : scenario_(scenario), bytes_(WorkStage::bytes(scenario.shape)) {
        prepared_.emplace(bytes_.data(), scenario.shape);
        prepared_->view.format();
        for (std::uint32_t slot = 0; slot < scenario.shape.workers; ++slot)
            prepared_->view.workers.slot(slot).owner.store(slot == kVictimSlot ? kVictim : slot == kMySlot ? kMe : kHeir + slot,
                                                           std::memory_order_release);
        prepared_->view.publish_many(WorkStage::kRecords);
        scenario.prepare(*prepared_);
        bytes_.remember();
        WorkStage once = *prepared_;
        scenario.operation(once, *once.victim());  // resolves the symbols that it needs, so that no victim has to
        bytes_.restore();
    }

    std::uint64_t length() {
        WorkStage stage = begin();
        const auto worker = stage.victim();
        Victim victim([&] { scenario_.operation(stage, *worker); }, stage.report->done);
        return victim.step(1'000'000);
    }

    /// Everything that is wrong.
    std::vector<std::string> run_point(std::uint64_t instruction, Fate fate) {
        ::alarm(kHangSeconds);
        WorkStage stage = begin();
        const auto worker = stage.victim();
        Victim victim([&] { scenario_.operation(stage, *worker); }, stage.report->done);
        victim.step(instruction);
        if (fate == Fate::killed) victim.kill();
        WorkOthers others(stage, scenario_.meanwhile);
        others.finish_all(fate == Fate::killed);
        others.go_on();
        others.remember();
        std::vector<std::string> faults;
        if (fate == Fate::resumed && !victim.resume()) faults.emplace_back("the late one does not come to its end");
        others.compare();
        others.judge(fate == Fate::resumed);
        ::alarm(0);
        faults.insert(faults.end(), others.faults().begin(), others.faults().end());
        return faults;
    }

private:
    WorkStage begin() {
        bytes_.restore();
        return *prepared_;
    }

    WorkScenario scenario_;
    SharedBytes bytes_;
    std::optional<WorkStage> prepared_;
};

/// About `sample` points of each scenario, or all.
Counts run(Fate fate, const std::vector<WorkScenario>& scenarios, std::uint64_t sample) {
    stay_on_one_core();
    const char* only = std::getenv("RINGMAIN_STEP");
    Counts total;
    std::printf("%-84s %12s %8s %5s\n", "stopped in", "instructions", "points", "bad");
    for (const WorkScenario& scenario : scenarios) {
        if (only != nullptr && scenario.name.find(only) == std::string::npos) continue;
        WorkStepper stepper(scenario);
        const std::uint64_t length = stepper.length();
        const std::uint64_t stride = std::getenv("RINGMAIN_LONG") != nullptr ? 1 : std::max<std::uint64_t>(1, length / sample);
        Counts counts;
        std::string first_bad;
        for (std::uint64_t instruction = 0; instruction <= length; instruction += stride, ++counts.points) {
            const auto faults = stepper.run_point(instruction, fate);
            if (faults.empty()) continue;
            ++counts.bad;
            if (first_bad.empty()) first_bad = "   first at instruction " + std::to_string(instruction) + ": " + faults.front();
        }
        std::printf("%-84s %12llu %8llu %5llu%s\n", scenario.name.c_str(), static_cast<unsigned long long>(length),
                    static_cast<unsigned long long>(counts.points), static_cast<unsigned long long>(counts.bad), first_bad.c_str());
        std::fflush(stdout);
        CHECK(length > 10);
        total.points += counts.points;
        total.bad += counts.bad;
    }
    std::printf("%-84s %12s %8llu %5llu\n", "total", "", static_cast<unsigned long long>(total.points),
                static_cast<unsigned long long>(total.bad));
    return total;
}

}  // namespace

TEST_CASE("step_kill: a worker of a queue killed at any instruction loses nothing, doubles no letter and blocks nobody") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    const Counts total = run(Fate::killed, work_scenarios(), kSample);
    CHECK(total.points > 0);
    CHECK(total.bad == 0);
}

TEST_CASE("step_stop: a worker of a queue stopped at any instruction blocks nobody, and changes nothing of others when it wakes up") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    const Counts total = run(Fate::resumed, work_scenarios(), kSample);
    CHECK(total.points > 0);
    CHECK(total.bad == 0);
}

TEST_CASE("step_wrap: a worker of a queue is killed and stopped around offsets 2^32, 2^48, 2^60 and 2^61, and letters around 2^32") {
    if (const auto refused = stepping_refused()) SKIP(*refused);
    // 2^60: a finished word has so many bits for its offset
    for (const unsigned power : {32U, 48U, 60U, 61U}) {
        const auto scenarios = work_scenarios((std::uint64_t{1} << power) - 2, (std::uint64_t{1} << 32) - 1);
        for (const Fate fate : {Fate::killed, Fate::resumed}) {
            const Counts total = run(fate, scenarios, kWrapSample);
            CHECK(total.points > 0);
            CHECK(total.bad == 0);
        }
    }
}
