// What a victim is stopped in: an operation and the state in which it begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "crash/step_world.hpp"

namespace ringmain::crash {

/// Whether a victim may keep others from publishing: by the lease while it lives, by its gate until that is reaped, or not
/// itself, but the dead reader whose gate it reaps, until another keeper comes.
enum class Refuses : std::uint8_t { never, while_alive, until_reaped, until_kept };

struct Scenario {
    std::string name;
    test::PlainShape shape;
    std::size_t value_bytes = 40;
    /// Brings the partition, and victims[0], to where the operation begins.
    std::function<void(World&)> prepare;
    /// Runs in the victim, instruction by instruction.
    std::function<void(World&, Actor&, Report&)> operation;
    /// Publishing: every instruction is a point also in the quick run.
    bool main = false;
    /// The victim may hold the other producers back on purpose.
    Refuses refuses_others = Refuses::never;
    /// The reader does not keep up: what it loses is reported to it.
    bool reader_behind = false;
};

[[nodiscard]] std::vector<Scenario> publish_scenarios(std::uint64_t first_offset);
[[nodiscard]] std::vector<Scenario> ticket_scenarios(std::uint64_t first_offset);
[[nodiscard]] std::vector<Scenario> attach_scenarios(std::uint64_t first_offset);
[[nodiscard]] std::vector<Scenario> gate_scenarios(std::uint64_t first_offset);

}  // namespace ringmain::crash
