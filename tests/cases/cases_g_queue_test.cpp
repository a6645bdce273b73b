// Family G, for work queues: retries that end, and what becomes of a record that nobody can handle. (Streams: the retry
// runner's.)
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/test_broker.hpp"

using namespace ringmain;
using namespace std::chrono_literals;

namespace {

constexpr const char* kQueue = "labels";
constexpr const char* kLetters = "orders.dlq";

/// A letter, copied: the views of its record are gone.
struct Letter {
    std::string key;
    std::string value;
    std::vector<std::pair<std::string, std::string>> headers;  ///< Of the record, not the letter's own.
    std::uint32_t in_partition = 0;                            ///< Of the dead-letter topic.
    std::uint32_t partition = 0;
    std::uint64_t offset = 0;
    std::uint32_t attempts = 0;
    std::optional<std::int64_t> timestamp_ns;
    std::int64_t written_ns = 0;
    DeadLetterReason reason = DeadLetterReason::limit;
};

Letter copy_of(const ConsumerRecord& record) {
    const DecodedLetter decoded = decode_dead_letter(record);
    INFO(decoded.problem);
    REQUIRE(decoded.letter);
    const DeadLetter& from = *decoded.letter;
    CHECK(from.topic == "orders");
    CHECK(from.group == kQueue);
    Letter letter{std::string(text_or(record.key, "(null)")),
                  std::string(text_or(record.value, "(null)")),
                  {},
                  record.partition,
                  from.partition,
                  from.offset,
                  from.attempts,
                  from.timestamp_ns,
                  record.timestamp_ns,
                  from.reason};
    for (const Header& header : record.headers) {
        if (!header.name.starts_with(kDeadLetterHeaderPrefix))
            letter.headers.emplace_back(header.name, text_or(header.value, "(null)"));
    }
    return letter;
}

TopicOptions small(std::uint32_t partitions, std::uint64_t records, WhenFull when_full = WhenFull::overwrite) {
    TopicOptions options;
    options.partitions = partitions;
    options.records = records;
    options.cell_bytes = 128;
    options.payload_bytes = 0;
    options.producer_slots = 4;
    options.when_full = when_full;
    return options;
}

/// A dead-letter topic: room for the letters of small records.
TopicOptions small_letters(std::uint32_t partitions, std::uint64_t records, WhenFull when_full = WhenFull::block) {
    TopicOptions options = small(partitions, records, when_full);
    options.payload_bytes = 1 << 18;
    return options;
}

/// No waiting between attempts, and locks that nobody outlives.
QueueOptions at_once(std::uint32_t delivery_limit) {
    QueueOptions options;
    options.delivery_limit = delivery_limit;
    options.lock_time = 1h;
    options.backoff = {.first = 0ms, .max = 0ms, .factor = 1.0, .jitter = 0.0};
    return options;
}

/// Topic orders, and queue labels of it.
struct Place : test::TestBroker {
    explicit Place(std::uint32_t partitions = 1, std::uint64_t records = 1'024) {
        broker.create_topic("orders", small(partitions, records));
        producer.emplace(broker, "orders");
    }
    void publish(const ProducerRecord& record) { REQUIRE(producer->publish(record).status == Status::ok); }
    void publish_many(int count) {
        for (int i = 0; i < count; ++i)
            publish({.value = as_bytes(std::to_string(i))});
    }
    [[nodiscard]] QueuePartitionDescription queue(std::uint32_t partition = 0) const {
        return QueueAdmin(broker).describe("orders", kQueue).partitions.at(partition);
    }
    /// All that are in the log of the dead-letter topic.
    [[nodiscard]] std::vector<Letter> letters(const char* topic = kLetters) const {
        Consumer consumer(broker);
        consumer.assign(topic, Position::earliest());
        std::vector<Letter> all;
        for (;;) {
            const PollResult result = consumer.poll(256, 100ms);  // a killed writer's ticket may be in the way
            REQUIRE(result.status == Status::ok);
            for (const ConsumerRecord& record : result.records)
                all.push_back(copy_of(record));
            if (result.records.empty() && result.gaps.empty())
                return all;
        }
    }
    std::optional<Producer> producer;
};

/// One record, waiting as long as a test may.
QueueRecord one(QueueWorker& worker) {
    const AcquireResult result = worker.acquire(1, 20s);
    REQUIRE(result.status == Status::ok);
    REQUIRE(result.records.size() == 1);
    return result.records.front();
}

bool nothing_more(QueueWorker& worker) {
    const AcquireResult result = worker.acquire(1, 50ms);
    return result.status == Status::ok && result.records.empty();
}

}  // namespace

