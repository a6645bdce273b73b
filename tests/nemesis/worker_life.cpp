// A worker of both queues: acks most records, and gives up the others in every way there is; sometimes too late.
#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <vector>

#include "reading_life.hpp"
#include "ringmain/queue.hpp"
#include "ringmain/queue_admin.hpp"

namespace ringmain::nemesis {

namespace {

class WorkerLife : ReadingLife {
public:
    explicit WorkerLife(const Job& job)
        : ReadingLife(job),
          workers_{QueueWorker(broker_, kTopicNames[2], kQueue), QueueWorker(broker_, kTopicNames[3], kQueue)} {}

    int live() {
        while (!is_finished()) {
            for (QueueWorker& worker : workers_)
                work(worker);
            settle_late();
        }
        note({.kind = Kind::left});
        for (QueueWorker& worker : workers_)
            worker.close();
        return 0;
    }

private:
    struct Late {
        QueueWorker* worker;
        Lock lock;
        std::chrono::steady_clock::time_point when;
    };

    static Event of(const QueueWorker& worker, const Lock& lock, Kind kind) {
        Event event = at(worker.topic(), lock.partition, kind, lock.offset);
        event.aux = lock.generation;
        return event;
    }

    /// Looks, and waits only if there is nothing.
    AcquireResult acquire(QueueWorker& worker) {
        const std::size_t records = 1 + below(32);
        note({.kind = Kind::acquiring});
        const AcquireResult found = inside([&] { return worker.acquire(records); });
        if (!found.records.empty() || !found.gaps.empty() || found.status != Status::ok)
            return found;
        note({.kind = Kind::acquiring});
        return worker.acquire(records, std::chrono::milliseconds(1 + below(8)));
    }

    void work(QueueWorker& worker) {
        const AcquireResult result = acquire(worker);
        if (result.status != Status::ok && result.status != Status::would_block)
            fail(500 + static_cast<std::uint32_t>(result.status), topic_number(worker.topic()));
        if (result.status == Status::would_block)
            pause(std::chrono::milliseconds(2));  // the cap is reached
        for (const Gap& gap : result.gaps)
            note_gap(gap);
        for (const QueueRecord& one : result.records)
            note_acquired(worker, one);
        if (!job_.drain && one_of(4))
            return ack_all(worker, result.records);
        for (const QueueRecord& one : result.records)
            settle(worker, one.lock);
    }

    void note_acquired(const QueueWorker& worker, const QueueRecord& one) {
        std::erase_if(late_, [&](const Late& late) {
            return late.worker == &worker && late.lock.partition == one.lock.partition &&
                   late.lock.offset == one.lock.offset;
        });
        const auto id = check(one.record);
        if (!id)
            return;
        Event event = of(worker, one.lock, Kind::acquired);
        event.id = *id;
        event.extra = static_cast<std::uint8_t>(one.deliveries);
        note(event);
    }

    void settle(QueueWorker& worker, const Lock& lock) {
        if (job_.drain)
            return settle(worker, lock, Operation::ack);
        const std::uint32_t chance = below(100);
        if (chance < 5) {
            settle(worker, lock, Operation::nack);
        } else if (chance < 10) {
            settle(worker, lock, Operation::release);
        } else if (chance < 13) {
            settle(worker, lock, Operation::reject);
        } else if (chance < 15) {
            const auto after = kLockTime + std::chrono::milliseconds(below(300)) - std::chrono::milliseconds(150);
            late_.push_back({&worker, lock, std::chrono::steady_clock::now() + after});
        } else {
            Lock renewed = lock;
            if (chance < 18)
                (void)worker.renew(renewed);
            settle(worker, renewed, Operation::ack);
        }
    }

    void begin(const QueueWorker& worker, const Lock& lock, Operation operation) {
        Event event = of(worker, lock, Kind::settling);
        event.extra = static_cast<std::uint8_t>(operation);
        note(event);
    }

    void end(const QueueWorker& worker, const Lock& lock, Operation operation, const SettleResult& result) {
        Event event = of(worker, lock, Kind::settled);
        event.extra = static_cast<std::uint8_t>(operation);
        event.id = static_cast<std::uint64_t>(result.settled);
        if (job_.canary == Canary::worker_acks_for_others && operation == Operation::ack)
            event.id = static_cast<std::uint64_t>(Settled::done);
        note(event);
        if (result.settled == Settled::unavailable)
            fail(600 + static_cast<std::uint32_t>(result.status), event.topic, event.partition, event.offset);
    }

    void settle(QueueWorker& worker, const Lock& lock, Operation operation) {
        begin(worker, lock, operation);
        end(worker, lock, operation, inside([&] { return answer(worker, lock, operation); }));
    }

    SettleResult answer(QueueWorker& worker, const Lock& lock, Operation operation) {
        switch (operation) {
            case Operation::ack:
                return worker.ack(lock);
            case Operation::release:
                return worker.release(lock);
            case Operation::reject:
                return worker.reject(lock, "rejected");
            default:
                return one_of(2) ? worker.nack(lock) : worker.nack(lock, std::chrono::milliseconds(below(50)));
        }
    }

    void ack_all(QueueWorker& worker, std::span<const QueueRecord> records) {
        std::vector<SettleResult> results(records.size());
        for (const QueueRecord& one : records)
            begin(worker, one.lock, Operation::ack);
        (void)inside([&] { return worker.ack(records, results); });
        for (std::size_t i = 0; i < records.size(); ++i)
            end(worker, records[i].lock, Operation::ack, results[i]);
    }

    void settle_late() {
        while (!late_.empty() && late_.front().when <= std::chrono::steady_clock::now()) {
            const Late one = late_.front();
            late_.pop_front();
            settle(*one.worker, one.lock, Operation::ack);
        }
    }

    bool is_finished() {
        if (is_over())
            return true;
        if (!job_.drain)
            return is_set(control().stop_reading);
        QueueAdmin admin(broker_);
        return std::all_of(workers_.begin(), workers_.end(), [&](const QueueWorker& worker) {
            const auto all = admin.describe(worker.topic(), kQueue).partitions;
            return std::all_of(all.begin(), all.end(), [](const QueuePartitionDescription& one) {
                return one.lag.position == one.lag.log_end;
            });
        });
    }

    std::array<QueueWorker, 2> workers_;
    std::deque<Late> late_;
};

}  // namespace

int live_as_worker(const Job& job) { return WorkerLife(job).live(); }

}  // namespace ringmain::nemesis
