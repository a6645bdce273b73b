// Attaching and detaching, and the exclusive producer.
#include "crash/step_scenario.hpp"

namespace ringmain::crash {

namespace {

void publish_and_read(World& world, int count) {
    for (int i = 0; i < count; ++i) {
        world.publish_many(1);
        world.read();
    }
}

Scenario named(const std::string& name, std::uint64_t first_offset) {
    Scenario scenario;
    scenario.name = name;
    scenario.shape.first_offset = first_offset;
    return scenario;
}

// A producer died and left a ticket open; nobody has reaped it.
void leave_dead_producer(World& world) {
    world.attach(world.sleeper);
    (void)world.sleeper.shared->take_ticket();
    world.dead.push_back(world.sleeper.owner);
}

void detach(World& world, Actor& who) {
    recovery::Attachment attachment(world.log, who.owner, world.is_dead());
    if (who.exclusive) {
        who.exclusive->bodies().seal();
        attachment.give_back_lease();
    } else {
        who.shared->bodies().seal();
    }
    attachment.detach(who.slot.slot);
}

Scenario attach_shared(std::uint64_t first_offset) {
    Scenario scenario = named("attach shared beside others, a dead one to reap", first_offset);
    scenario.shape.producer_slots = 2;
    scenario.prepare = [](World& world) {
        world.attach(world.me);
        publish_and_read(world, 21);
        leave_dead_producer(world);
    };
    scenario.operation = [](World& world, Actor& victim, Report& report) {
        world.attach(victim);
        report.outcome = victim.slot.outcome;
    };
    return scenario;
}

Scenario attach_exclusive(bool others, std::uint64_t first_offset) {
    Scenario scenario = named(
        others ? "attach exclusive, refused: others are attached" : "attach exclusive after a dead shared producer",
        first_offset);
    if (!others)
        scenario.refuses_others = Refuses::while_alive;
    scenario.prepare = [others](World& world) {
        world.attach(world.me);
        publish_and_read(world, 21);
        leave_dead_producer(world);
        if (others)
            return;
        detach(world, world.me);
        world.me.shared.reset();
    };
    scenario.operation = [](World& world, Actor& victim, Report& report) {
        world.attach_exclusive(victim);
        report.outcome = victim.slot.outcome;
    };
    return scenario;
}

Scenario take_lease_over(std::uint64_t first_offset) {
    Scenario scenario = named("attach exclusive after a dead exclusive producer", first_offset);
    scenario.refuses_others = Refuses::while_alive;
    scenario.prepare = [](World& world) {
        world.attach_exclusive(world.sleeper);
        load(world, world.sleeper, 1);
        Report report{};
        publish_loaded(world.sleeper, report);
        world.ledger.published(record_id(world.sleeper.writer, 1), report.offsets[0]);
        world.log.control->log_end.store(report.offsets[0], std::memory_order_release);  // it died before it moved it
        world.dead.push_back(world.sleeper.owner);
    };
    scenario.operation = [](World& world, Actor& victim, Report& report) {
        world.attach_exclusive(victim);
        report.outcome = victim.slot.outcome;
    };
    return scenario;
}

Scenario detaching(bool exclusive, std::uint64_t first_offset) {
    Scenario scenario = named(exclusive ? "detach exclusive" : "detach shared", first_offset);
    scenario.value_bytes = 200;
    if (exclusive)
        scenario.refuses_others = Refuses::while_alive;
    scenario.prepare = [exclusive](World& world) {
        Actor& victim = world.victims[0];
        if (exclusive) {
            world.attach_exclusive(victim);
        } else {
            world.attach(world.me);
            world.attach(victim);
        }
        load(world, victim, 1);
        Report report{};
        publish_loaded(victim, report);
        world.ledger.published(record_id(victim.writer, 1), report.offsets[0]);
        world.read();
        victim.parts.clear();
    };
    scenario.operation = [](World& world, Actor& victim, Report&) { detach(world, victim); };
    return scenario;
}

Scenario exclusive_publish(bool block, bool laps, std::uint32_t count, std::size_t value_bytes,
                           std::uint64_t first_offset) {
    Scenario scenario = named(std::string("exclusive publish ") +
                                  (count > 1           ? "batch, "
                                   : value_bytes == 40 ? "inline, "
                                                       : "extent, ") +
                                  (block ? "block, " : "overwrite, ") + (laps ? "second lap" : "first lap"),
                              first_offset);
    scenario.shape.block = block;
    scenario.value_bytes = value_bytes;
    scenario.refuses_others = Refuses::while_alive;
    if (count > 1) {
        scenario.shape.records = 32;
        scenario.shape.batch_records_max = 2;
    }
    scenario.prepare = [laps, count](World& world) {
        Actor& victim = world.victims[0];
        world.attach_exclusive(victim);
        if (world.log.block)
            world.begin_gate();
        for (int i = 0; laps && i < 37; ++i) {
            load(world, victim, 1);
            Report report{};
            publish_loaded(victim, report);
            ++victim.sequence;
            world.ledger.published(record_id(victim.writer, victim.sequence), report.offsets[0]);
            world.read();
        }
        load(world, victim, count);
    };
    scenario.operation = [](World&, Actor& victim, Report& report) { publish_loaded(victim, report); };
    return scenario;
}

}  // namespace

std::vector<Scenario> attach_scenarios(std::uint64_t first_offset) {
    std::vector<Scenario> scenarios = {attach_shared(first_offset),           attach_exclusive(true, first_offset),
                                       attach_exclusive(false, first_offset), take_lease_over(first_offset),
                                       detaching(false, first_offset),        detaching(true, first_offset)};
    for (const bool block : {false, true}) {
        for (const bool laps : {false, true}) {
            scenarios.push_back(exclusive_publish(block, laps, 1, 40, first_offset));
            scenarios.push_back(exclusive_publish(block, laps, 1, 200, first_offset));
            scenarios.push_back(exclusive_publish(block, laps, 4, 40, first_offset));
        }
    }
    return scenarios;
}

}  // namespace ringmain::crash
