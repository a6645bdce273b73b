// Gates on a block topic: beginning, moving, dropping and reaping one, and moving the log start past them.
#include <utility>

#include "crash/step_scenario.hpp"
#include "partition_log/log_start.hpp"

namespace ringmain::crash {

namespace {

constexpr std::uint64_t kDeadReader = std::uint64_t{1} << 32 | 9;

Scenario named(const char* name, std::uint64_t first_offset) {
    Scenario scenario;
    scenario.name = name;
    scenario.shape.first_offset = first_offset;
    scenario.shape.block = true;
    scenario.prepare = [](World& world) {
        world.attach(world.me);
        world.begin_gate();
        for (int i = 0; i < 21; ++i) {
            world.publish_many(1);
            world.read();
        }
    };
    return scenario;
}

// Gives victims[0] a gate at the log start.
void give_gate(World& world, std::uint64_t owner) {
    const auto gate = world.gates().claim(owner, "victim");
    const std::uint64_t start = world.log.control->log_start.load(std::memory_order_acquire);
    world.reports[0]->held_from = world.gates().hold(gate.value(), start, world.log.control->gate_floor);
    world.reports[0]->gate = *gate;
}

Scenario advance(std::uint64_t first_offset) {
    Scenario scenario = named("move the log start", first_offset);
    scenario.operation = [](World& world, Actor&, Report&) {
        (void)partition_log::advance_start(world.log, world.log.control->log_end.load(std::memory_order_acquire));
    };
    return scenario;
}

Scenario hold(std::uint64_t first_offset) {
    Scenario scenario = named("claim and hold a gate", first_offset);
    scenario.refuses_others = Refuses::until_reaped;
    scenario.operation = [](World& world, Actor& victim, Report& report) {
        const auto gate = world.gates().claim(victim.owner, "victim");
        const std::uint64_t start = world.log.control->log_start.load(std::memory_order_acquire);
        report.held_from = world.gates().hold(*gate, start, world.log.control->gate_floor);
        report.holds_gate = true;
    };
    return scenario;
}

Scenario with_gate(const char* name, std::uint64_t first_offset,
                   std::function<void(World&, Actor&, Report&)> operation) {
    Scenario scenario = named(name, first_offset);
    scenario.refuses_others = Refuses::until_reaped;
    scenario.prepare = [before = scenario.prepare](World& world) {
        before(world);
        give_gate(world, world.victims[0].owner);
    };
    scenario.operation = std::move(operation);
    return scenario;
}

Scenario reap(std::uint64_t first_offset) {
    Scenario scenario = named("reap a dead reader's gate", first_offset);
    scenario.refuses_others = Refuses::until_kept;
    scenario.prepare = [before = scenario.prepare](World& world) {
        before(world);
        give_gate(world, kDeadReader);
        world.dead.push_back(kDeadReader);
    };
    scenario.operation = [](World& world, Actor&, Report& report) { world.gates().reap(report.gate, kDeadReader); };
    return scenario;
}

}  // namespace

std::vector<Scenario> gate_scenarios(std::uint64_t first_offset) {
    return {
        advance(first_offset), hold(first_offset),
        with_gate("move a gate", first_offset,
                  [](World& world, Actor&, Report& report) { world.gates().move(report.gate, report.held_from + 3); }),
        with_gate("drop a gate", first_offset,
                  [](World& world, Actor&, Report& report) { world.gates().drop(report.gate); }),
        reap(first_offset)};
}

}  // namespace ringmain::crash
