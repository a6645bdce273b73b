// The worker of a queue as its users meet it: acquiring, answering, locks that run out, dead letters, headers, loss, caps.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ringmain/consumer.hpp"
#include "ringmain/dead_letter.hpp"
#include "ringmain/dead_letters.hpp"
#include "ringmain/producer.hpp"
#include "ringmain/queue.hpp"
#include "ringmain/queue_admin.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/test_broker.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace std::chrono_literals;

namespace {

/// Topic jobs, and workers of queue q.
struct Jobs : TestBroker {
    explicit Jobs(std::uint32_t partitions = 1, WhenFull when_full = WhenFull::overwrite, std::uint64_t records = 64) {
        TopicOptions options;
        options.partitions = partitions;
        options.records = records;
        options.producer_slots = 4;
        options.payload_bytes = 0;
        options.when_full = when_full;
        broker.create_topic("jobs", options);
        producer.emplace(broker, "jobs");
    }

    void publish(std::size_t count, const ProducerRecord& record = {}) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::string text = "job " + std::to_string(published++);
            ProducerRecord one = record;
            one.value = as_bytes(text);
            REQUIRE(producer->publish(one).status == Status::ok);
        }
    }
    [[nodiscard]] QueueWorker worker(const QueueOptions& options = fast(), const QueueWorkerOptions& own = {}) const {
        return {broker, "jobs", "q", options, own};
    }
    /// Short locks, and no waiting after failures.
    [[nodiscard]] static QueueOptions fast() {
        QueueOptions options;
        options.lock_time = 200ms;
        options.backoff = {.first = 0ms, .max = 0ms, .factor = 1.0, .jitter = 0.0};
        options.delivery_limit = 3;
        return options;
    }
    [[nodiscard]] std::vector<DeadLetter> letters() {
        Consumer consumer(broker);
        consumer.assign("jobs.dlq");
        std::vector<DeadLetter> all;
        texts.clear();
        for (const ConsumerRecord& record : consumer.poll(1'000, 50ms).records) {
            const DecodedLetter decoded = decode_dead_letter(record);
            INFO(decoded.problem);
            REQUIRE(decoded.letter);
            all.push_back(*decoded.letter);
            texts.emplace_back(text_or(record.value, "(null)"));
            for (auto* text : {&all.back().topic, &all.back().group, &all.back().first_error, &all.back().last_error})
                *text = kept.emplace_back(std::make_unique<std::string>(*text)).get()->c_str();
        }
        return all;
    }

    std::optional<Producer> producer;
    std::size_t published = 0;
    std::vector<std::string> texts;  // of the letters read last
    std::vector<std::unique_ptr<std::string>> kept;
};

std::vector<std::uint64_t> offsets(const AcquireResult& result) {
    std::vector<std::uint64_t> all;
    for (const QueueRecord& record : result.records) all.push_back(record.record.offset);
    return all;
}
using Offsets = std::vector<std::uint64_t>;

/// One record, waiting for it as long as a test may.
QueueRecord one(QueueWorker& worker) {
    const AcquireResult result = worker.acquire(1, 20s);
    REQUIRE(result.status == Status::ok);
    REQUIRE(result.records.size() == 1);
    return result.records.front();
}

}  // namespace

TEST_CASE("Workers of a queue share the records one by one, and what is acknowledged is finished") {
    Jobs jobs;
    jobs.publish(6);
    QueueWorker a = jobs.worker();
    QueueWorker b = jobs.worker();
    CHECK(a.slot() != b.slot());
    const AcquireResult first = a.acquire(2);
    CHECK(offsets(first) == Offsets{0, 1});
    CHECK(as_text(*first.records[0].record.value) == "job 0");
    CHECK(first.records[0].deliveries == 1);
    CHECK(first.records[0].lock_left.count() > 100);
    CHECK(a.in_flight() == 2);
    const AcquireResult second = b.acquire(3);
    CHECK(offsets(second) == Offsets{2, 3, 4});
    CHECK(a.ack(first.records) == 2);
    CHECK(b.ack(second.records) == 3);
    CHECK(a.in_flight() == 0);
    CHECK(offsets(a.acquire(10)) == Offsets{5});
    CHECK(b.acquire(10).records.empty());
    QueueAdmin admin(jobs.broker);
    const QueueDescription queue = admin.describe("jobs", "q");
    CHECK(queue.partitions.at(0).lag.committed == 5);
    CHECK(queue.partitions.at(0).acquired == 1);
    CHECK(queue.workers.size() == 2);
}

