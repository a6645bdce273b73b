// Subscriptions: records pushed to handlers on the caller's threads, a cap that holds, and a stop that leaves nothing
// half done.
#include "ringmain/push.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "ringmain/queue_admin.hpp"
#include "support/retry_place.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace std::chrono_literals;

namespace {

/// A pool of threads, as a caller would have one.
class Pool {
public:
    explicit Pool(std::size_t threads) {
        for (std::size_t i = 0; i < threads; ++i)
            threads_.emplace_back([this] { work(); });
    }
    ~Pool() {
        {
            const std::lock_guard lock(mutex_);
            end_ = true;
        }
        changed_.notify_all();
        for (std::thread& one : threads_)
            one.join();
    }
    [[nodiscard]] Executor executor() {
        return [this](std::function<void()> work) {
            {
                const std::lock_guard lock(mutex_);
                queue_.push_back(std::move(work));
            }
            changed_.notify_one();
        };
    }

private:
    void work() {
        for (;;) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return end_ || !queue_.empty(); });
            if (queue_.empty())
                return;
            const std::function<void()> next = std::move(queue_.front());
            queue_.pop_front();
            lock.unlock();
            next();
        }
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> queue_;
    bool end_ = false;
    std::vector<std::thread> threads_;
};

/// How many handlers run at one time.
class Crowd {
public:
    void enter() {
        const int now = now_.fetch_add(1) + 1;
        for (int most = most_.load(); now > most && !most_.compare_exchange_weak(most, now);) {
        }
    }
    void leave() { now_.fetch_sub(1); }
    [[nodiscard]] int now() const { return now_.load(); }
    [[nodiscard]] int most() const { return most_.load(); }

private:
    std::atomic<int> now_{0};
    std::atomic<int> most_{0};
};

