// What the doctor finds of queues, each situation made real.
#include <chrono>
#include <thread>

#include "doctor_situation.hpp"
#include "ringmain/producer.hpp"
#include "ringmain/queue_admin.hpp"
#include "ringmain/retry.hpp"
#include "support/queue_place.hpp"
#include "support/stopped_child.hpp"

namespace ringmain::test {

namespace {

using namespace std::chrono_literals;
using cli::Finding;
using cli::Severity;

/// Topic t with 10 records, and queue q.
struct Place : Situation {
    explicit Place(QueueOptions options = QueuePlace::plain(), WhenFull when_full = WhenFull::overwrite) {
        broker.create_topic("t", small(when_full));
        QueueAdmin(broker).create("t", "q", options);
        topic.emplace(broker, "t");
        topic->publish(0, 10);
    }
    std::optional<GroupTopic> topic;
};

}  // namespace

TEST_CASE("Doctor: a queue that is well is no finding, and none of a stream group either") {
    const Place place;
    TestWorker worker(place.broker, "t", "q");
    for (const auto& lock : worker.acquire(10))
        REQUIRE(worker.ack(lock) == work_table::Answer::done);
    for (const Finding& finding : place.findings()) {
        INFO(finding.id << ": " << finding.text);
        CHECK(finding.severity == Severity::note);
    }
}

TEST_CASE("Doctor: a queue without workers has records to be handled") {
    const Place place;
    const Finding finding = place.finding("queue-without-workers");
    CHECK(finding.object == "queue 'q' of topic 't'");
    CHECK_THAT(finding.text, contains("has 10 records to be handled, and no workers"));
    CHECK_FALSE(place.has("group-without-members"));
    CHECK_FALSE(finding.is_safe());
    CHECK(finding.command == place.ringmain("queue delete q -t t"));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK_FALSE(place.has("queue-without-workers"));
}

TEST_CASE("Doctor: records that are finished behind one that is not are nothing to be handled") {
    const Place place;
    {
        QueueWorker worker(place.broker, "t", "q");
        const AcquireResult got = worker.acquire(10);
        REQUIRE(got.records.size() == 10);
        CHECK(worker.ack(got.records.subspan(1)) == 9);  // and gives the first one back when it leaves
    }
    CHECK_THAT(place.finding("queue-without-workers").text, contains("has 1 record to be handled, and no workers"));
}

TEST_CASE("Doctor: a stopped worker holds records, until it is let go on") {
    const Place place;
    StoppedChild child([&](const auto& stop) {
        TestWorker worker(Broker(place.broker.directory()), "t", "q");
        if (worker.acquire(3).size() == 3)
            stop();
    });
    const Finding finding = place.finding("worker-stopped");
    CHECK_THAT(finding.text, contains("holds 3 records of queue 'q' of topic 't'") && contains("lock time: 30 s"));
    CHECK(finding.command == "kill -CONT " + std::to_string(child.pid()));
    CHECK_THAT(place.finding("stopped-client").text, contains("3 records of queue 'q' of topic 't'"));
    CHECK(child.finish() == 0);
    CHECK_FALSE(place.has("worker-stopped"));
}

TEST_CASE("Doctor: records that a queue lost are told with how many, and where") {
    const Place place;
    TestWorker worker(place.broker, "t", "q");
    const auto memory = worker.work(0);
    memory.count(memory.control().lost, 7);
    const Finding finding = place.finding("queue-lost");
    CHECK_THAT(finding.text, contains("lost 7 records in partitions 0"));
    CHECK_FALSE(finding.mends);
    CHECK(run_in_shell(finding.command) == 0);
}

TEST_CASE("Doctor: dead letters that find no room keep records waiting; without such records it is no finding") {
    QueueOptions options;
    const Place place(options);
    TestWorker worker(place.broker, "t", "q");
    const auto memory = worker.work(0);
    memory.count(memory.control().letters_refused, 2);
    CHECK_FALSE(place.has("letters-refused"));
    const auto locks = worker.acquire(1);
    REQUIRE(locks.size() == 1);
    REQUIRE(memory.change(0, locks[0].second, work_table::condemned_word(5, platform::shared_monotonic_ms() + 1000, work_table::LetterReason::limit, memory.lap(0))));
    const Finding finding = place.finding("letters-refused");
    CHECK(finding.severity == Severity::error);
    CHECK_THAT(finding.text, contains("has 1 record waiting for room in the dead-letter topic 't.dlq', which is full or refuses"));
    CHECK(run_in_shell(finding.command) == 0);
    Broker(place.broker.directory()).delete_topic("t.dlq");
    CHECK_FALSE(place.has("letters-refused"));
    CHECK_THAT(place.finding("letters-gone").text, contains("waiting for one: 1 record."));
}

TEST_CASE("Doctor: a queue whose dead-letter topic is another one by now is linked to that one by the command") {
    const Place place(QueueOptions{});
    CHECK_FALSE(place.has("letters-gone"));
    Broker(place.broker.directory()).delete_topic("t.dlq");
    CHECK(place.has("letters-gone"));
    Broker(place.broker.directory()).create_topic("t.dlq");
    const Finding finding = place.finding("letters-gone");
    CHECK(finding.severity == Severity::error);
    CHECK_THAT(finding.text, contains("sends its dead letters to topic 't.dlq', which was deleted, or is another one by now"));
    CHECK(finding.command == place.ringmain("dlq relink t --group q"));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK_FALSE(place.has("letters-gone"));
}

TEST_CASE("Doctor: a group with retries whose letters find no room, or no topic, is named as a queue is") {
    Situation place;
    place.broker.create_topic("t", Situation::small());
    Producer producer(place.broker, "t");
    for (int i = 0; i < 2; ++i)
        REQUIRE(producer.publish({.value = as_bytes("x")}).status == Status::ok);
    TopicOptions full = Situation::small(WhenFull::block);
    full.records = 16;
    full.cell_bytes = 256;
    full.payload_bytes = 1 << 16;
    place.broker.create_topic("full", full);
    RetryOptions once;
    once.attempts = 1;
    once.dead_letter_topic = "full";
    {
        RetryRunner runner(place.broker, "t", {.name = "g"}, once);
        CHECK_FALSE(place.has("letters-refused"));
        Producer letters(place.broker, "full");
        while (letters.try_publish({.value = as_bytes("x")}).status == Status::ok) {
        }
        const auto is_stopped = [&] {
            return !runner.run_once([](const ConsumerRecord&) { return Handled::failure(); }, std::chrono::milliseconds(20)).stopped.empty();
        };
        for (int i = 0; i < 100 && !is_stopped(); ++i) {
        }
    }
    const Finding refused = place.finding("letters-refused");
    CHECK(refused.object == "group 'g' of topic 't'");
    CHECK_THAT(refused.text, contains("has 1 record waiting for room in the dead-letter topic 'full'"));
    place.broker.delete_topic("full");
    CHECK_FALSE(place.has("letters-refused"));
    const Finding gone = place.finding("letters-gone");
    CHECK_THAT(gone.text, contains("sends its dead letters to topic 'full', which was deleted") && contains("waiting for one: 1 record"));
    CHECK(gone.command == place.ringmain("dlq relink t --group g"));
    CHECK(run_in_shell(gone.command) == 0);
    CHECK_FALSE(place.has("letters-gone"));
}

TEST_CASE("Doctor: a window that is full keeps records from everybody, and who has its first one is named") {
    QueueOptions options = QueuePlace::plain();
    options.window = 4;
    const Place place(options);
    TestWorker worker(place.broker, "t", "q");
    REQUIRE(worker.acquire(10).size() == 4);
    const Finding finding = place.finding("window-full");
    CHECK(finding.object == "queue 'q' of topic 't', partition 0");
    CHECK_THAT(finding.text, contains("a window of 4 offsets, which is full: 6 records wait behind offset 0, which is with worker 0"));
    CHECK(run_in_shell(finding.command) == 0);
}

TEST_CASE("Doctor: a queue whose files are damaged is named, and can be deleted") {
    const Place place;
    const auto directory = open_queue(place.broker.impl()->open_topic("t"), "q", platform::Access::read_only).directory();
    std::filesystem::resize_file(directory / "workers", 100);
    const Finding finding = place.finding("damaged");
    CHECK(finding.object == "queue 'q' of topic 't'");
    CHECK(finding.command == place.ringmain("queue delete q -t t --force"));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK_FALSE(place.has("damaged"));
}

TEST_CASE("Doctor: what a killed worker held returns with one pass of a keeper, which says so") {
    const Place place;
    REQUIRE(Child([&] {
                TestWorker worker(Broker(place.broker.directory()), "t", "q");
                ::_exit(worker.acquire(4).size() == 4 ? 0 : 1);
                return 0;
            }).wait() == 0);
    const Finding finding = place.finding("no-keeper");
    CHECK_THAT(finding.text, contains("1 place of dead workers of queues"));
    CHECK(run_in_shell(finding.command) == 1);  // the queue still has no workers
    CHECK_FALSE(place.has("no-keeper"));
    CHECK(QueueAdmin(place.broker).describe("t", "q").partitions[0].acquired == 0);
}

}  // namespace ringmain::test
