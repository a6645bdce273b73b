// The stage: forks the demo's processes, and decides when the second consumer joins and when a producer is killed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "demo_board.hpp"
#include "demo_child.hpp"
#include "demo_narrator.hpp"
#include "demo_plan.hpp"
#include "demo_waiting.hpp"

namespace ringmain::cli::demo {

/// What only the stage knows of a run.
struct StageFacts {
    std::uint64_t victim_published = 0;  ///< By its own count when it was killed.
    std::int64_t victim_killed_after_ns = 0;
    bool victim_was_publishing = false;  ///< Otherwise its input was used up before.
    std::uint64_t closed_before_kill = 0;
    std::uint64_t closed_after_kill = 0;
    std::uint64_t skipped_before_kill = 0;
    std::uint64_t skipped_after_kill = 0;
    std::uint64_t published_when_flat_out = 0;
    std::int64_t flat_out_after_ns = 0;
    std::int64_t produced_for_ns = 0;
    bool stopped_early = false;  ///< The input was longer than the time.
};

class Stage {
public:
    Stage(const Plan& plan, Board& board, Narrator& narrator);

    /// Plays the whole run. Throws if a child fails, something takes too long, or the user interrupts; all children
    /// are dead then.
    StageFacts run();

private:
    using Clock = std::chrono::steady_clock;

    void raise_house();
    void start_producers();
    void let_second_consumer_join();
    void stand_successor_by();
    void kill_one();
    void watch_takeover();
    void go_flat_out();
    void let_producers_end();
    void let_consumers_end();

    void start(Child& child, std::string_view name, ErrorText& error, void (*role)(const Plan&, Board&));
    void check_on_everybody();
    void show_progress();
    [[nodiscard]] bool others_published() const noexcept;
    [[nodiscard]] std::uint64_t published() const noexcept;
    [[nodiscard]] std::uint64_t fullest_partition() const noexcept;
    [[nodiscard]] bool producers_ended();

    const Plan& plan_;
    Board& board_;
    Narrator& narrator_;
    Waiting waiting_;
    StageFacts facts_;
    Child keeper_;
    Child live_;
    Child late_;
    Child successor_;
    std::vector<Child> producers_;
    std::uint64_t published_at_last_progress_ = 0;
    std::int64_t last_progress_ns_ = 0;
};

}  // namespace ringmain::cli::demo
