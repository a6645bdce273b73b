// Publishing: inline and large records, both policies, and every state in which the victim's cell can be.
#include <array>

#include "crash/step_scenario.hpp"
#include "partition_log/tickets.hpp"

namespace ringmain::crash {

namespace {

constexpr std::size_t kLargeBytes = 200;
constexpr int kLapAndMore = 21;

struct Start {
    const char* name;
    void (*prepare)(World&);
    bool overwrite;
    bool block;
    bool main;  // every instruction is a point also in the quick run
};

void publish_and_read(World& world, int count) {
    for (int i = 0; i < count; ++i) {
        world.publish_many(1);
        world.read();
    }
}

// Somebody takes a ticket and stops right there.
std::uint64_t sleep_on_ticket(World& world) {
    world.attach(world.sleeper);
    return world.sleeper.shared->take_ticket().offset;
}

void fresh(World&) {}
void second_lap(World& world) { publish_and_read(world, kLapAndMore); }
void cell_quarantined(World& world) {
    publish_and_read(world, kLapAndMore);
    sleep_on_ticket(world);
    world.read();
    publish_and_read(world, 15);
}
void ticket_open_and_reader_behind(World& world) {
    publish_and_read(world, kLapAndMore);
    sleep_on_ticket(world);
    world.publish_many(15);
}
void cell_reaped(World& world) {
    publish_and_read(world, kLapAndMore);
    sleep_on_ticket(world);
    world.dead.push_back(world.sleeper.owner);
    world.read();
    world.keep_house();
    publish_and_read(world, 15);
}
// Three records of the victim before; on a block topic nearly no room is left.
void begun_extent(World& world) {
    publish_and_read(world, kLapAndMore);
    Actor& victim = world.victims[0];
    for (std::uint32_t i = 0; i < 3; ++i) {
        load(world, victim, 1);
        Report report{};
        publish_loaded(victim, report);
        ++victim.sequence;
        world.ledger.published(record_id(victim.writer, victim.sequence), report.offsets[0]);
    }
    world.read();
    if (world.log.block)
        world.publish_many(11);
}
// The victim's next record does not fit its extent, and no extent is free: it takes the oldest sealed one.
void extent_full(World& world) {
    begun_extent(world);
    Actor& victim = world.victims[0];
    while (victim.shared->bodies().fits_extent(world.value_bytes)) {
        if (victim.shared->bodies().reserve(world.value_bytes).status != Status::ok)
            break;
    }
    if (world.log.block)
        return;
    for (std::uint32_t i = 0; i < world.log.extent_count; ++i) {
        auto& word = world.log.extents[i].word;
        std::uint64_t free = 0;
        // as if producers that are gone had filled them
        word.compare_exchange_strong(free, partition_log::sealed_extent(world.ledger.next() - i % 3),
                                     std::memory_order_acq_rel, std::memory_order_relaxed);
    }
}

constexpr std::array<Start, 7> kStarts = {
    {{"first lap", fresh, true, true, false},
     {"second lap", second_lap, true, true, true},
     {"cell quarantined", cell_quarantined, true, true, true},
     {"ticket open, reader behind", ticket_open_and_reader_behind, true, false, false},
     {"dead holder reaped", cell_reaped, true, true, false},
     {"part-filled extent", begun_extent, true, true, true},
     {"extent full", extent_full, true, true, false}}};

Scenario publishing(const Start& start, bool block, std::uint32_t count, std::size_t value_bytes,
                    std::uint64_t first_offset) {
    Scenario scenario;
    const std::string what = count > 1 ? "batch" : value_bytes == 40 ? "inline" : "extent";
    scenario.name = std::string("publish ") + what + (block ? ", block, " : ", overwrite, ") + start.name;
    scenario.shape.block = block;
    scenario.shape.first_offset = first_offset;
    scenario.value_bytes = value_bytes;
    const bool usual = start.main && (!block || start.prepare == second_lap);
    scenario.main = count == 1 && usual && (value_bytes == 40) != (start.prepare == begun_extent);
    scenario.reader_behind = start.prepare == ticket_open_and_reader_behind;
    if (count > 1) {
        scenario.shape.records = 32;
        scenario.shape.batch_records_max = 2;
    }
    scenario.prepare = [start, count](World& world) {
        world.attach(world.me);
        world.attach(world.victims[0]);
        if (world.log.block)
            world.begin_gate();
        start.prepare(world);
        load(world, world.victims[0], count);
    };
    scenario.operation = [](World&, Actor& victim, Report& report) { publish_loaded(victim, report); };
    return scenario;
}

}  // namespace

std::vector<Scenario> publish_scenarios(std::uint64_t first_offset) {
    std::vector<Scenario> scenarios;
    for (const bool block : {false, true}) {
        for (const Start& start : kStarts) {
            if (block ? !start.block : !start.overwrite)
                continue;
            if (start.prepare != extent_full)
                scenarios.push_back(publishing(start, block, 1, 40, first_offset));
            scenarios.push_back(publishing(start, block, 1, kLargeBytes, first_offset));
            if (start.prepare == fresh || start.prepare == second_lap) {
                scenarios.push_back(publishing(start, block, 4, 40, first_offset));
                scenarios.push_back(publishing(start, block, 4, kLargeBytes, first_offset));
            }
        }
    }
    return scenarios;
}

}  // namespace ringmain::crash
