// Subscriptions to work queues: a worker that acquires what fits, and handlers that run elsewhere.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "in_flight.hpp"
#include "kept_record.hpp"
#include "push_impl.hpp"
#include "queue_worker_impl.hpp"

namespace ringmain {

namespace {

using namespace std::chrono_literals;

using Clock = std::chrono::steady_clock;

struct QueueTask {
    Lock lock;  // of the subscription's thread; its handler looks at the rest
    Clock::time_point renew_at;
    Clock::time_point renew_until;
    Attempt attempt;
    KeptRecord copy;
};

QueueWorkerOptions fitting(QueueWorkerOptions worker, const PushOptions& push) {
    worker.max_in_flight = std::max(worker.max_in_flight, push.max_in_flight);
    return worker;
}

class QueuePush final : public Subscription::Impl {
public:
    QueuePush(const Broker& broker, std::string_view topic, std::string_view queue, RetryHandler handler,
              const PushOptions& push, const QueueWorkerOptions& worker)
        : Impl(*broker.impl()),
          handler_(std::move(handler)),
          worker_(broker.impl(), topic, queue, fitting(worker, push)),
          flight_(push.executor, push.executor ? push.max_in_flight : 1),
          lock_time_(worker_.queue_options().lock_time),
          renewed_for_(push.executor ? push.lock_renewed_for : std::chrono::milliseconds::zero()) {}
    ~QueuePush() override {
        if (!forked())
            stop();
    }

private:
    void run() override {
        Status status = Status::ok;
        for (;;) {
            const platform::FutexWait news = flight_.word();  // before the look at what it tells
            if (stopping() || ends(status) || !flight_.refusal().empty())
                break;
            settle();
            renew();
            if (flight_.room() == 0) {
                (void)flight_.wait(sleep_max());
            } else {
                status = take(news);
            }
            tell();
        }
        flight_.call_no_more();
        while (flight_.size() != 0) {
            (void)flight_.wait(sleep_max());
            settle();
            renew();
        }
        worker_.close();
        tell();
        note([&](PushStatistics& told) {
            told.status = stopping() ? Status::ok : status;
            told.error = flight_.refusal();
        });
    }
    void wake() noexcept override { flight_.poke(); }

    static bool ends(Status status) noexcept {
        return status != Status::ok && status != Status::would_block && status != Status::corrupt;
    }

    Status take(platform::FutexWait news) {
        worker_.interrupt_by(news);
        const AcquireResult acquired = worker_.acquire(flight_.room(), sleep_max());
        for (const Gap& gap : acquired.gaps)
            counts_.lost += gap.count();
        for (const QueueRecord& one : acquired.records) {
            auto task = flight_.spare();
            task->lock = one.lock;
            task->attempt = {one.deliveries, worker_.queue_options().delivery_limit, false};
            task->copy.take(one.record);
            keep(task);
            flight_.start(std::move(task), handler_);
        }
        if (acquired.status == Status::would_block)
            (void)flight_.wait(1ms);  // other workers have all that the queue lets out
        if (acquired.status == Status::corrupt)
            (void)flight_.wait(20ms);  // what is damaged stays so: no hurry
        return acquired.status;
    }

    void settle() {
        (void)flight_.collect([&](const InFlight<QueueTask>::Done& done) {
            std::erase(kept_, done.task);
            const Lock& lock = done.task->lock;
            if (!done.handled) {
                (void)worker_.release(lock);
                return;
            }
            ++counts_.handled;
            const bool success = done.handled->what() == Handled::What::success;
            const SettleResult result = success ? worker_.ack(lock)
                                        : done.handled->what() == Handled::What::failure
                                            ? worker_.nack(lock, std::nullopt, done.handled->error())
                                            : worker_.reject(lock, done.handled->error());
            const bool recorded = result.settled == Settled::done || result.settled == Settled::letters_full;
            ++(!recorded ? counts_.late : success ? counts_.succeeded : counts_.failed);
            const bool ended =
                !success && recorded && (result.dead_lettered || done.handled->what() == Handled::What::rejected);
            if (ended && result.settled == Settled::done)
                ++(worker_.queue_options().exhausted == Exhausted::skip ? counts_.skipped : counts_.dead_lettered);
        });
    }

    /// To be renewed before half of the lock is over, so that a thread that is late is not too late.
    void keep(const std::shared_ptr<QueueTask>& task) {
        if (renewed_for_.count() == 0)
            return;
        const Clock::time_point now = Clock::now();
        task->renew_at = now + lock_time_ / 2;
        task->renew_until = now + renewed_for_;
        kept_.push_back(task);
    }

    void renew() {
        const Clock::time_point now = Clock::now();
        std::erase_if(kept_, [&](const std::shared_ptr<QueueTask>& task) {
            if (task->renew_at > now)
                return false;
            if (now >= task->renew_until || worker_.renew(task->lock, std::nullopt).settled != Settled::done)
                return true;
            task->renew_at = now + lock_time_ / 2;
            return false;
        });
    }

    /// Until the next lock is to be renewed, at most.
    [[nodiscard]] std::chrono::nanoseconds sleep_max() const {
        std::chrono::nanoseconds left = kSleepMax;
        const Clock::time_point now = Clock::now();
        for (const std::shared_ptr<QueueTask>& task : kept_)
            left = std::clamp<std::chrono::nanoseconds>(task->renew_at - now, std::chrono::nanoseconds::zero(), left);
        return left;
    }

    void tell() {
        note([&](PushStatistics& told) { told.counts += std::exchange(counts_, {}); });
    }

    static constexpr std::chrono::milliseconds kSleepMax{250};
    RetryHandler handler_;
    QueueWorker::Impl worker_;
    InFlight<QueueTask> flight_;
    std::chrono::milliseconds lock_time_;
    std::chrono::milliseconds renewed_for_;         // after it was acquired; 0: never
    std::vector<std::shared_ptr<QueueTask>> kept_;  // whose locks are renewed
    RunCounts counts_;
};

}  // namespace

Subscription subscribe_queue(const Broker& broker, std::string_view topic, std::string_view queue, RetryHandler handler,
                             const PushOptions& push, const QueueWorkerOptions& worker) {
    check_push_options(push);
    auto impl = std::make_unique<QueuePush>(broker, topic, queue, std::move(handler), push, worker);
    impl->start();
    return Subscription(std::move(impl));
}

}  // namespace ringmain
