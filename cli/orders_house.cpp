// The house: makes the topic, runs a keeper at leisure, and looks at the groups from outside.
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "orders_roles.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/keeper.hpp"

namespace ringmain::cli::orders {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kTick{5};
// So seldom that the members themselves find out who is gone, as they do where no keeper runs.
constexpr milliseconds kKeeperInterval{500};

/// The positions of one group, read as somebody who is no member of it.
class Bystander {
public:
    Bystander(const Broker& broker, const char* group) : consumer_(broker, GroupOptions{.name = group}) {
        consumer_.assign(kTopic, Position::committed());
    }

    [[nodiscard]] std::uint64_t lag() const {
        std::uint64_t lag = 0;
        for (std::uint32_t partition = 0; partition < kPartitions; ++partition) {
            const std::uint64_t committed = consumer_.committed(kTopic, partition).value_or(0);
            lag += consumer_.log_end(kTopic, partition) - committed;
        }
        return lag;
    }

private:
    Consumer consumer_;
};

class House {
public:
    House(const Broker& broker, Board& board) : broker_(broker), board_(board), keeper_(broker) {
        for (const Group& group : kGroups)
            bystanders_.push_back(std::make_unique<Bystander>(broker, group.name));
    }

    void step() {
        if (const auto now = steady_clock::now(); now >= keep_at_) {
            keep_at_ = now + kKeeperInterval;
            const KeeperReport report = keeper_.do_work(now.time_since_epoch());
            board_.house.evicted_members.fetch_add(report.evicted_members, std::memory_order_relaxed);
        }
        const std::uint32_t wanted = board_.house.looks_wanted.load(std::memory_order_acquire);
        if (wanted == board_.house.looks_taken.load(std::memory_order_relaxed))
            return;
        look();
        board_.house.looks_taken.store(wanted, std::memory_order_release);
    }

    /// After all others have ended.
    void verify() {
        look();
        const VerifyReport report = broker_.verify(kTopic);
        board_.house.verified_records.store(report.records, std::memory_order_relaxed);
        board_.house.damages.store(report.damage.size(), std::memory_order_relaxed);
        if (!report.damage.empty())
            demo::set_text(board_.house.damage, report.damage.front().file + ": " + report.damage.front().what);
    }

private:
    void look() {
        for (std::size_t group = 0; group < kGroups.size(); ++group)
            board_.groups[group].lag.store(bystanders_[group]->lag(), std::memory_order_relaxed);
    }

    const Broker& broker_;
    Board& board_;
    Keeper keeper_;
    steady_clock::time_point keep_at_ = steady_clock::now();
    std::vector<std::unique_ptr<Bystander>> bystanders_;
};

}  // namespace

void run_house(const Plan& plan, Board& board) {
    Broker broker(plan.broker, Broker::Mode::open_or_create);
    const TopicDescription topic = broker.create_topic(kTopic, plan.topic_options);
    board.house.topic_bytes.store(topic.bytes, std::memory_order_relaxed);
    House house(broker, board);
    board.house.ready.store(true, std::memory_order_release);
    while (!board.stop_keeping.load(std::memory_order_acquire)) {
        house.step();
        std::this_thread::sleep_for(kTick);
    }
    house.verify();
}

}  // namespace ringmain::cli::orders
