// A member of the group in both streams: at least once, commits after processing, in every form there is.
#include <algorithm>
#include <cstring>
#include <vector>

#include "reading_life.hpp"

namespace ringmain::nemesis {

namespace {

class MemberLife : ReadingLife {
public:
    explicit MemberLife(const Job& job) : ReadingLife(job), options_(options()), consumer_(broker_, options_) {}

    int live() {
        for (std::uint8_t topic = 0; topic < 2; ++topic)
            consumer_.subscribe(kTopicNames[topic]);
        while (!is_finished()) {
            read();
            if (job_.drain || one_of(2))
                commit();
        }
        if (job_.drain || !one_of(5))
            leave();
        return 0;
    }

private:
    GroupOptions options() {
        GroupOptions options;
        options.name = kGroup;
        options.on_loss = OnLoss::earliest;
        options.session_timeout = std::chrono::milliseconds(300 + below(300));
        if (!job_.drain && one_of(4))
            options.delivery = Delivery::manual;
        if (!job_.drain && one_of(4))
            options.static_name = "member-" + std::to_string(job_.index / 2);  // two fight for one
        options.listener = {[this](auto partitions) { assigned(partitions); },
                            [this](auto partitions) { revoked(partitions); },
                            [this](auto partitions) { lost(partitions); },
                            {}};
        return options;
    }

    /// The generation is what a commit of nothing new answers.
    void assigned(std::span<const TopicPartition> partitions) {
        for (const TopicPartition& one : partitions) {
            const PartitionOffset here{one.topic, one.partition, consumer_.position(one.topic, one.partition)};
            Event event = at(one.topic, one.partition, Kind::assigned, here.offset);
            const CommitResult result = consumer_.commit(std::span(&here, 1));
            if (result.partitions.size() != 1)
                return fail(2, event.topic, event.partition);
            event.aux = result.partitions[0].generation;
            note(event);
        }
    }
    void revoked(std::span<const TopicPartition> partitions) {
        for (const TopicPartition& one : partitions) {
            const bool hands_over = options_.delivery == Delivery::at_least_once;
            note(at(one.topic, one.partition, hands_over ? Kind::revoked : Kind::lost,
                    consumer_.position(one.topic, one.partition)));
        }
    }
    void lost(std::span<const TopicPartition> partitions) {
        for (const TopicPartition& one : partitions)
            note(at(one.topic, one.partition, Kind::lost, 0));
    }

    void read() {
        if (one_of(6))
            return inside([&] { visit(); });
        const PollResult result = poll(consumer_, 1 + below(128), std::chrono::milliseconds(1 + below(20)));
        if (job_.canary == Canary::member_commits_first && result.records.size() > 2 && one_of(8)) {
            (void)consumer_.commit();
            ::_exit(0);
        }
        note_poll(result);
        take(result.status);
    }

    void take(Status status) {
        fenced_ = status == Status::fenced_instance;
        if (status != Status::ok && status != Status::evicted && status != Status::fenced_instance)
            fail(200 + static_cast<std::uint32_t>(status));
    }

    void visit() {
        std::optional<std::uint64_t> id;
        Event event;
        const VisitStatus status = consumer_.visit([&](const ConsumerRecord& record) {
            id = open_value(record.value);
            event = at(record.topic, record.partition, Kind::delivered, record.offset);
            const auto stamp = record.stamp();
            event.aux = stamp ? static_cast<std::uint32_t>(stamp->sequence) : 0;
        });
        if (status == VisitStatus::valid) {
            event.kind = id ? Kind::delivered : Kind::torn;
            event.id = id.value_or(0);
            note(event);
        } else if (status == VisitStatus::gap) {
            note_gap(consumer_.last_gap());
        } else if (status == VisitStatus::stopped) {
            take(consumer_.last_status());
        }
    }

    /// Everything that was read is processed.
    void commit() {
        std::vector<PartitionOffset> wanted;
        for (const TopicPartition& one : consumer_.assignment()) {
            if (job_.drain || !one_of(4))
                wanted.push_back({one.topic, one.partition, consumer_.position(one.topic, one.partition)});
        }
        for (const PartitionOffset& one : wanted)
            note(at(one.topic, one.partition, Kind::committing, one.offset));
        for (const PartitionCommit& one : inside([&] { return consumer_.commit(wanted); }).partitions) {
            const bool committed = one.outcome == CommitOutcome::committed;
            note(at(one.topic, one.partition, committed ? Kind::committed : Kind::commit_refused, one.offset));
        }
    }

    void leave() {
        (void)consumer_.close();
        if (options_.delivery == Delivery::at_least_once)
            note({.kind = Kind::left});
    }

    bool is_finished() {
        if (fenced_ || is_over())
            return true;
        if (!job_.drain)
            return is_set(control().stop_reading);
        const auto partitions = consumer_.assignment();
        return partitions.size() == Arena::rules()[0].partitions + Arena::rules()[1].partitions &&
               std::all_of(partitions.begin(), partitions.end(), [this](const TopicPartition& one) {
                   return consumer_.committed(one.topic, one.partition) == consumer_.log_end(one.topic, one.partition);
               });
    }

    GroupOptions options_;
    Consumer consumer_;
    bool fenced_ = false;
};

}  // namespace

int live_as_member(const Job& job) { return MemberLife(job).live(); }

}  // namespace ringmain::nemesis
