// What each of the demo's processes does. Every function runs in a forked child, opens the broker there, reports on the
// board, returns when its work is done and throws if it cannot be done.
#pragma once

#include <cstdint>

#include "demo_board.hpp"
#include "demo_plan.hpp"

namespace ringmain::cli::demo {

/// Creates the topic, keeps house, takes looks at the log for the stage and verifies it at the end.
void run_keeper(const Plan& plan, Board& board);

/// Publishes one share of the input.
void run_producer(const Plan& plan, Board& board, std::uint32_t producer);

/// Stands by while the producer that will be killed still runs; afterwards finds in the log how far that one got and
/// publishes the rest of its share.
void run_successor(const Plan& plan, Board& board);

/// Reads everything from the first offset and keeps the live summary.
void run_live_consumer(const Plan& plan, Board& board);
void run_late_consumer(const Plan& plan, Board& board);

}  // namespace ringmain::cli::demo
