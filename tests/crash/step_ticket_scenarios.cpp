// Tickets in two steps, closing, and the keeper.
#include "crash/step_scenario.hpp"
#include "partition_log/tickets.hpp"

namespace ringmain::crash {

namespace {

void publish_and_read(World& world, int count) {
    for (int i = 0; i < count; ++i) {
        world.publish_many(1);
        world.read();
    }
}

Scenario named(const char* name, std::uint64_t first_offset) {
    Scenario scenario;
    scenario.name = name;
    scenario.shape.first_offset = first_offset;
    return scenario;
}

void begin(World& world) {
    world.attach(world.me);
    world.attach(world.victims[0]);
    publish_and_read(world, 21);
}

Scenario commit_at(std::uint64_t first_offset) {
    Scenario scenario = named("take_ticket, commit_at", first_offset);
    scenario.prepare = [](World& world) {
        begin(world);
        load(world, world.victims[0], 1);
    };
    scenario.operation = [](World&, Actor& victim, Report& report) {
        report.offsets[0] = victim.shared->take_ticket().offset;
        const auto answer = victim.shared->commit_at(report.offsets[0], victim.parts[0]);
        report.status = answer.status;
        report.published = answer.decision == partition_log::Decision::committed ? 1 : 0;
    };
    return scenario;
}

Scenario give_up(std::uint64_t first_offset) {
    Scenario scenario = named("take_ticket, give_up", first_offset);
    scenario.prepare = begin;
    scenario.operation = [](World&, Actor& victim, Report&) {
        victim.shared->give_up(victim.shared->take_ticket().offset);
    };
    return scenario;
}

Scenario loan(std::uint64_t first_offset) {
    Scenario scenario = named("reserve, pin, publish in place", first_offset);
    scenario.value_bytes = 200;
    scenario.prepare = [](World& world) {
        begin(world);
        load(world, world.victims[0], 1);
    };
    scenario.operation = [](World& world, Actor& victim, Report& report) {
        auto& bodies = victim.shared->bodies();
        const partition_log::Reserved reserved = bodies.reserve(victim.parts[0].length());
        bodies.pin();
        partition_log::write_body<Host>(world.log.payload + reserved.location, victim.parts[0]);
        const partition_log::Published published = victim.shared->publish_placed(victim.parts[0], reserved.location);
        bodies.unpin();
        report.offsets[0] = published.offset;
        report.status = published.status;
        report.published = published.status == Status::ok ? 1 : 0;
    };
    return scenario;
}

// The victim is a reader that closes a ticket whose holder sleeps.
Scenario close(bool block, std::uint64_t first_offset) {
    Scenario scenario = named(block ? "close a ticket, block" : "close a ticket, overwrite", first_offset);
    scenario.shape.block = block;
    scenario.prepare = [](World& world) {
        world.attach(world.me);
        if (world.log.block)
            world.begin_gate();
        publish_and_read(world, 21);
        world.attach(world.sleeper);
        world.reports[0]->offsets[0] = world.sleeper.shared->take_ticket().offset;
    };
    scenario.operation = [](World& world, Actor&, Report& report) {
        (void)partition_log::close_ticket(world.log, report.offsets[0]);
    };
    return scenario;
}

// The victim is the keeper: a dead producer left a ticket, an extent and a slot, and another one a quarantined cell.
Scenario keeper(std::uint64_t first_offset) {
    Scenario scenario = named("keeper: reap and release", first_offset);
    scenario.value_bytes = 200;
    scenario.prepare = [](World& world) {
        world.attach(world.me);
        publish_and_read(world, 21);
        for (Actor* dead : {&world.sleeper, &world.victims[1]}) {
            world.attach(*dead);
            load(world, *dead, 1);
            Report report{};
            publish_loaded(*dead, report);
            world.ledger.published(record_id(dead->writer, 1), report.offsets[0]);
            (void)dead->shared->take_ticket();
            world.dead.push_back(dead->owner);
        }
        world.read();
    };
    scenario.operation = [](World& world, Actor&, Report&) { world.keep_house(); };
    return scenario;
}

}  // namespace

std::vector<Scenario> ticket_scenarios(std::uint64_t first_offset) {
    return {commit_at(first_offset),    give_up(first_offset),     loan(first_offset),
            close(false, first_offset), close(true, first_offset), keeper(first_offset)};
}

}  // namespace ringmain::crash
