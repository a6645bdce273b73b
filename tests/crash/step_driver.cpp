// One point: restore the prepared memory, step, stop; the others go on; kill or resume; clean up; compare.
#include "crash/step_driver.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace ringmain::crash {

namespace {

constexpr std::uint64_t kLaps = 3;
constexpr std::uint64_t kFirstStride = 7;  // of two victims; primes, so that the pairs differ from row to row
constexpr std::uint64_t kSecondStride = 11;
constexpr std::uint64_t kKeeperPasses = 4;
constexpr unsigned kHangSeconds = 60;

// A point takes milliseconds: one that hangs ends the test, and its victims with it.
struct Watchdog {
    Watchdog() { ::alarm(kHangSeconds); }
    ~Watchdog() { ::alarm(0); }
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;
};

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
    points += other.points;
    faults += other.faults;
    published += other.published;
    longest_ns = std::max(longest_ns, other.longest_ns);
    return *this;
}

Stepper::Stepper(const Scenario& scenario, bool two_victims)
    : scenario_(scenario), bytes_(world_bytes(scenario.shape)) {
    tally_.name = scenario.name;
    prepared_.emplace(bytes_.data(), scenario.shape, scenario.value_bytes);
    scenario_.prepare(*prepared_);
    if (two_victims) {
        prepared_->attach(prepared_->victims[1]);
        load(*prepared_, prepared_->victims[1], 1);
    }
    bytes_.remember();
}

World Stepper::begin_point() {
    bytes_.restore();
    return *prepared_;
}

/// Without the page in which victims report.
std::span<std::byte> Stepper::watched() const noexcept { return {bytes_.data(), test::plain_bytes(scenario_.shape)}; }

std::uint64_t Stepper::length(StrideUnit unit) {
    World world = begin_point();
    Victim victim([&] { scenario_.operation(world, world.victims[0], *world.reports[0]); }, world.reports[0]->done);
    return Stride(victim, unit, watched()).advance(1'000'000);
}

void Stepper::run_point(std::uint64_t steps, StrideUnit unit, Fate fate) {
    const Watchdog watchdog;
    World world = begin_point();
    Victim victim([&] { scenario_.operation(world, world.victims[0], *world.reports[0]); }, world.reports[0]->done);
    Stride stride(victim, unit, watched());
    stride.advance(steps);
    if (fate == Fate::killed)
        meet_fate(world, victim, 0, fate);
    go_on(world, fate != Fate::killed);
    if (fate == Fate::resumed) {
        if (!stride.resume())
            ++world.ledger.faults().stuck;
        meet_fate(world, victim, 0, fate);
    }
    finish(world, steps, false);
}

void Stepper::run_pair(std::uint64_t first, std::uint64_t second, Fate first_fate, Fate second_fate) {
    const Watchdog watchdog;
    World world = begin_point();
    Victim a([&] { scenario_.operation(world, world.victims[0], *world.reports[0]); }, world.reports[0]->done);
    a.step(first);
    Victim b([&] { scenario_.operation(world, world.victims[1], *world.reports[1]); }, world.reports[1]->done);
    b.step(second);
    go_on(world, true);
    meet_fate(world, a, 0, first_fate);
    go_on(world, true);
    meet_fate(world, b, 1, second_fate);
    finish(world, first, true);
}

void Stepper::meet_fate(World& world, Victim& victim, std::uint32_t index, Fate fate) {
    Actor& who = world.victims[index];
    if (fate == Fate::resumed && !victim.resume())
        ++world.ledger.faults().stuck;
    const Report& report = *world.reports[index];
    if (victim.done() && report.holds_gate) {
        // from the moment it was held, nothing above it may have been dropped
        if (world.log.control->log_start.load(std::memory_order_acquire) > report.held_from)
            ++world.ledger.faults().lost;
    }
    const std::uint64_t lease = world.log.control->lease.load(std::memory_order_acquire);
    if (victim.done() && lease != 0 && world.me.shared)
        ++world.ledger.faults().stuck;  // shared and exclusive at once
    victim.kill();
    world.dead.push_back(who.owner);
}

void Stepper::go_on(World& world, bool victim_alive) {
    const bool may_refuse = scenario_.refuses_others == Refuses::until_reaped ||
                            (scenario_.refuses_others == Refuses::while_alive && victim_alive);
    // what is retained right now must be what it was, before anybody moves on
    world.read();
    world.ledger.read_again(world.log);
    const bool kept = scenario_.refuses_others != Refuses::until_kept;
    if (!world.me.shared && !world.attach(world.me) && !may_refuse)
        ++world.ledger.faults().stuck;
    if (!world.go_on(kLaps * world.log.records) && !may_refuse && kept)
        ++world.ledger.faults().stuck;
    // now a keeper comes: what it gives back while the victim is only stopped must not be written late
    for (std::uint64_t i = 0; i < kKeeperPasses; ++i) {
        world.keep_house();
        if (!world.go_on(world.log.records / kKeeperPasses + 1) && !may_refuse)
            ++world.ledger.faults().stuck;
    }
}