TEST_CASE("More workers than partitions are fine, and every partition is handed out") {
    Jobs jobs(3);
    jobs.publish(30);
    std::vector<QueueWorker> workers;
    for (int i = 0; i < 5; ++i) workers.push_back(jobs.worker());
    std::set<std::pair<std::uint32_t, std::uint64_t>> seen;
    for (int round = 0; round < 10; ++round) {
        for (QueueWorker& worker : workers) {
            for (const QueueRecord& record : worker.acquire(1).records) {
                CHECK(seen.emplace(record.record.partition, record.record.offset).second);
                CHECK(worker.ack(record.lock).settled == Settled::done);
            }
        }
    }
    CHECK(seen.size() == 30);
}

TEST_CASE("A lock that ran out makes the record another's, and the late answer says whose") {
    Jobs jobs;
    jobs.publish(1);
    QueueWorker slow = jobs.worker();
    QueueWorker quick = jobs.worker();
    const QueueRecord held = one(slow);
    CHECK(quick.acquire(1).records.empty());
    const QueueRecord again = one(quick);
    CHECK(again.record.offset == 0);
    CHECK(again.deliveries == 2);
    const SettleResult late = slow.ack(held.lock);
    CHECK(late.settled == Settled::lock_lost);
    CHECK(late.taken_by_slot == quick.slot());
    CHECK(late.taken_by_pid == static_cast<std::uint32_t>(::getpid()));
    CHECK(quick.ack(again.lock).settled == Settled::done);
    CHECK(slow.nack(held.lock).settled == Settled::lock_lost);
    CHECK_FALSE(slow.nack(held.lock).taken_by_slot);
}

TEST_CASE("A lock that ran out and that nobody took can still be answered for, and renewed") {
    Jobs jobs;
    jobs.publish(2);
    QueueWorker worker = jobs.worker();
    const AcquireResult got = worker.acquire(2);
    REQUIRE(got.records.size() == 2);
    Lock first = got.records[0].lock;
    const Lock second = got.records[1].lock;
    std::this_thread::sleep_for(300ms);
    CHECK(worker.ack(second).settled == Settled::done);
    CHECK(worker.renew(first, 10s).settled == Settled::done);
    CHECK(first != got.records[0].lock);
    QueueWorker other = jobs.worker();
    CHECK(other.acquire(1, 400ms).records.empty());
    CHECK(worker.ack(first).settled == Settled::done);
}

TEST_CASE("A record that is given back does not count as delivered; one that failed does") {
    Jobs jobs;
    jobs.publish(1);
    QueueWorker worker = jobs.worker();
    CHECK(worker.release(one(worker).lock).settled == Settled::done);
    const QueueRecord again = one(worker);
    CHECK(again.deliveries == 1);
    CHECK(worker.nack(again.lock).settled == Settled::done);
    CHECK(one(worker).deliveries == 2);
}

TEST_CASE("A failure with a delay comes back after it and not before") {
    Jobs jobs;
    jobs.publish(1);
    QueueWorker worker = jobs.worker();
    CHECK(worker.nack(one(worker).lock, 300ms).settled == Settled::done);
    const auto from = std::chrono::steady_clock::now();
    const QueueRecord again = one(worker);
    CHECK(std::chrono::steady_clock::now() - from >= 290ms);
    CHECK(again.deliveries == 2);
}

TEST_CASE("The last delivery that fails makes exactly one dead letter, which tells where it came from") {
    Jobs jobs;
    jobs.publish(2);
    QueueWorker worker = jobs.worker();
    for (int delivery = 1; delivery <= 3; ++delivery) {
        const QueueRecord record = one(worker);
        CHECK(record.record.offset == 0);
        const SettleResult result = worker.nack(record.lock, {}, "no paper " + std::to_string(delivery));
        CHECK(result.settled == Settled::done);
        CHECK(result.dead_lettered == (delivery == 3));
    }
    CHECK(one(worker).record.offset == 1);
    const std::vector<DeadLetter> letters = jobs.letters();
    REQUIRE(letters.size() == 1);
    CHECK(jobs.texts == std::vector<std::string>{"job 0"});
    CHECK(letters[0].topic == "jobs");
    CHECK(letters[0].group == "q");
    CHECK(letters[0].offset == 0);
    CHECK(letters[0].attempts == 3);
    CHECK(letters[0].reason == DeadLetterReason::limit);
    CHECK(letters[0].last_error == "no paper 3");
}

