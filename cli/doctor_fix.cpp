// One pass of a keeper, for somebody who has none.
#include "doctor_fix.hpp"

#include <fmt/core.h>

#include <chrono>
#include <thread>

#include "doctor_examination.hpp"
#include "numbers.hpp"
#include "ringmain/keeper.hpp"
#include "signals.hpp"

namespace ringmain::cli {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kStep{120};         // longer than a keeper's patience with cells that wait
constexpr int kIdleSteps = 3;              // then there is nothing more to do
constexpr std::chrono::seconds kMost{20};  // others may go on making work for it

void add_up(KeeperReport& total, const KeeperReport& step) {
    total.reaped_producers += step.reaped_producers;
    total.reaped_gates += step.reaped_gates;
    total.sealed_extents += step.sealed_extents;
    total.closed_tickets += step.closed_tickets;
    total.released_cells += step.released_cells;
    total.swept_directories += step.swept_directories;
    total.evicted_members += step.evicted_members;
    total.freed_member_slots += step.freed_member_slots;
    total.swept_groups += step.swept_groups;
    total.expired_records += step.expired_records;
    total.let_go += step.let_go;
    total.reaped_workers += step.reaped_workers;
    total.returned_records += step.returned_records;
}

KeeperReport keep_until_idle(Keeper& keeper) {
    KeeperReport total;
    const auto deadline = Clock::now() + kMost;
    for (int idle = 0; idle < kIdleSteps && Clock::now() < deadline && !stop_requested();) {
        const KeeperReport step = keeper.do_work(Clock::now().time_since_epoch());
        add_up(total, step);
        idle = step.idle() ? idle + 1 : 0;
        if (step.unfinished == 0)
            std::this_thread::sleep_for(kStep);
    }
    return total;
}

std::vector<std::string> in_words(const KeeperReport& report) {
    std::vector<std::string> lines;
    const auto add = [&](std::uint64_t count, std::string_view noun, std::string_view what) {
        if (count != 0)
            lines.push_back(fmt::format("{} {}", counted(count, noun), what));
    };
    add(report.reaped_producers, "slot", "of dead producers freed");
    add(report.reaped_gates, "gate", "of dead readers ended");
    add(report.sealed_extents, "extent", "of dead producers sealed");
    add(report.closed_tickets, "ticket", "closed");
    add(report.released_cells, "cell", "released from quarantine");
    add(report.evicted_members, "member", "of groups evicted");
    add(report.freed_member_slots, "place", "of dead members freed");
    add(report.swept_groups, "group", "swept");
    add(report.expired_records, "record", "deleted by retention");
    add(report.let_go, "partition", "of groups let go");
    add(report.reaped_workers, "place", "of dead workers freed");
    add(report.returned_records, "record", "of dead workers returned to their queues");
    add(report.swept_directories, "leftover", "removed");
    return lines;
}

}  // namespace

std::vector<std::string> fix(const Broker& broker) {
    try {
        Keeper keeper(broker);
        std::vector<std::string> done = in_words(keep_until_idle(keeper));
        // while this keeper holds the lock no daemon is about to listen
        const std::filesystem::path socket = broker.directory() / "keeper.sock";
        if (nobody_listens_on(socket.string()) && std::filesystem::remove(socket))
            done.push_back(fmt::format("'{}' removed", socket.string()));
        if (done.empty())
            done.emplace_back("a keeper's pass found nothing to do");
        return done;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::busy)
            throw;
        return {fmt::format("nothing: {}", error.what())};
    }
}

}  // namespace ringmain::cli