TEST_CASE("G01 letters of 8 partitions arrive in a dead-letter topic of 1 and of 3, and say where they come from") {
    for (const std::uint32_t partitions : {1U, 3U}) {
        Place place(8, 64);
        place.broker.create_topic(kLetters, small_letters(partitions, 64));
        for (std::uint32_t partition = 0; partition < 8; ++partition) {
            place.publish({.value = as_bytes("fine"), .partition = partition});
            place.publish({.value = as_bytes(std::to_string(partition)), .partition = partition});
        }
        QueueWorker worker(place.broker, "orders", kQueue, at_once(1));
        for (int record = 0; record < 16; ++record) {
            const QueueRecord got = one(worker);
            const bool fine = text_or(got.record.value, "") == "fine";
            CHECK((fine ? worker.ack(got.lock) : worker.nack(got.lock)).settled == Settled::done);
        }
        const std::vector<Letter> letters = place.letters();
        std::set<std::uint32_t> origins;
        for (const Letter& letter : letters) {
            CHECK(letter.value == std::to_string(letter.partition));
            CHECK(letter.offset == 1);
            CHECK(letter.in_partition == letter.partition % partitions);
            origins.insert(letter.partition);
        }
        CHECK(letters.size() == 8);
        CHECK(origins.size() == 8);
    }
}

TEST_CASE(
    "G02 a dead-letter topic that is not there is made with the queue; when it is deleted nothing is committed past, "
    "and nothing is lost") {
    Place place;
    place.publish_many(3);
    QueueAdmin admin(place.broker);
    admin.create("orders", kQueue, at_once(1));
    CHECK(place.letters().empty());  // it is there
    {
        QueueWorker worker(place.broker, "orders", kQueue);
        const QueueRecord failing = one(worker);
        place.broker.delete_topic(kLetters);
        CHECK(worker.nack(failing.lock).settled == Settled::letters_full);
        for (int other = 0; other < 2; ++other)
            CHECK(worker.ack(one(worker).lock).settled == Settled::done);
        CHECK(nothing_more(worker));
    }
    const QueuePartitionDescription stuck = place.queue();
    CHECK(stuck.lag.position == 0);
    CHECK(stuck.lag.records == 3);
    CHECK(stuck.letters_refused >= 1);
    CHECK(stuck.dead_lettered == 0);
    // Created anew where it stood, it has a dead-letter topic again.
    admin.remove("orders", kQueue);
    QueueOptions again = at_once(1);
    again.start = Position::at(stuck.lag.position);
    QueueWorker worker(place.broker, "orders", kQueue, again);
    const QueueRecord failing = one(worker);
    CHECK(failing.record.offset == 0);
    CHECK(worker.nack(failing.lock).dead_lettered);
    const std::vector<Letter> letters = place.letters();
    REQUIRE(letters.size() == 1);
    CHECK(letters[0].value == "0");
}

TEST_CASE("G03 the age of a letter counts from when it was written, and the record's own time is kept") {
    Place place;
    TopicOptions options = small_letters(1, 64, WhenFull::overwrite);
    options.retention.age = std::chrono::hours(1);
    place.broker.create_topic(kLetters, options);
    using std::chrono::system_clock;
    const auto now_ns = std::chrono::nanoseconds(system_clock::now().time_since_epoch()).count();
    const std::int64_t old_ns = now_ns - std::chrono::nanoseconds(std::chrono::hours(24 * 7)).count();
    place.publish({.value = as_bytes("a week old"), .timestamp_ns = old_ns});
    QueueWorker worker(place.broker, "orders", kQueue, at_once(1));
    CHECK(worker.nack(one(worker).lock).dead_lettered);
    Keeper keeper(place.broker);
    for (int second = 1; second <= 10; ++second)
        (void)keeper.do_work(std::chrono::seconds(second));
    const std::vector<Letter> letters = place.letters();
    REQUIRE(letters.size() == 1);
    CHECK(letters[0].timestamp_ns == old_ns);
    CHECK(letters[0].written_ns >= now_ns - std::chrono::nanoseconds(1s).count());
}

