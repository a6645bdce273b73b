// Stops or kills a victim at one instruction after the other of an operation, and judges what the others got.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crash/shared_bytes.hpp"
#include "crash/step_scenario.hpp"
#include "crash/stride.hpp"
#include "crash/victim.hpp"

namespace ringmain::crash {

/// What becomes of a victim that was stopped, after the others went on for three laps.
enum class Fate : std::uint8_t {
    killed,   // at the point itself: the others go on beside a dead one
    resumed,  // it wakes up late and goes on
};

struct Tally {
    std::string name;
    std::uint64_t points = 0;
    Faults faults;
    std::uint64_t published = 0;  // points after which the victim's records were in the log
    std::uint64_t longest_ns = 0;
    std::optional<std::uint64_t> first_bad;
    Tally& operator+=(const Tally& other);
};

/// One scenario, prepared once.
class Stepper {
public:
    explicit Stepper(const Scenario& scenario, bool two_victims = false);

    /// Steps of the operation when nobody interferes.
    [[nodiscard]] std::uint64_t length(StrideUnit unit = StrideUnit::instruction);
    void run_point(std::uint64_t steps, StrideUnit unit, Fate fate);
    /// The first victim stops, then the second one begins and stops; both meet their fates in the order given.
    void run_pair(std::uint64_t first, std::uint64_t second, Fate first_fate, Fate second_fate);
    [[nodiscard]] const Tally& tally() const noexcept { return tally_; }

private:
    World begin_point();
    [[nodiscard]] std::span<std::byte> watched() const noexcept;
    void meet_fate(World& world, Victim& victim, std::uint32_t index, Fate fate);
    void go_on(World& world, bool victim_alive);
    void check_victim(World& world, std::uint32_t index);
    void finish(World& world, std::uint64_t point, bool two_victims);

    Scenario scenario_;
    SharedBytes bytes_;
    std::optional<World> prepared_;
    Tally tally_;
};

/// Every instruction, or if that were more than `points_max` each effect (killed) or access (resumed), which is as good.
[[nodiscard]] Tally step_through(const Scenario& scenario, Fate fate, std::uint64_t points_max);
/// Two victims at once: about `stops_max` instructions of each, at most every 7th of the first and every 11th of the
/// second.
[[nodiscard]] Tally step_pairs(const Scenario& scenario, std::uint64_t stops_max);

void print_header();
void print(const Tally& tally);

}  // namespace ringmain::crash
