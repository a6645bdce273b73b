// The stage of the story: forks its processes, and decides when a member is killed, stopped and continued, when a
// printer is killed and when the letters are replayed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demo_child.hpp"
#include "demo_narrator.hpp"
#include "demo_waiting.hpp"
#include "orders_audit.hpp"
#include "orders_board.hpp"
#include "orders_labels_audit.hpp"
#include "orders_plan.hpp"

namespace ringmain::cli::orders {

/// What only the stage knows of a run.
struct StageFacts {
    Moments moments;
    std::uint64_t killed_uncommitted = 0;  ///< Events that the killed member had handled and not committed.
    std::uint64_t stopped_uncommitted = 0;
    std::uint64_t stopped_in_hand = 0;  ///< Events that the stopped member had been handed and had not handled.
    std::uint64_t produced_for_ns = 0;
    std::uint64_t poison_printed_after_ns = 0;  ///< From the mending.
};

class Stage {
public:
    Stage(const Plan& plan, Records& records, demo::Narrator& narrator);

    /// Plays the whole story. Throws if a child fails, something takes too long, or the user interrupts; all children
    /// are dead then.
    StageFacts run();

private:
    using Clock = std::chrono::steady_clock;
    using nanoseconds = std::chrono::nanoseconds;
    // For anything that takes milliseconds unless something is wrong.
    static constexpr std::chrono::seconds kPatience{20};

    struct Printing {
        std::uint32_t printer = 0;
        std::uint32_t attempt = 0;
        std::int64_t time_ns = 0;
    };

    void raise_house();
    void let_members_join();
    void raise_printers();
    void start_producers();
    void watch_flaky_order();
    void kill_printer();
    void kill_one();
    void stop_one();
    void continue_it();
    void mend_map();
    void let_producers_end();
    void let_groups_end();

    void catch_at_work(std::uint32_t member);
    void catch_printer();
    void catch_child(std::string_view what, demo::Child& child, const std::function<bool()>& at_work) const;
    void watch_takeover(std::uint32_t member, std::int64_t signal_ns, std::uint32_t partitions);
    void wait_for_moment(std::string_view what, std::int64_t after_ns);
    void check_on_everybody();
    void show_progress();
    [[nodiscard]] bool shared_out() const noexcept;
    [[nodiscard]] std::uint64_t published() const noexcept;
    [[nodiscard]] std::uint64_t lag() const noexcept;
    [[nodiscard]] std::uint64_t labels_printed() const noexcept;
    [[nodiscard]] std::optional<Printing> printing_of(std::uint32_t order) const;
    [[nodiscard]] std::string progress_of(std::uint32_t group) const;

    const Plan& plan_;
    Records& records_;
    Board& board_;
    demo::Narrator& narrator_;
    demo::Waiting waiting_;
    StageFacts facts_;
    demo::Child house_;
    std::vector<demo::Child> members_;
    std::vector<demo::Child> printers_;
    std::vector<demo::Child> producers_;
};

}  // namespace ringmain::cli::orders