TEST_CASE("G05 attempts are counted 1 to 5, whatever the producer wrote into headers of those names") {
    Place place;
    const std::vector<Header> headers = {{kDeadLetterAttempts, as_bytes("77")},
                                         {kDeadLetterReason, as_bytes("expired")}};
    place.publish({.value = as_bytes("v"), .headers = headers});
    QueueWorker worker(place.broker, "orders", kQueue, at_once(5));
    for (std::uint32_t attempt = 1; attempt <= 5; ++attempt) {
        const QueueRecord got = one(worker);
        CHECK(got.deliveries == attempt);
        CHECK(worker.nack(got.lock).dead_lettered == (attempt == 5));
    }
    const std::vector<Letter> letters = place.letters();
    REQUIRE(letters.size() == 1);
    CHECK(letters[0].attempts == 5);
    CHECK(letters[0].reason == DeadLetterReason::limit);
    CHECK(letters[0].headers.empty());
}

TEST_CASE(
    "G07 after the last delivery there is exactly one letter, the committed offset is past the record, and nothing is "
    "pending") {
    Place place;
    place.publish_many(1);
    QueueWorker worker(place.broker, "orders", kQueue, at_once(3));
    for (int attempt = 0; attempt < 3; ++attempt)
        (void)worker.nack(one(worker).lock);
    CHECK(nothing_more(worker));
    CHECK(place.letters().size() == 1);
    const QueuePartitionDescription queue = place.queue();
    CHECK(queue.lag.committed == 1);
    CHECK(queue.lag.records == 0);
    CHECK(queue.available + queue.delayed + queue.acquired + queue.ending == 0);
    CHECK(queue.dead_lettered == 1);
    CHECK(worker.in_flight() == 0);
}

