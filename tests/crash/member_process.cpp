// One member: polls, commits and leaves as its seed says.
#include "member_process.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include "group_table/groups_memory.hpp"
#include "ringmain/consumer.hpp"

namespace ringmain::test {

namespace {

using Kind = MemberEvent::Kind;
using namespace std::chrono_literals;

class Member {
public:
    Member(MemberHistory& history, const MemberJob& job)
        : history_(history), job_(job), random_(job.seed), broker_(job.broker), options_(options()), consumer_(broker_, options_) {}

    int run() {
        consumer_.subscribe("t");
        while (!finished()) {
            read();
            if (one_of(3)) commit();
        }
        if (clean_) {
            (void)consumer_.close();
            note({Kind::left, job_.process});
        }
        return 0;
    }

private:
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
    bool one_of(std::uint32_t n) { return below(n) == 0; }
    void note(MemberEvent event) {
        event.process = job_.process;
        history_.note(event);
    }

    GroupOptions options() {
        GroupOptions options;
        options.name = "g";
        options.gating = job_.gating;
        options.on_loss = OnLoss::earliest;
        options.session_timeout = std::chrono::milliseconds(300 + below(300));
        if (!job_.drain && one_of(4)) options.delivery = Delivery::manual;
        if (!job_.drain && one_of(4)) options.static_name = "static " + std::to_string(below(3));
        clean_ = job_.drain || (options.delivery == Delivery::at_least_once && !one_of(4));
        options.listener = {[this](auto partitions) { assigned(partitions); }, [this](auto partitions) { revoked(partitions); },
                            [this](auto partitions) { lost(partitions); }, {}};
        return options;
    }

    /// The generation is what a commit of nothing new answers.
    void assigned(std::span<const TopicPartition> partitions) {
        for (const TopicPartition& one : partitions) {
            const PartitionOffset at{one.topic, one.partition, consumer_.position(one.topic, one.partition)};
            const CommitResult result = consumer_.commit(std::span(&at, 1));
            note({Kind::assigned, 0, one.partition, result.partitions[0].generation, at.offset});
        }
    }
    void revoked(std::span<const TopicPartition> partitions) {
        if (options_.delivery == Delivery::manual) return;
        for (const TopicPartition& one : partitions) note({Kind::revoked, 0, one.partition, 0, consumer_.position(one.topic, one.partition)});
    }
    void lost(std::span<const TopicPartition> partitions) {
        for (const TopicPartition& one : partitions) note({Kind::lost, 0, one.partition});
    }

    void read() {
        if (one_of(4)) {
            std::uint64_t offset = 0;
            std::uint32_t partition = 0;
            const VisitStatus status = consumer_.visit([&](const ConsumerRecord& record) {
                offset = record.offset;
                partition = record.partition;
            });
            if (status == VisitStatus::valid) note({Kind::delivered, 0, partition, 0, offset, offset, 1});
            return;
        }
        const PollResult result = consumer_.poll(1 + below(64), std::chrono::milliseconds(below(20)));
        fenced_ = result.status == Status::fenced_instance;
        MemberEvent run{Kind::delivered};
        for (const ConsumerRecord& record : result.records) {
            if (run.count != 0 && run.partition == record.partition && record.offset > run.last) {
                run.last = record.offset;
                ++run.count;
                continue;
            }
            if (run.count != 0) note(run);
            run = {Kind::delivered, 0, record.partition, 0, record.offset, record.offset, 1};
        }
        if (run.count != 0) note(run);
    }

    void commit() {
        std::vector<PartitionOffset> wanted;
        for (const TopicPartition& one : consumer_.assignment()) {
            if (!one_of(4)) wanted.push_back({one.topic, one.partition, consumer_.position(one.topic, one.partition)});
        }
        for (const PartitionOffset& one : wanted) note({Kind::trying, 0, one.partition, 0, one.offset});
        for (const PartitionCommit& one : consumer_.commit(wanted).partitions) {
            note({one.outcome == CommitOutcome::committed ? Kind::committed : Kind::refused, 0, one.partition, 0, one.offset});
        }
    }

    bool finished() {
        if (history_.leave(job_.process).load(std::memory_order_acquire) || history_.nearly_full() || fenced_) return true;
        if (!job_.drain) return false;
        const auto partitions = consumer_.assignment();
        return partitions.size() == 4 && std::all_of(partitions.begin(), partitions.end(), [this](const TopicPartition& one) {
                   return consumer_.committed(one.topic, one.partition) == consumer_.log_end(one.topic, one.partition);
               });
    }

    MemberHistory& history_;
    MemberJob job_;
    std::mt19937_64 random_;
    Broker broker_;
    bool clean_ = false;
    bool fenced_ = false;
    GroupOptions options_;
    Consumer consumer_;
};

}  // namespace

int be_member(MemberHistory& history, const MemberJob& job) { return Member(history, job).run(); }

}  // namespace ringmain::test
