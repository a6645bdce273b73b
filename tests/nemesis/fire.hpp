// One round: an arena, a crew, signals for a while, and the verdict.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "figures.hpp"

namespace ringmain::nemesis {

struct Round {
    Verdict verdict;
    std::string report;  // of what is wrong; names the directory where the histories are kept
};

/// `hertz` 0: nobody is disturbed. `figures` may be null.
Round fire(std::uint64_t seed, std::chrono::milliseconds duration, std::uint32_t hertz, const Roster& roster,
           Figures* figures);

}  // namespace ringmain::nemesis
