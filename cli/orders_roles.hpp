// What each process of the story does. Every function runs in a forked child, opens the broker there, reports on the
// board, returns when its work is done and throws if it cannot be done.
#pragma once

#include <cstdint>

#include "orders_board.hpp"
#include "orders_plan.hpp"

namespace ringmain::cli::orders {

/// Creates the topics and the queue, keeps house, looks at positions, the queue and its letters for the stage, replays
/// the letters when it is told to, and verifies the topics at the end.
void run_house(const Plan& plan, Board& board);

/// Publishes the events of its own orders, and their labels.
void run_producer(const Plan& plan, Board& board, std::uint32_t producer);

/// Handles events as a member of its group until all is handled; the stopped one until it learns that it was evicted.
void run_member(const Plan& plan, Board& board, Journal& journal, std::uint32_t member);

/// Prints labels as a worker of the queue until all is handled.
void run_printer(const Plan& plan, Board& board, LabelJournal& journal, std::uint32_t printer);

}  // namespace ringmain::cli::orders
