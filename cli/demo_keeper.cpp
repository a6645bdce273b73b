// The demo's keeper: makes the topic, keeps house while the others work, and has the last look at the log.
#include <atomic>
#include <chrono>
#include <thread>

#include "demo_roles.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/keeper.hpp"

namespace ringmain::cli::demo {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kStepInterval{5};
constexpr milliseconds kSettleTime{2'000};  // what producers left behind must be put in order within this time

class Housekeeping {
public:
    Housekeeping(const Broker& broker, const Plan& plan, KeeperPanel& panel)
        : broker_(broker), plan_(plan), panel_(panel), keeper_(broker) {}

    void step() {
        const KeeperReport report = keeper_.do_work(steady_clock::now().time_since_epoch());
        add(panel_.reaped_producers, report.reaped_producers);
        add(panel_.closed_tickets, report.closed_tickets);
        add(panel_.released_cells, report.released_cells);
        const std::uint32_t wanted = panel_.looks_wanted.load(std::memory_order_acquire);
        if (wanted == panel_.looks_taken.load(std::memory_order_relaxed))
            return;
        look();
        panel_.looks_taken.store(wanted, std::memory_order_release);
    }

    /// After all others have ended: nothing may stay open or quarantined.
    void settle() {
        const auto deadline = steady_clock::now() + kSettleTime;
        do {
            step();
            look();
            std::this_thread::sleep_for(kStepInterval);
        } while (panel_.log.quarantined_cells.load(std::memory_order_relaxed) != 0 && steady_clock::now() < deadline);
        const VerifyReport report = broker_.verify(plan_.topic);
        panel_.verified_records.store(report.records, std::memory_order_relaxed);
        panel_.damages.store(report.damage.size(), std::memory_order_relaxed);
        if (!report.damage.empty())
            set_text(panel_.damage, report.damage.front().file + ": " + report.damage.front().what);
    }

private:
    static void add(Counter& counter, std::uint64_t count) noexcept {
        counter.fetch_add(count, std::memory_order_relaxed);
    }

    void look() {
        std::uint64_t closed = 0;
        std::uint64_t quarantined = 0;
        std::uint64_t start = 0;
        std::uint64_t end = 0;
        for (const PartitionDescription& partition : broker_.describe_topic(plan_.topic).partitions) {
            closed += partition.closed_tickets;
            quarantined += partition.quarantined_cells;
            start += partition.log_start;
            end += partition.log_end;
            if (partition.partition < kPartitions)
                panel_.log_end[partition.partition].store(partition.log_end, std::memory_order_relaxed);
        }
        panel_.log.closed_tickets.store(closed, std::memory_order_relaxed);
        panel_.log.quarantined_cells.store(quarantined, std::memory_order_relaxed);
        panel_.log.log_start.store(start, std::memory_order_relaxed);
        panel_.log.log_end.store(end, std::memory_order_relaxed);
    }

    const Broker& broker_;
    const Plan& plan_;
    KeeperPanel& panel_;
    Keeper keeper_;
};

}  // namespace

void run_keeper(const Plan& plan, Board& board) {
    Broker broker(plan.broker, Broker::Mode::open_or_create);
    const TopicDescription topic = broker.create_topic(plan.topic, plan.topic_options);
    board.keeper.topic_bytes.store(topic.bytes, std::memory_order_relaxed);
    Housekeeping housekeeping(broker, plan, board.keeper);
    board.keeper.ready.store(true, std::memory_order_release);
    while (!board.stop_keeping.load(std::memory_order_acquire)) {
        housekeeping.step();
        std::this_thread::sleep_for(kStepInterval);
    }
    housekeeping.settle();
}

}  // namespace ringmain::cli::demo
