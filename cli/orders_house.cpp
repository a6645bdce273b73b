// The house: makes the topics and the queue, runs a keeper at leisure, looks at groups and queue from outside, and
// replays the letters.
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "orders_letters.hpp"
#include "orders_roles.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/queue_admin.hpp"

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
    House(const Broker& broker, Board& board)
        : broker_(broker), board_(board), keeper_(broker), queues_(broker), letters_(broker, board.letters) {
        for (const Group& group : kGroups)
            bystanders_.push_back(std::make_unique<Bystander>(broker, group.name));
    }

    void step() {
        if (const auto now = steady_clock::now(); now >= keep_at_) {
            keep_at_ = now + kKeeperInterval;
            const KeeperReport report = keeper_.do_work(now.time_since_epoch());
            board_.house.evicted_members.fetch_add(report.evicted_members, std::memory_order_relaxed);
        }
        replay_if_wanted();
        const std::uint32_t wanted = board_.house.looks_wanted.load(std::memory_order_acquire);
        if (wanted == board_.house.looks_taken.load(std::memory_order_relaxed))
            return;
        look();
        board_.house.looks_taken.store(wanted, std::memory_order_release);
    }

    /// After all others have ended.
    void verify() {
        look();
        board_.house.verified_records.store(verify(kTopic), std::memory_order_relaxed);
        board_.house.verified_labels.store(verify(kLabels), std::memory_order_relaxed);
        (void)verify(kLetters);
    }

private:
    void look() {
        for (std::size_t group = 0; group < kGroups.size(); ++group)
            board_.groups[group].lag.store(bystanders_[group]->lag(), std::memory_order_relaxed);
        look_at_queue();
        letters_.look();
    }

    void look_at_queue() {
        QueuePartitionDescription sum;
        for (const QueuePartitionDescription& partition : queues_.describe(kLabels, kQueue).partitions) {
            sum.lag.records += partition.lag.records;
            sum.expired += partition.expired;
            sum.returned += partition.returned;
            sum.redelivered += partition.redelivered;
            sum.dead_lettered += partition.dead_lettered;
            sum.skipped += partition.skipped;
            sum.lost += partition.lost;
        }
        QueuePanel& panel = board_.queue;
        panel.lag.store(sum.lag.records, std::memory_order_relaxed);
        panel.expired.store(sum.expired, std::memory_order_relaxed);
        panel.returned.store(sum.returned, std::memory_order_relaxed);
        panel.redelivered.store(sum.redelivered, std::memory_order_relaxed);
        panel.dead_lettered.store(sum.dead_lettered, std::memory_order_relaxed);
        panel.skipped.store(sum.skipped, std::memory_order_relaxed);
        panel.lost.store(sum.lost, std::memory_order_relaxed);
    }

    void replay_if_wanted() {
        LettersPanel& panel = board_.letters;
        const std::uint32_t wanted = panel.replays_wanted.load(std::memory_order_acquire);
        if (wanted == panel.replays_done.load(std::memory_order_relaxed))
            return;
        panel.replayed.store(letters_.replay(), std::memory_order_relaxed);
        panel.replayed_again.store(letters_.replay(), std::memory_order_relaxed);
        panel.replays_done.store(wanted, std::memory_order_release);
    }

    /// The number of its records.
    [[nodiscard]] std::uint64_t verify(const char* topic) {
        const VerifyReport report = broker_.verify(topic);
        if (!report.damage.empty() && board_.house.damages.load(std::memory_order_relaxed) == 0)
            demo::set_text(board_.house.damage, report.damage.front().file + ": " + report.damage.front().what);
        board_.house.damages.fetch_add(report.damage.size(), std::memory_order_relaxed);
        return report.records;
    }

    const Broker& broker_;
    Board& board_;
    Keeper keeper_;
    QueueAdmin queues_;
    LetterBox letters_;
    steady_clock::time_point keep_at_ = steady_clock::now();
    std::vector<std::unique_ptr<Bystander>> bystanders_;
};

}  // namespace

void run_house(const Plan& plan, Board& board) {
    Broker broker(plan.broker, Broker::Mode::open_or_create);
    const TopicDescription topic = broker.create_topic(kTopic, plan.topic_options);
    const TopicDescription labels = broker.create_topic(kLabels, plan.label_options);
    QueueAdmin(broker).create(kLabels, kQueue, plan.queue_options);
    board.house.topic_bytes.store(topic.bytes, std::memory_order_relaxed);
    board.house.label_bytes.store(labels.bytes + broker.describe_topic(kLetters).bytes, std::memory_order_relaxed);
    House house(broker, board);
    board.house.ready.store(true, std::memory_order_release);
    while (!board.stop_keeping.load(std::memory_order_acquire)) {
        house.step();
        std::this_thread::sleep_for(kTick);
    }
    house.verify();
}

}  // namespace ringmain::cli::orders