TEST_CASE("A record that is rejected goes to the dead letters at once") {
    Jobs jobs;
    jobs.publish(1);
    QueueWorker worker = jobs.worker();
    const SettleResult result = worker.reject(one(worker).lock, "not ours");
    CHECK(result.settled == Settled::done);
    CHECK(result.dead_lettered);
    const std::vector<DeadLetter> letters = jobs.letters();
    REQUIRE(letters.size() == 1);
    CHECK(letters[0].reason == DeadLetterReason::rejected);
    CHECK(letters[0].attempts == 1);
    CHECK(QueueAdmin(jobs.broker).describe("jobs", "q").partitions.at(0).lag.committed == 1);
}

TEST_CASE("A queue without dead letters skips what failed too often, and counts it") {
    Jobs jobs;
    QueueOptions options = Jobs::fast();
    options.exhausted = options.expired = Exhausted::skip;
    options.delivery_limit = 1;
    jobs.publish(2);
    QueueWorker worker = jobs.worker(options);
    CHECK(worker.nack(one(worker).lock).settled == Settled::done);
    CHECK(worker.ack(one(worker).lock).settled == Settled::done);
    const QueuePartitionDescription part = QueueAdmin(jobs.broker).describe("jobs", "q").partitions.at(0);
    CHECK(part.skipped == 1);
    CHECK(part.lag.committed == 2);
    CHECK(jobs.broker.list_topics() == std::vector<std::string>{"jobs"});
}

TEST_CASE("A full dead-letter topic keeps the record, says so, and takes it once there is room") {
    Jobs jobs;
    TopicOptions small;
    small.records = 16;
    small.producer_slots = 2;
    small.payload_bytes = 1 << 20;
    small.when_full = WhenFull::block;
    jobs.broker.create_topic("jobs.dlq", small);
    QueueOptions options = Jobs::fast();
    options.delivery_limit = 1;
    jobs.publish(40);
    QueueWorker worker = jobs.worker(options);
    std::size_t full = 0;
    for (int i = 0; i < 40; ++i) {
        const Settled settled = worker.nack(one(worker).lock).settled;
        full += settled == Settled::letters_full ? 1U : 0U;
    }
    CHECK(full > 0);
    const QueuePartitionDescription part = QueueAdmin(jobs.broker).describe("jobs", "q").partitions.at(0);
    CHECK(part.letters_refused >= full);
    CHECK(part.dead_lettered == 40 - full);
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (QueueAdmin(jobs.broker).describe("jobs", "q").partitions.at(0).dead_lettered < 40 && std::chrono::steady_clock::now() < until) {
        (void)DeadLetters(jobs.broker).purge("jobs.dlq", {});
        CHECK(worker.acquire(1, 20ms).records.empty());
    }
    CHECK(QueueAdmin(jobs.broker).describe("jobs", "q").partitions.at(0).lag.committed == 40);
}

TEST_CASE("A record with a delay header waits from its time or its first sight, whichever is earlier") {
    Jobs jobs;
    const Header delay{kDelayHeader, as_bytes("400")};
    const Header nonsense{kDelayHeader, as_bytes("soon")};
    ProducerRecord delayed;
    delayed.headers = {&delay, 1};
    ProducerRecord odd;
    odd.headers = {&nonsense, 1};
    jobs.publish(1, delayed);
    delayed.timestamp_ns = 1;  // long ago
    jobs.publish(1, delayed);
    jobs.publish(1, odd);
    QueueWorker worker = jobs.worker();
    const AcquireResult at_once = worker.acquire(10);
    CHECK(offsets(at_once) == Offsets{1, 2});
    CHECK(worker.ack(at_once.records) == 2);
    CHECK(one(worker).record.offset == 0);
}