bool wait_for(const std::function<bool()>& what) {
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (!what()) {
        if (std::chrono::steady_clock::now() > until)
            return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

PushOptions on(Pool& pool, std::uint32_t max_in_flight) { return {max_in_flight, pool.executor()}; }

QueueOptions quick_queue() {
    QueueOptions options;
    options.delivery_limit = 2;
    options.backoff = {0ms, 0ms, 1, 0};
    return options;
}

}  // namespace

TEST_CASE(
    "A subscription to a stream calls as many handlers at a time as it may, and stop commits what they finished") {
    RetryPlace place(2, 256);
    for (std::uint32_t p = 0; p < 2; ++p)
        place.publish_many(100, p);
    Pool pool(8);
    Crowd crowd;
    std::atomic<int> handled{0};
    Subscription subscription = subscribe(
        place.broker, "t", group(), at_once(3, RetryOrder::none),
        [&](const ConsumerRecord&) {
            crowd.enter();
            std::this_thread::sleep_for(200us);
            crowd.leave();
            ++handled;
        },
        on(pool, 3));
    CHECK(wait_for([&] { return handled == 200; }));
    subscription.stop();
    CHECK(crowd.most() > 1);
    CHECK(crowd.most() <= 3);
    const PushStatistics told = subscription.statistics();
    CHECK(told.ended);
    CHECK(told.status == Status::ok);
    CHECK(told.counts.succeeded == 200);
    CHECK(place.committed(0) == 100);
    CHECK(place.committed(1) == 100);
}

TEST_CASE("With an order by key no two records of a key are in the hands of handlers at once, retries included") {
    RetryPlace place(1, 256);
    const std::vector<std::string> keys = {"a", "b", "c", "d", "e"};
    for (int i = 0; i < 100; ++i)
        place.publish("x", keys[static_cast<std::size_t>(i) % keys.size()]);
    Pool pool(4);
    std::mutex mutex;
    std::map<std::string, std::vector<std::uint64_t>> finished;
    std::map<std::string, int> running;
    bool overlap = false;
    Subscription subscription = subscribe(
        place.broker, "t", group(), at_once(5, RetryOrder::key),
        [&](const ConsumerRecord& record, const Attempt& attempt) {
            const std::string key(as_text(*record.key));
            {
                const std::lock_guard lock(mutex);
                overlap = overlap || ++running[key] != 1;
            }
            std::this_thread::yield();
            const std::lock_guard lock(mutex);
            --running[key];
            if (record.offset % 7 == 0 && attempt.number < 3)
                return Handled::failure();
            finished[key].push_back(record.offset);
            return Handled::success();
        },
        on(pool, 8));
    CHECK(wait_for([&] { return place.committed() == 100; }));
    subscription.stop();
    CHECK_FALSE(overlap);
    for (const std::string& key : keys) {
        CHECK(finished[key].size() == 20);
        CHECK(std::is_sorted(finished[key].begin(), finished[key].end()));
    }
}

TEST_CASE("stop waits for handlers that run, calls no others, and what was not begun is not counted as an attempt") {
    RetryPlace place;
    place.publish_many(10);
    Pool pool(1);
    std::atomic<bool> open{false};
    std::atomic<int> begun{0};
    Subscription subscription = subscribe(
        place.broker, "t", group(), at_once(3, RetryOrder::none),
        [&](const ConsumerRecord&) {
            ++begun;
            while (!open)
                std::this_thread::sleep_for(1ms);
        },
        on(pool, 4));
    REQUIRE(wait_for([&] { return begun == 1; }));
    std::atomic<bool> stopped{false};
    std::thread stopper([&] {
        subscription.stop();
        stopped = true;
    });
    std::this_thread::sleep_for(50ms);
    CHECK_FALSE(stopped);
    open = true;
    stopper.join();
    CHECK(begun == 1);
    CHECK(place.committed() == 1);
    RetryRunner next(place.broker, "t", group(), at_once(3, RetryOrder::none));
    std::vector<std::uint32_t> numbers;
    (void)run_all(next, [&](const ConsumerRecord&, const Attempt& attempt) { numbers.push_back(attempt.number); });
    CHECK(numbers == std::vector<std::uint32_t>(9, 1));
}

TEST_CASE(
    "An executor that throws ends the subscription with its text, and one that forgets its work loses no record") {
    RetryPlace place;
    place.publish_many(3);
    {
        PushOptions refusing{2, [](const std::function<void()>&) { throw std::runtime_error("pool is closed"); }};
        Subscription subscription = subscribe(
            place.broker, "t", group(), at_once(), [](const ConsumerRecord&) {}, refusing);
        REQUIRE(wait_for([&] { return subscription.statistics().ended; }));
        CHECK(subscription.statistics().error == "pool is closed");
    }
    std::atomic<int> forgotten{0};
    PushOptions forgetful{1, [&](const std::function<void()>& work) { ++forgotten < 5 ? void() : work(); }};
    std::vector<std::uint32_t> numbers;
    Subscription subscription = subscribe(
        place.broker, "t", group(), at_once(),
        [&](const ConsumerRecord&, const Attempt& attempt) { numbers.push_back(attempt.number); }, forgetful);
    CHECK(wait_for([&] { return place.committed() == 3; }));
    subscription.stop();
    CHECK(numbers == std::vector<std::uint32_t>{1, 1, 1});
}

TEST_CASE(
    "A subscription without an executor handles on its own thread, in order, and dead-letters what always fails") {
    RetryPlace place;
    place.publish_many(20);
    std::vector<std::uint64_t> seen;
    Subscription subscription = subscribe(place.broker, "t", group(), at_once(2), [&](const ConsumerRecord& record) {
        if (record.offset == 5)
            throw std::runtime_error("no");
        seen.push_back(record.offset);
    });
    CHECK(wait_for([&] { return place.committed() == 20; }));
    subscription =
        subscribe(place.broker, "t", group("other"), at_once(2), [](const ConsumerRecord&) {});  // stops the first
    CHECK(seen.size() == 19);
    CHECK(std::is_sorted(seen.begin(), seen.end()));
    CHECK(place.letters().size() == 1);
}

TEST_CASE(
    "A subscription to a work queue acknowledges, retries and dead-letters, with no more in flight than it may have") {
    RetryPlace place(3, 256);
    QueueAdmin(place.broker).create("t", "q", quick_queue());
    for (std::uint32_t p = 0; p < 3; ++p)
        place.publish_many(50, p);
    Pool pool(8);
    Crowd crowd;
    std::mutex mutex;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::uint32_t>> deliveries;
    const RetryHandler handler = [&](const ConsumerRecord& record, const Attempt& attempt) {
        crowd.enter();
        std::this_thread::sleep_for(100us);
        crowd.leave();
        const std::lock_guard lock(mutex);
        deliveries[{record.partition, record.offset}].push_back(attempt.number);
        if (record.offset == 7)
            return Handled::failure("seven");
        return record.offset == 8 ? Handled::rejected("eight") : Handled::success();
    };
    Subscription one = subscribe_queue(place.broker, "t", "q", handler, on(pool, 2));
    Subscription two = subscribe_queue(place.broker, "t", "q", handler, on(pool, 2));
    CHECK(wait_for([&] {
        return place.committed(0, "q") == 50 && place.committed(1, "q") == 50 && place.committed(2, "q") == 50;
    }));
    one.stop();
    two.stop();
    CHECK(crowd.most() <= 4);
    CHECK(deliveries.size() == 150);
    CHECK(deliveries[{1, 7}] == std::vector<std::uint32_t>{1, 2});
    CHECK(deliveries[{1, 8}] == std::vector<std::uint32_t>{1});
    RunCounts counts = one.statistics().counts;
    counts += two.statistics().counts;
    CHECK(counts.succeeded == 144);
    CHECK(counts.failed == 9);
    CHECK(counts.dead_lettered == 6);
    CHECK(place.letters().size() == 6);
}

TEST_CASE("stop of a subscription to a work queue acknowledges what runs and gives the rest back, undelivered") {
    RetryPlace place;
    QueueAdmin(place.broker).create("t", "q", quick_queue());
    place.publish_many(6);
    Pool pool(1);
    std::atomic<bool> open{false};
    std::atomic<int> begun{0};
    Subscription subscription = subscribe_queue(
        place.broker, "t", "q",
        [&](const ConsumerRecord&) {
            ++begun;
            while (!open)
                std::this_thread::sleep_for(1ms);
        },
        on(pool, 3));
    REQUIRE(wait_for([&] { return begun == 1; }));
    std::thread stopper([&] { subscription.stop(); });
    open = true;
    stopper.join();
    const std::uint64_t acked = place.committed(0, "q");
    CHECK(acked == static_cast<std::uint64_t>(begun));
    QueueWorker worker(place.broker, "t", "q");
    const AcquireResult rest = worker.acquire(16, 1s);
    CHECK(rest.records.size() == 6 - acked);
    for (const QueueRecord& record : rest.records)
        CHECK(record.deliveries == 1);
}

TEST_CASE("The lock of a record is renewed while its handler runs, and while it waits for one, as long as it may be") {
    for (const std::chrono::milliseconds renewed_for : {0ms, 60'000ms}) {
        RetryPlace place;
        QueueOptions options = quick_queue();
        options.lock_time = 100ms;
        options.delivery_limit = 0;
        QueueAdmin(place.broker).create("t", "q", options);
        place.publish_many(2);
        Pool pool(1);
        std::atomic<bool> open{false};
        std::atomic<int> begun{0};
        const auto handler = [&](const ConsumerRecord&) {
            ++begun;
            while (!open)
                std::this_thread::sleep_for(1ms);
        };
        PushOptions push = on(pool, 2);
        push.lock_renewed_for = renewed_for;
        Subscription subscription = subscribe_queue(place.broker, "t", "q", handler, push);
        REQUIRE(wait_for([&] { return begun == 1; }));
        QueueWorker other(place.broker, "t", "q");
        const bool taken = !other.acquire(2, 1s).records.empty();
        CHECK(taken == (renewed_for == 0ms));
        open = true;
        other.close();
        CHECK(wait_for([&] { return place.committed(0, "q") == 2; }));
        subscription.stop();
        CHECK((subscription.statistics().counts.late != 0) == taken);
    }
}

TEST_CASE("A pushed record has its key, headers and stamp, and a value that stays while the log goes on") {
    RetryPlace place(1, 64);
    QueueAdmin(place.broker).create("t", "q", quick_queue());
    ProducerOptions named;
    named.name = "p";
    {
        Producer producer(place.broker, "t", named);
        const Header headers[] = {{"a", as_bytes("1")}, {"null", std::nullopt}};
        ProducerRecord record;
        record.value = as_bytes("value");
        record.key = as_bytes("key");
        record.headers = headers;
        record.sequence = 5;
        REQUIRE(producer.publish(record).status == Status::ok);
    }
    std::atomic<bool> over{false};
    std::atomic<int> begun{0};
    bool good = false;  // looked at here alone once the subscription has stopped
    Subscription subscription = subscribe_queue(place.broker, "t", "q", [&](const ConsumerRecord& record) {
        if (record.offset != 0)
            return;
        ++begun;
        while (!over)
            std::this_thread::sleep_for(1ms);
        const auto a = record.headers.find("a");
        const auto null = record.headers.find("null");
        good = as_text(*record.value) == "value" && as_text(*record.key) == "key" && record.headers.size() == 2 && a &&
               as_text(*a->value) == "1" && null && !null->value && record.stamp() && record.stamp()->sequence == 5;
    });
    REQUIRE(wait_for([&] { return begun == 1; }));
    place.publish_many(200);
    over = true;
    subscription.stop();
    CHECK(good);
}

TEST_CASE("A subscription that cannot be is refused, and one whose group is deleted ends and says why") {
    RetryPlace place;
    CHECK(thrown_by([&] {
              return subscribe(place.broker, "t", group(), at_once(), [](const ConsumerRecord&) {}, {0, {}});
          }).code == ErrorCode::invalid_argument);
    CHECK(thrown_by([&] { return subscribe_queue(place.broker, "t", "q", [](const ConsumerRecord&) {}); }).code ==
          ErrorCode::not_found);
    Subscription subscription = subscribe(place.broker, "t", group(), at_once(), [](const ConsumerRecord&) {});
    GroupAdmin(place.broker).remove("t", "g", true);
    CHECK(wait_for([&] { return subscription.statistics().ended; }));
    CHECK(subscription.statistics().status == Status::group_deleted);
}