void Stepper::check_victim(World& world, std::uint32_t index) {
    const Actor& who = world.victims[index];
    const Report& report = *world.reports[index];
    Faults& faults = world.ledger.faults();
    std::uint32_t seen = 0;
    for (std::uint32_t i = 0; i < who.parts.size(); ++i) {
        const std::uint64_t id = record_id(who.writer, who.sequence + i + 1);
        const bool there = world.ledger.saw(id);
        if (there && seen != i)
            ++faults.lost;  // a batch without one of its middle
        seen += there ? 1 : 0;
        if (report.done.load(std::memory_order_acquire) == 0)
            continue;
        if (i < report.published)
            world.ledger.published(id, report.offsets[i]);
        if (i >= report.published && there)
            ++faults.duplicated;  // it was told no, and would try again
    }
    tally_.published += seen != 0 ? 1 : 0;
}

void Stepper::finish(World& world, std::uint64_t point, bool two_victims) {
    Faults& faults = world.ledger.faults();
    world.read();
    world.ledger.read_again(world.log);  // a victim that woke up late has written nothing into others' records
    world.dead.push_back(world.sleeper.owner);
    world.keep_house();
    if (world.left_behind() != 0)
        ++faults.stuck;
    if (!world.me.shared && !world.attach(world.me))
        ++faults.stuck;
    if (!world.go_on(2 * world.log.records))
        ++faults.stuck;
    world.keep_house();
    if (world.left_behind() != 0)
        ++faults.stuck;
    world.read();
    check_victim(world, 0);
    if (two_victims)
        check_victim(world, 1);
    world.ledger.settle(scenario_.reader_behind);
    ++tally_.points;
    tally_.faults += faults;
    tally_.longest_ns = std::max(tally_.longest_ns, world.longest_ns);
    if (faults.any() && !tally_.first_bad)
        tally_.first_bad = point;
}

Tally step_through(const Scenario& scenario, Fate fate, std::uint64_t points_max) {
    Stepper stepper(scenario);
    const std::uint64_t length = stepper.length();
    if (points_max < length && !effects_refused()) {
        const StrideUnit unit = fate == Fate::killed ? StrideUnit::effect : StrideUnit::access;
        const std::uint64_t all = stepper.length(unit);
        for (std::uint64_t steps = 0; steps <= all; ++steps)
            stepper.run_point(steps, unit, fate);
        return stepper.tally();
    }
    const std::uint64_t stride = std::max<std::uint64_t>(1, (length + points_max - 1) / points_max);
    for (std::uint64_t instruction = 0; instruction < length; instruction += stride)
        stepper.run_point(instruction, StrideUnit::instruction, fate);
    return stepper.tally();
}

Tally step_pairs(const Scenario& scenario, std::uint64_t stops_max) {
    Stepper stepper(scenario, true);
    const std::uint64_t length = stepper.length();
    const std::uint64_t first_stride = std::max(kFirstStride, length / stops_max);
    const std::uint64_t second_stride = std::max(kSecondStride, length / stops_max);
    unsigned turn = 0;
    for (std::uint64_t first = 0; first < length; first += first_stride) {
        for (std::uint64_t second = 0; second < length; second += second_stride, ++turn) {
            stepper.run_pair(first, second, (turn & 1) != 0 ? Fate::killed : Fate::resumed,
                             (turn & 2) != 0 ? Fate::killed : Fate::resumed);
        }
    }
    return stepper.tally();
}

void print_header() {
    std::printf("%-64s %7s %9s %5s %5s %5s %5s %5s %10s\n", "stopped in", "points", "published", "lost", "torn", "dup.",
                "order", "stuck", "longest us");
}

void print(const Tally& tally) {
    const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
    std::printf("%-64s %7llu %9llu %5llu %5llu %5llu %5llu %5llu %10.1f", tally.name.c_str(), number(tally.points),
                number(tally.published), number(tally.faults.lost), number(tally.faults.torn),
                number(tally.faults.duplicated), number(tally.faults.out_of_order), number(tally.faults.stuck),
                static_cast<double>(tally.longest_ns) / 1000);
    if (tally.first_bad)
        std::printf("   first at instruction %llu", number(*tally.first_bad));
    std::printf("\n");
    std::fflush(stdout);
}

}  // namespace ringmain::crash
