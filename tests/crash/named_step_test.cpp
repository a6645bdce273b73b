// A named producer is killed at every instruction of publish, the others go on for any number of laps, and its successor knows
// exactly what is in the log.
//
// The quick run takes every instruction of the usual publish and a sample of the rest; RINGMAIN_LONG=1 takes all.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "crash/named_stage.hpp"
#include "crash/shared_bytes.hpp"
#include "crash/victim.hpp"
#include "support/catch.hpp"

using namespace ringmain;
using namespace ringmain::crash;
using partition_log::IntentState;

namespace {

constexpr std::uint32_t kSuccessor = 3;
constexpr std::uint32_t kSecondSuccessor = 4;

std::uint64_t stride_for(std::uint64_t length, std::uint64_t points) {
    if (std::getenv("RINGMAIN_LONG") != nullptr)
        return 1;
    return std::max<std::uint64_t>(1, length / points);
}

struct Points {
    std::uint64_t tried = 0;
    std::uint64_t committed = 0;  // points at which the record was in the log
    std::uint64_t wrong = 0;
};

/// One shape, its beginning prepared once.
class NamedSteps {
public:
    explicit NamedSteps(const NamedShape& shape) : bytes_(NamedStage::bytes(shape)), prepared_(bytes_.data(), shape) {
        bytes_.remember();
    }

    NamedStage begin() {
        bytes_.restore();
        return prepared_;
    }
    static void operate(NamedStage& stage) {
        for (std::uint32_t i = 1; i <= stage.shape.records; ++i)
            (void)stage.publish(stage.victim, stage.shape.before + i);
    }
    std::uint64_t length() {
        NamedStage stage = begin();
        Victim victim([&] { operate(stage); }, *stage.done);
        return victim.step(1'000'000);
    }

    /// Killed at once, then `laps` of the others before the successor comes.
    void kill_at(std::uint64_t instruction, std::uint64_t laps) {
        NamedStage stage = begin();
        Victim victim([&] { operate(stage); }, *stage.done);
        victim.step(instruction);
        stage.look();
        victim.kill();
        finish(stage, laps);
    }

    /// Stopped while the others go on; nobody may have its name. Then some instructions more, and killed.
    void stop_at(std::uint64_t instruction, std::uint64_t more, std::uint64_t laps) {
        NamedStage stage = begin();
        Victim victim([&] { operate(stage); }, *stage.done);
        victim.step(instruction);
        stage.look();
        if (stage.plain)
            points.wrong += stage.publish_plain(laps * stage.log.records) ? 0 : 1;
        NamedProducer impatient;
        points.wrong += stage.attach(impatient, kSecondSuccessor) == recovery::NameOutcome::held ? 0 : 1;
        victim.step(more);
        stage.look();
        victim.kill();
        finish(stage, laps);
    }

    SharedBytes& bytes() noexcept { return bytes_; }

    Points points;

private:
    void finish(NamedStage& stage, std::uint64_t laps) {
        stage.dead.push_back(stage.victim.owner);
        if (stage.shape.exclusive && laps != 0) {
            stage.shape.exclusive = false;  // who comes now shares the partition
            stage.attach_plain();
        }
        if (laps != 0)
            points.wrong += stage.publish_plain(laps * stage.log.records) ? 0 : 1;
        points.committed += stage.last > stage.shape.before ? 1 : 0;
        points.wrong += stage.wrong_successor(kSuccessor);
        ++points.tried;
    }

    SharedBytes bytes_;
    NamedStage prepared_;
};

void print(const char* what, const NamedShape& shape, const Points& points) {
    std::printf("%-16s %-10s %-10s %3zu bytes, %u records: %6llu points, %6llu committed, %llu wrong\n", what,
                shape.exclusive ? "exclusive" : "shared", shape.block ? "block" : "overwrite", shape.value_bytes,
                shape.records, static_cast<unsigned long long>(points.tried),
                static_cast<unsigned long long>(points.committed), static_cast<unsigned long long>(points.wrong));
    std::fflush(stdout);
}

// Inline and large records, a batch, the first lap and later ones, both policies, shared and exclusive.
std::vector<NamedShape> shapes() {
    std::vector<NamedShape> shapes;
    for (const bool exclusive : {false, true}) {
        for (const bool block : {false, true}) {
            shapes.push_back({block, exclusive, 16, 1, 21});
            shapes.push_back({block, exclusive, 16, 1, 3});
            shapes.push_back({block, exclusive, 200, 1, 21});
            shapes.push_back({block, exclusive, 16, 3, 21});
        }
    }
    return shapes;
}

// The same where the operation's first record is the last one below the boundary.
std::vector<NamedShape> shapes_around(std::uint64_t boundary) {
    std::vector<NamedShape> around = shapes();
    for (NamedShape& shape : around)
        shape.first_offset = boundary - 1 - (shape.exclusive ? 1 : 2) * shape.before;
    return around;
}

}  // namespace

TEST_CASE("step_kill: the successor of a named producer killed anywhere knows its last sequence, however many laps later") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    stay_on_one_core();
    for (const NamedShape& shape : shapes()) {
        NamedSteps steps(shape);
        const std::uint64_t length = steps.length();
        const bool usual = !shape.block && shape.value_bytes == 16 && shape.records == 1 && shape.before > 16;
        for (const std::uint64_t laps : {0, 1, 3}) {
            const std::uint64_t stride = usual ? 1 : stride_for(length, 60);
            for (std::uint64_t at = 0; at <= length; at += stride)
                steps.kill_at(at, laps);
        }
        print("killed", shape, steps.points);
        CHECK(steps.points.committed > 0);
        CHECK(steps.points.committed < steps.points.tried);
        CHECK(steps.points.wrong == 0);
    }
}

