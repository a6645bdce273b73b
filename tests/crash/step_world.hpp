// One partition in shared memory and everybody who works on it while a victim is stopped or dead.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crash/step_ledger.hpp"
#include "gate_table/gate_table.hpp"
#include "partition_log/exclusive_publisher.hpp"
#include "partition_log/publisher.hpp"
#include "recovery/attachment.hpp"
#include "support/plain_log.hpp"

namespace ringmain::crash {

/// What a victim tells about itself; lies in shared memory.
struct Report {
    std::atomic<std::uint32_t> done;
    Status status;
    std::uint32_t published;  // of what was loaded
    std::uint32_t gate;
    std::array<std::uint64_t, 8> offsets;
    recovery::AttachOutcome outcome;
    std::uint64_t held_from;  // a gate began here
    bool holds_gate;
};

/// A process that publishes. Writer numbers make record ids; owner words make it reapable.
struct Actor {
    std::uint32_t writer = 0;
    std::uint64_t owner = 0;
    recovery::Attached slot;
    std::optional<partition_log::SharedPublisher<Host>> shared;
    std::optional<partition_log::ExclusivePublisher<Host>> exclusive;
    std::uint32_t sequence = 0;
    // what a victim publishes, made before it is stepped
    std::shared_ptr<const std::vector<std::string>> values;
    std::vector<partition_log::RecordParts> parts;
};

/// Proof of death, as the client table would give it.
struct IsDead {
    const std::vector<std::uint64_t>* dead;
    bool operator()(std::uint64_t owner) const noexcept;
};

/// Copies share the partition's memory and have everything else for themselves.
struct World {
    World(std::byte* base, const test::PlainShape& shape, std::size_t value_bytes);

    Log log;
    std::array<Report*, 2> reports{};
    std::size_t value_bytes;
    std::vector<std::uint64_t> dead;
    Actor me;  // goes on whatever happens
    std::array<Actor, 2> victims;
    Actor sleeper;  // stopped or died earlier
    std::optional<std::uint32_t> reader_gate;
    Ledger ledger;
    std::uint64_t longest_ns = 0;  // CPU time of one iteration of `me` and the reader: they never sleep

    [[nodiscard]] IsDead is_dead() const noexcept { return {&dead}; }
    [[nodiscard]] gate_table::GateTable<Host> gates() const noexcept {
        return gate_table::GateTable<Host>(log.readers);
    }

    bool attach(Actor& actor);
    bool attach_exclusive(Actor& actor);
    void begin_gate();

    /// One record by `me`; ok, or why not. Nothing is retried.
    Status publish();
    void publish_many(int count);
    /// The reader reads what is there, and moves its gate.
    void read();
    /// Publishes and reads, `records` times. Says whether it was never refused for long.
    bool go_on(std::uint64_t records);

    /// What the keeper does with everything that is left: one whole pass.
    void keep_house();
    /// Counts what a dead process still holds.
    [[nodiscard]] std::uint64_t left_behind() const;
};

[[nodiscard]] std::size_t world_bytes(const test::PlainShape& shape);

/// Makes `count` records for the victim to publish.
void load(const World& world, Actor& victim, std::uint32_t count);
/// Publishes what was loaded, as one batch if it is more than one record.
void publish_loaded(Actor& victim, Report& report);

}  // namespace ringmain::crash
