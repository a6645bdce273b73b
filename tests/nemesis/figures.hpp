// What a run achieved, in one line for each figure.
#pragma once

#include <iosfwd>

#include "crew.hpp"
#include "known_records.hpp"
#include "verdict.hpp"

namespace ringmain::nemesis {

/// Sums over the rounds of a run.
struct Figures {
    std::uint64_t signals = 0;
    std::uint64_t kills = 0;
    std::uint64_t kills_inside = 0;  // of processes that were inside of a call
    std::uint64_t lives = 0;
    std::uint64_t longest_gap_ns = 0;  // between two events of somebody who was neither stopped nor killed
    Role longest_of = Role::producer;
    std::uint64_t counts[static_cast<std::size_t>(Fault::count_)] = {};
    Verdict sums;

    void add(const Crew& crew, const Run& run, const Verdict& verdict);
    void print(std::ostream& out) const;

private:
    void measure_gaps(const Run& run);
};

}  // namespace ringmain::nemesis
