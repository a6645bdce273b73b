// A dead-letter topic that is deleted and made anew: who sends letters there stops, and is linked to the new one with
// all that it knows.
#include <chrono>
#include <string>
#include <vector>

#include "ringmain/dead_letters.hpp"
#include "ringmain/queue_admin.hpp"
#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/test_broker.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace std::chrono_literals;

namespace {

/// Topic t, whose queue q and group g send their letters to t.dlq.
struct Place : TestBroker {
    Place() {
        TopicOptions options;
        options.records = 64;
        options.producer_slots = 2;
        broker.create_topic("t", options);
        Producer producer(broker, "t");
        for (int i = 0; i < 4; ++i)
            REQUIRE(producer.publish({.value = as_bytes("v")}).status == Status::ok);
        QueueOptions queue;
        queue.delivery_limit = 2;
        queue.backoff = {0ms, 0ms, 1, 0};
        QueueAdmin(broker).create("t", "q", queue);
    }
    void remake() {
        broker.delete_topic("t.dlq");
        CHECK(QueueAdmin(broker).describe("t", "q").dead_letters_gone);
    }
    [[nodiscard]] std::uint64_t letters() { return DeadLetters(broker).count("t.dlq"); }
    [[nodiscard]] std::uint64_t committed(const char* group) {
        return GroupAdmin(broker).describe("t", group).partitions.at(0).lag.committed.value_or(0);
    }
};

/// Until nothing comes for a while.
std::vector<std::uint32_t> deliveries_until_done(QueueWorker& worker) {
    std::vector<std::uint32_t> deliveries;
    for (int quiet = 0; quiet < 5;) {
        const AcquireResult got = worker.acquire(1, 50ms);
        quiet = got.records.empty() ? quiet + 1 : 0;
        for (const QueueRecord& record : got.records) {
            deliveries.push_back(record.deliveries);
            (void)worker.nack(record.lock);
        }
    }
    return deliveries;
}

}  // namespace

TEST_CASE("A queue is linked to its dead-letter topic that was made anew, and its records keep their state") {
    Place place;
    {
        QueueWorker worker(place.broker, "t", "q");
        const AcquireResult got = worker.acquire(4);
        REQUIRE(got.records.size() == 4);
        const std::vector<Lock> locks{got.records[0].lock, got.records[1].lock, got.records[2].lock};
        place.remake();
        CHECK(worker.reject(locks[0]).settled == Settled::letters_full);
        CHECK(worker.nack(locks[1]).settled == Settled::done);
        CHECK(worker.ack(locks[2]).settled == Settled::done);
        const auto busy = thrown_by([&] { DeadLetters(place.broker).relink("t", "q"); });
        CHECK(busy.code == ErrorCode::busy);
    }
    CHECK(DeadLetters(place.broker).relink("t", "q"));
    CHECK_FALSE(DeadLetters(place.broker).relink("t", "q"));
    CHECK_FALSE(QueueAdmin(place.broker).describe("t", "q").dead_letters_gone);
    QueueWorker worker(place.broker, "t", "q");
    // 1 had one delivery; 3 was given back by its worker, uncounted
    CHECK(deliveries_until_done(worker) == std::vector<std::uint32_t>{2, 1, 2});
    CHECK(place.letters() == 3);
    CHECK(place.committed("q") == 4);
}

TEST_CASE("A group with retries is linked to its dead-letter topic that was made anew, and goes on where it stopped") {
    Place place;
    RetryOptions retry;
    retry.attempts = 1;
    const auto fail = [](const ConsumerRecord&) { return Handled::failure("no"); };
    {
        RetryRunner runner(place.broker, "t", {.name = "g"}, retry);
        place.remake();
        for (int i = 0; i < 20; ++i)
            (void)runner.run_once(fail, 10ms);
        CHECK(place.committed("g") == 0);
        CHECK(thrown_by([&] { DeadLetters(place.broker).relink("t", "g"); }).code == ErrorCode::busy);
    }
    CHECK(DeadLetters(place.broker).relink("t", "g"));
    RetryRunner runner(place.broker, "t", {.name = "g"}, retry);
    for (int i = 0; i < 1'000 && place.committed("g") != 4; ++i)
        (void)runner.run_once(fail, 10ms);
    CHECK(place.committed("g") == 4);
    CHECK(place.letters() == 4);
}

TEST_CASE("What sends no dead letters has nothing to be linked") {
    Place place;
    QueueAdmin(place.broker).create("t", "skips", {.exhausted = Exhausted::skip, .expired = Exhausted::skip});
    DeadLetters letters(place.broker);
    CHECK(thrown_by([&] { letters.relink("t", "skips"); }).code == ErrorCode::mismatch);
    CHECK(thrown_by([&] { letters.relink("t", "nobody"); }).code == ErrorCode::not_found);
}