TEST_CASE("step_stop: a named producer stopped anywhere keeps its name, wakes laps later, is killed, and nothing is in doubt") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    stay_on_one_core();
    for (const NamedShape& shape : shapes()) {
        NamedSteps steps(shape);
        const std::uint64_t length = steps.length();
        const std::uint64_t stride = stride_for(length, 40);
        for (std::uint64_t at = 0; at <= length; at += stride) {
            for (const std::uint64_t more : {0, 15, 60, 150, 400, 100'000})
                steps.stop_at(at, more, 1 + at % 2);
        }
        print("stopped, killed", shape, steps.points);
        CHECK(steps.points.wrong == 0);
    }
}

TEST_CASE("step_wrap: a named producer is killed and stopped around offsets 2^32, 2^48 and 2^61") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    stay_on_one_core();
    for (const unsigned power : {32U, 48U, 61U}) {
        for (const NamedShape& shape : shapes_around(std::uint64_t{1} << power)) {
            NamedSteps steps(shape);
            const std::uint64_t length = steps.length();
            const std::uint64_t stride = stride_for(length, 12);
            for (std::uint64_t at = 0; at <= length; at += stride) {
                steps.kill_at(at, at % 3);
                steps.stop_at(at, 100'000, 1 + at % 2);
            }
            print(("around 2^" + std::to_string(power)).c_str(), shape, steps.points);
            CHECK(steps.points.committed > 0);
            CHECK(steps.points.committed < steps.points.tried);
            CHECK(steps.points.wrong == 0);
        }
    }
}

namespace {

// The victim is dead: its intent stands, and its record is there or is not.
NamedStage leave_intent(NamedSteps& steps, bool committed) {
    for (std::uint64_t at = 0;; ++at) {
        NamedStage stage = steps.begin();
        Victim victim([&] { NamedSteps::operate(stage); }, *stage.done);
        victim.step(at);
        const auto& hold = stage.log.named[stage.victim.entry].hold;
        const bool intends = partition_log::intent_state(hold.low.load(std::memory_order_acquire)) != IntentState::none;
        stage.look();
        const bool there = stage.last > stage.shape.before;
        victim.kill();
        REQUIRE(at < 100'000);
        if (!intends || there != committed)
            continue;
        stage.dead.push_back(stage.victim.owner);
        return stage;
    }
}

}  // namespace

TEST_CASE("step_kill: whoever settles a dead producer's intent can itself be killed anywhere") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    stay_on_one_core();
    for (const bool committed : {false, true}) {
        NamedSteps steps({});
        const NamedStage left = leave_intent(steps, committed);
        SharedBytes& bytes = steps.bytes();
        bytes.remember();
        // the plain producer's record that takes the very cell, and the ones around it
        for (std::uint64_t before = 14; before <= 17; ++before) {
            std::uint64_t points = 0;
            for (std::uint64_t at = 0;; ++at, ++points) {
                bytes.restore();
                NamedStage stage = left;
                REQUIRE(stage.publish_plain(before));
                stage.done->store(0, std::memory_order_release);
                Victim settler([&] { (void)stage.publish_plain(1); }, *stage.done);
                settler.step(at);
                const bool finished = settler.done();
                settler.kill();
                stage.dead.push_back(std::uint64_t{1} << 32 | 1);
                stage.plain.reset();
                stage.attach_plain();  // reaps the dead one
                REQUIRE(stage.publish_plain(20));
                INFO("settler killed at instruction " << at << " of record " << before << ", committed " << committed);
                REQUIRE(stage.wrong_successor(kSuccessor) == 0);
                if (finished)
                    break;
            }
            CHECK(points > 50);
        }
        std::printf("settling killed anywhere, record %s\n", committed ? "committed" : "not committed");
    }
}

TEST_CASE("step_kill: a successor killed anywhere while it takes the name over leaves it to the next one") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    stay_on_one_core();
    const std::uint64_t stride = std::getenv("RINGMAIN_LONG") != nullptr ? 1 : 7;
    for (const bool exclusive : {false, true}) {
        for (const bool committed : {false, true}) {
            for (const std::uint64_t laps : {0, 1}) {
                NamedSteps steps({.exclusive = exclusive});
                const NamedStage left = leave_intent(steps, committed);
                steps.bytes().remember();
                for (std::uint64_t at = 0;; at += stride) {
                    steps.bytes().restore();
                    NamedStage stage = left;
                    if (laps != 0 && !exclusive)
                        REQUIRE(stage.publish_plain(laps * stage.log.records));
                    stage.done->store(0, std::memory_order_release);
                    NamedProducer successor;
                    Victim second([&] { (void)stage.attach(successor, kSecondSuccessor); }, *stage.done);
                    second.step(at);
                    const bool finished = second.done();
                    second.kill();
                    stage.dead.push_back(std::uint64_t{1} << 32 | kSecondSuccessor);
                    if (laps != 0) {
                        stage.shape.exclusive = false;
                        if (!stage.plain)
                            stage.attach_plain();
                        REQUIRE(stage.publish_plain(stage.log.records));
                    }
                    INFO("killed at instruction " << at << ", exclusive " << exclusive << ", committed " << committed);
                    REQUIRE(stage.wrong_successor(kSuccessor) == 0);
                    if (finished)
                        break;
                }
            }
        }
    }
}