TEST_CASE("A record whose time to live is over reaches nobody but the dead letters") {
    Jobs jobs;
    const Header ttl{kTimeToLiveHeader, as_bytes("2000")};
    ProducerRecord record;
    record.headers = {&ttl, 1};
    record.timestamp_ns = 1;
    jobs.publish(1, record);
    record.timestamp_ns.reset();
    jobs.publish(1, record);
    QueueWorker worker = jobs.worker();
    const QueueRecord living = one(worker);
    CHECK(living.record.offset == 1);
    std::this_thread::sleep_for(2'050ms);
    CHECK(worker.nack(living.lock).settled == Settled::done);
    CHECK(worker.acquire(1, 200ms).records.empty());
    const std::vector<DeadLetter> letters = jobs.letters();
    REQUIRE(letters.size() == 2);
    CHECK(letters[0].reason == DeadLetterReason::expired);
    CHECK(letters[0].attempts == 0);
    CHECK(letters[1].attempts == 1);
}

TEST_CASE("Whatever the headers for delay and time to live say, they ask for a time or for nothing") {
    TestBroker place;
    place.broker.create_topic("wide", {.records = 128});
    Producer producer(place.broker, "wide");
    const auto publish = [&](std::string_view name, std::string_view text, std::optional<std::int64_t> timestamp_ns = std::nullopt) {
        const Header header{name, as_bytes(text)};
        ProducerRecord record;
        record.headers = {&header, 1};
        record.timestamp_ns = timestamp_ns;
        REQUIRE(producer.publish(record).status == Status::ok);
    };
    constexpr std::string_view kHuge = "99999999999999999999999999";
    publish(kDelayHeader, kHuge);       // 0: the longest that there is
    publish(kTimeToLiveHeader, kHuge);  // 1: for ever
    for (const std::string_view nothing : {"-1", "+1", "", " 1", "1 ", "0x10", "1e3"}) publish(kDelayHeader, nothing);  // 2 to 8
    for (const std::string_view nothing : {"-1", "", "1s"}) publish(kTimeToLiveHeader, nothing);                        // 9 to 11
    publish(kDelayHeader, "1000", std::numeric_limits<std::int64_t>::min());       // 12
    publish(kTimeToLiveHeader, "1000", std::numeric_limits<std::int64_t>::min());  // 13: over
    publish(kTimeToLiveHeader, "0", std::numeric_limits<std::int64_t>::max());     // 14: not yet
    QueueWorker worker(place.broker, "wide", "q", Jobs::fast());
    CHECK(offsets(worker.acquire(20)) == Offsets{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14});
    const QueuePartitionDescription now = QueueAdmin(place.broker).describe("wide", "q").partitions.at(0);
    CHECK(now.dead_lettered == 1);
    CHECK(now.delayed == 1);
}

TEST_CASE("What retention takes before it is finished is told with numbers, and answers for it are refused") {
    Jobs jobs;
    jobs.publish(10);
    QueueWorker worker = jobs.worker();
    const QueueRecord held = one(worker);
    jobs.publish(100);
    std::uint64_t lost = 0;
    std::uint64_t got = 0;
    std::set<std::uint64_t> seen;
    for (;;) {
        const AcquireResult result = worker.acquire(16, 50ms);
        for (const Gap& gap : result.gaps) lost += gap.count();
        for (const QueueRecord& record : result.records) CHECK(seen.insert(record.record.offset).second);
        got += result.records.size();
        CHECK(worker.ack(result.records) == result.records.size());
        if (result.records.empty() && result.gaps.empty()) break;
    }
    CHECK(lost + got == 110);
    CHECK(lost >= 46);
    CHECK(worker.ack(held.lock).settled != Settled::done);
    const QueuePartitionDescription part = QueueAdmin(jobs.broker).describe("jobs", "q").partitions.at(0);
    CHECK(part.lost == lost);
    CHECK(part.lag.committed == 110);
}

TEST_CASE("On a topic that blocks a queue that gates holds producers back until its records are finished") {
    Jobs jobs(1, WhenFull::block);
    QueueOptions options = Jobs::fast();
    options.gating = true;
    QueueWorker worker = jobs.worker(options);
    std::size_t room = 0;
    while (jobs.producer->try_publish({}).status == Status::ok) ++room;
    CHECK(room > 0);
    CHECK(room <= 64);
    const AcquireResult got = worker.acquire(64);
    CHECK(got.records.size() == room);
    CHECK(jobs.producer->try_publish({}).status == Status::would_block);
    CHECK(worker.ack(got.records) == room);
    CHECK(jobs.producer->try_publish({}).status == Status::ok);
}

TEST_CASE("The caps of a worker and of its queue are back-pressure") {
    Jobs jobs;
    QueueOptions options = Jobs::fast();
    options.lock_time = 30s;
    options.max_in_flight = 5;
    jobs.publish(20);
    QueueWorker a = jobs.worker(options, {.max_in_flight = 3});
    QueueWorker b = jobs.worker(options);
    const AcquireResult three = a.acquire(10);
    CHECK(three.records.size() == 3);
    const std::vector<Lock> locks{three.records[0].lock, three.records[1].lock, three.records[2].lock};
    CHECK(a.acquire(10).status == Status::would_block);
    CHECK(b.acquire(10).records.size() == 2);
    CHECK(b.acquire(10).status == Status::would_block);
    CHECK(b.acquire(10, 50ms).records.empty());
    CHECK(a.ack(locks[0]).settled == Settled::done);
    CHECK(b.acquire(10).records.size() == 1);
}

TEST_CASE("Records that were taken from a worker do not fill the queue's cap while it goes on asking") {
    Jobs jobs;
    QueueOptions options = Jobs::fast();
    options.max_in_flight = 4;
    options.delivery_limit = 0;
    jobs.publish(12);
    QueueWorker a = jobs.worker(options);
    QueueWorker b = jobs.worker(options);
    REQUIRE(a.acquire(4).records.size() == 4);
    std::this_thread::sleep_for(options.lock_time + 50ms);
    for (int i = 0; i < 4; ++i) REQUIRE(b.ack(one(b).lock).settled == Settled::done);  // those of a, whose locks are over
    std::size_t more = 0;
    for (int i = 0; i < 100 && more < 8; ++i) {
        for (QueueWorker* const worker : {&a, &b}) more += worker->ack(worker->acquire(2, 10ms).records);
    }
    CHECK(more == 8);
}

TEST_CASE("A record that is answered for after its time leaves room for one record, not for two") {
    Jobs jobs;
    QueueOptions options = Jobs::fast();
    options.max_in_flight = 4;
    jobs.publish(20);
    QueueWorker worker = jobs.worker(options, {.max_in_flight = 4});
    std::vector<Lock> locks;
    for (const QueueRecord& record : worker.acquire(4).records) locks.push_back(record.lock);
    REQUIRE(locks.size() == 4);
    for (const std::size_t kept : {2, 3}) REQUIRE(worker.renew(locks[kept], 30s).settled == Settled::done);
    std::this_thread::sleep_for(options.lock_time + 50ms);
    for (const QueueRecord& again : worker.acquire(1).records) locks.push_back(again.lock);  // counts what is held
    const auto acquired = [&] { return QueueAdmin(jobs.broker).describe("jobs", "q").partitions.at(0).acquired; };
    CHECK(worker.renew(locks[1], 30s).settled == Settled::done);  // held again
    CHECK(worker.in_flight() == acquired());
    for (const Lock& lock : locks) (void)worker.release(lock);
    CHECK(worker.in_flight() == 0);
    CHECK(acquired() == 0);
}

TEST_CASE("A worker that closes gives back what it holds, uncounted, and its place") {
    Jobs jobs;
    jobs.publish(3);
    QueueWorker a = jobs.worker();
    const std::uint32_t slot = a.slot();
    CHECK(a.acquire(3).records.size() == 3);
    a.close();
    CHECK(a.acquire(3).status == Status::group_deleted);
    QueueWorker b = jobs.worker();
    CHECK(b.slot() == slot);
    const AcquireResult again = b.acquire(3);
    CHECK(again.records.size() == 3);
    CHECK(again.records[0].deliveries == 1);
}

TEST_CASE("Records of a killed worker return to whoever joins, without waiting for their locks") {
    Jobs jobs;
    jobs.publish(3);
    QueueOptions options = Jobs::fast();
    options.lock_time = 1h;
    QueueAdmin(jobs.broker).create("jobs", "q", options);
    Child child([&] {
        Broker broker(jobs.scratch.broker());
        QueueWorker worker(broker, "jobs", "q");
        if (worker.acquire(3).records.size() != 3) return 1;
        ::raise(SIGKILL);
        return 2;
    });
    CHECK(child.wait() == 128 + SIGKILL);
    QueueWorker heir(jobs.broker, "jobs", "q");
    const AcquireResult got = heir.acquire(3, 20s);
    REQUIRE(got.records.size() == 3);
    CHECK(got.records[0].deliveries == 2);
    CHECK(QueueAdmin(jobs.broker).describe("jobs", "q").partitions.at(0).returned == 3);
}

TEST_CASE("A reset ends all locks, and everything comes again from there") {
    Jobs jobs;
    jobs.publish(5);
    QueueWorker worker = jobs.worker();
    const AcquireResult got = worker.acquire(5);
    REQUIRE(got.records.size() == 5);
    const Lock held = got.records[4].lock;
    CHECK(worker.ack(got.records.first(3)) == 3);
    QueueAdmin admin(jobs.broker);
    admin.execute(admin.plan("jobs", "q", ResetTarget::at(1)), true);
    CHECK(worker.ack(held).settled == Settled::reset);
    CHECK(offsets(worker.acquire(10, 1s)) == Offsets{1, 2, 3, 4});
}

TEST_CASE("A queue that is deleted, and one whose topic is, end their workers' calls with a word") {
    Jobs jobs;
    jobs.publish(2);
    QueueWorker worker = jobs.worker();
    const QueueRecord held = one(worker);
    SECTION("the queue") {
        QueueAdmin(jobs.broker).remove("jobs", "q", true);
        CHECK(worker.acquire(1).status == Status::group_deleted);
        CHECK(worker.ack(held.lock).settled == Settled::reset);
    }
    SECTION("the topic") {
        jobs.broker.delete_topic("jobs");
        CHECK(worker.acquire(1).status == Status::topic_deleted);
        CHECK(worker.ack(held.lock).settled == Settled::unavailable);
    }
}

TEST_CASE("What is no lock of this worker changes nothing") {
    Jobs jobs;
    jobs.publish(2);
    QueueWorker worker = jobs.worker();
    QueueWorker other = jobs.worker();
    const QueueRecord held = one(worker);
    CHECK(other.ack(held.lock).status == Status::invalid);
    CHECK(worker.ack(Lock{}).settled != Settled::done);
    CHECK(worker.ack(Lock{.partition = 7}).status == Status::invalid);
    CHECK(worker.nack(held.lock, 13h).status == Status::invalid);
    CHECK(worker.nack(held.lock, -1ms).status == Status::invalid);
    Lock lock = held.lock;
    CHECK(worker.renew(lock, 1ms).status == Status::invalid);
    CHECK(worker.ack(held.lock).settled == Settled::done);
}

TEST_CASE("Joining a queue refuses what cannot be, and says what") {
    Jobs jobs;
    using Catch::Contains;
    CHECK_THROWS_WITH(QueueWorker(jobs.broker, "jobs", "none"), Contains("none") && Contains("jobs"));
    CHECK_THROWS_WITH(QueueWorker(jobs.broker, "absent", "q"), Contains("absent"));
    CHECK_THROWS_WITH(jobs.worker(Jobs::fast(), {.max_in_flight = 0}), Contains("max_in_flight") && Contains("1..10000"));
    CHECK_THROWS_WITH(jobs.worker(Jobs::fast(), {.patience = 1ns}), Contains("patience"));
    Consumer consumer(jobs.broker, GroupOptions{.name = "g"});
    consumer.subscribe("jobs");
    CHECK(thrown_by([&] { return QueueWorker(jobs.broker, "jobs", "g").slot(); }).code == ErrorCode::mismatch);
    const QueueWorker worker = jobs.worker();
    Consumer wrong(jobs.broker, GroupOptions{.name = "q"});
    CHECK(thrown_by([&] { return wrong.subscribe("jobs"), 0; }).code == ErrorCode::mismatch);
}

TEST_CASE("A worker that sleeps wakes up for a new record, and for one that was given back") {
    Jobs jobs;
    QueueWorker sleeper = jobs.worker();
    Status published = Status::invalid;
    std::thread publisher([&] {
        std::this_thread::sleep_for(100ms);
        published = jobs.producer->publish({}).status;
    });
    const QueueRecord record = one(sleeper);
    publisher.join();
    CHECK(published == Status::ok);
    QueueWorker other = jobs.worker();
    std::optional<Settled> settled;
    std::thread giver([&] {
        std::this_thread::sleep_for(50ms);
        settled = sleeper.release(record.lock).settled;
    });
    CHECK(one(other).record.offset == 0);
    giver.join();
    CHECK(settled == Settled::done);
}

TEST_CASE("A worker in a forked child is none there") {
    Jobs jobs;
    jobs.publish(1);
    QueueWorker worker = jobs.worker();
    const QueueRecord held = one(worker);
    Child child([&] {
        const bool refused = worker.acquire(1).status == Status::forked && worker.ack(held.lock).status == Status::forked;
        return refused ? 0 : 1;
    });
    CHECK(child.wait() == 0);
    CHECK(worker.ack(held.lock).settled == Settled::done);
}