TEST_CASE(
    "G09 one record of 1000 that always fails: the other 999 are handled in their order, and it is tried no more than "
    "its limit") {
    Place place(1, 2'048);
    place.publish_many(1'000);
    QueueWorker worker(place.broker, "orders", kQueue, at_once(5));
    std::vector<std::uint64_t> handled;
    int failures = 0;
    for (;;) {
        const AcquireResult result = worker.acquire(16, 50ms);
        REQUIRE(result.status == Status::ok);
        if (result.records.empty())
            break;
        for (const QueueRecord& record : result.records) {
            const bool poison = record.record.offset == 500;
            failures += poison ? 1 : 0;
            if (!poison)
                handled.push_back(record.record.offset);
            CHECK((poison ? worker.nack(record.lock, {}, "cannot be decoded") : worker.ack(record.lock)).settled ==
                  Settled::done);
        }
    }
    CHECK(failures == 5);
    CHECK(handled.size() == 999);
    CHECK(std::is_sorted(handled.begin(), handled.end()));
    CHECK(place.letters().size() == 1);
    CHECK(place.queue().lag.committed == 1'000);
}

TEST_CASE(
    "G10 without dead letters a record that failed for the last time is skipped and counted, also after a restart, and "
    "not delivered again") {
    Place place;
    place.publish_many(2);
    QueueOptions options = at_once(2);
    options.exhausted = Exhausted::skip;
    options.expired = Exhausted::skip;
    {
        QueueWorker worker(place.broker, "orders", kQueue, options);
        for (int attempt = 0; attempt < 2; ++attempt) {
            const QueueRecord got = one(worker);
            CHECK(got.record.offset == 0);
            CHECK(worker.nack(got.lock).settled == Settled::done);
        }
    }
    QueueWorker worker(place.broker, "orders", kQueue);
    CHECK(worker.options().exhausted == Exhausted::skip);
    for (int attempt = 0; attempt < 2; ++attempt) {
        const QueueRecord got = one(worker);
        CHECK(got.record.offset == 1);
        CHECK(worker.nack(got.lock).settled == Settled::done);
    }
    CHECK(nothing_more(worker));
    CHECK(place.queue().skipped == 2);
    CHECK(place.queue().lag.records == 0);
    QueueOptions other = options;
    other.exhausted = Exhausted::dead_letter;
    CHECK_THROWS_AS(QueueAdmin(place.broker).ensure("orders", kQueue, other), Error);
}

TEST_CASE("G12 key, value, headers and time of a letter are those of its record, byte by byte") {
    Place place;
    const std::string key("k\0\xff", 3);
    const std::string value("\0v\x80", 3);
    const std::vector<Header> headers = {{"b", as_bytes("1")}, {"a", as_bytes("")}, {"b", std::nullopt}};
    place.publish({.value = as_bytes(value), .key = as_bytes(key), .headers = headers, .timestamp_ns = 1'234'567'890});
    QueueWorker worker(place.broker, "orders", kQueue, at_once(1));
    CHECK(worker.reject(one(worker).lock).settled == Settled::done);
    const std::vector<Letter> letters = place.letters();
    REQUIRE(letters.size() == 1);
    CHECK(letters[0].key == key);
    CHECK(letters[0].value == value);
    CHECK(letters[0].headers ==
          std::vector<std::pair<std::string, std::string>>{{"b", "1"}, {"a", ""}, {"b", "(null)"}});
    CHECK(letters[0].timestamp_ns == 1'234'567'890);
    CHECK(letters[0].reason == DeadLetterReason::rejected);
}

TEST_CASE(
    "G13 workers killed 200 times while they send records to the dead letters: exactly one letter for each record") {
    Place place(1, 16'384);
    TopicOptions large_letters = small_letters(1, 16'384);
    large_letters.payload_bytes = 1 << 24;
    large_letters.producer_slots = 256;  // each worker may leave an extent that is not full
    place.broker.create_topic(kLetters, large_letters);
    constexpr int kKills = 200;
    constexpr int kRecords = 2'000;
    place.publish_many(kRecords);
    QueueAdmin(place.broker).create("orders", kQueue, at_once(1));
    for (int kill = 0; kill < kKills; ++kill) {
        test::Child child([&] {
            Broker broker(place.scratch.broker());
            QueueWorker worker(broker, "orders", kQueue);
            for (;;) {
                const AcquireResult result = worker.acquire(1, 1ms);
                if (result.status != Status::ok)
                    return 1;
                for (const QueueRecord& record : result.records)
                    (void)worker.nack(record.lock, {}, "poison");
            }
        });
        ::usleep(static_cast<useconds_t>(300 + 37 * kill % 4'000));
        child.kill();
    }
    QueueWorker worker(place.broker, "orders", kQueue);
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (place.queue().lag.records != 0 && std::chrono::steady_clock::now() < until) {
        const AcquireResult result = worker.acquire(64, 10ms);
        REQUIRE(result.status == Status::ok);
        for (const QueueRecord& record : result.records)
            (void)worker.nack(record.lock);
    }
    CHECK(place.queue().lag.records == 0);
    CHECK(place.queue().letters_refused == 0);
    std::map<std::uint64_t, int> copies;
    for (const Letter& letter : place.letters()) {
        CHECK(letter.value == std::to_string(letter.offset));
        ++copies[letter.offset];
    }
    CHECK(copies.size() == kRecords);
    CHECK(std::all_of(copies.begin(), copies.end(), [](const auto& one) { return one.second == 1; }));
    // who is killed between an exchange and its count leaves that short
    CHECK(place.queue().dead_lettered <= kRecords);
    CHECK(place.queue().dead_lettered >= kRecords - kKills);
}

TEST_CASE(
    "G16 a full dead-letter topic that blocks stops the queue's failures and says so, and one that overwrites counts "
    "what it lost") {
    constexpr int kFailures = 40;
    const auto fail_all = [](Place& place) {
        QueueWorker worker(place.broker, "orders", kQueue, at_once(1));
        std::uint64_t refused = 0;
        for (int record = 0; record < kFailures; ++record)
            refused += worker.nack(one(worker).lock).settled == Settled::letters_full ? 1U : 0U;
        return refused;
    };
    Place blocking;
    blocking.broker.create_topic(kLetters, small_letters(1, 16));
    blocking.publish_many(kFailures);
    const std::uint64_t refused = fail_all(blocking);
    CHECK(refused > 0);
    const QueuePartitionDescription stopped = blocking.queue();
    const std::vector<Letter> kept = blocking.letters();
    CHECK(stopped.letters_refused >= refused);
    CHECK(stopped.dead_lettered == kFailures - refused);
    CHECK(kept.size() == stopped.dead_lettered);
    CHECK(stopped.lag.position == stopped.dead_lettered);
    CHECK(stopped.ending == refused);

    Place ring;
    ring.broker.create_topic(kLetters, small_letters(1, 16, WhenFull::overwrite));
    ring.publish_many(kFailures);
    CHECK(fail_all(ring) == 0);
    CHECK(ring.queue().dead_lettered == kFailures);
    const TopicDescription topic = ring.broker.describe_topic(kLetters);
    CHECK(ring.letters().size() == topic.partitions.at(0).log_end - topic.partitions.at(0).log_start);
    CHECK(topic.partitions.at(0).log_start >= kFailures - 16);
}
