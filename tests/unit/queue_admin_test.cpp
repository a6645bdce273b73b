// Queues by an administrator: creating, finding again, listing, describing and deleting them.
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "ringmain/consumer.hpp"
#include "ringmain/group_admin.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/queue_place.hpp"
#include "work_settings.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::contains;
using test::QueuePlace;
using test::TestWorker;
using test::thrown_by;

namespace {

template <class Call>
test::Thrown refused(const Call& call) {
    return thrown_by([&] {
        call();
        return 0;
    });
}

}  // namespace

TEST_CASE("A queue is created once, with its dead-letter topic, and found again with its options") {
    QueuePlace place;
    place.admin->create("t", "q", {.lock_time = 5s});
    CHECK(place.broker.list_topics() == std::vector<std::string>{"t", "t.dlq"});
    const auto again = refused([&] { place.admin->create("t", "q", {.lock_time = 5s}); });
    CHECK(again.code == ErrorCode::already_exists);
    CHECK_THAT(again.text, contains("queue 'q' of topic 't' exists already"));
    CHECK_FALSE(place.admin->ensure("t", "q", {.lock_time = 5s}));
    CHECK_FALSE(place.admin->ensure("t", "q", {.lock_time = 5s, .dead_letter_topic = "t.dlq", .window = 64}));
    const auto other = refused([&] { (void)place.admin->ensure("t", "q"); });
    CHECK(other.code == ErrorCode::mismatch);
    CHECK_THAT(other.text, contains("exists with lock_time 5000 ms, not 30000 ms"));
    CHECK(place.admin->ensure("t", "r", QueuePlace::plain()));
    const QueueDescription queue = place.admin->describe("t", "q");
    CHECK((queue.topic == "t" && queue.name == "q" && queue.dead_letter_topic == "t.dlq" && queue.options.lock_time == 5s));
    CHECK(queue.partitions.size() == 2);
    CHECK(place.admin->describe("t", "r").dead_letter_topic.empty());
    const auto id = place.broker.describe_topic("t.dlq").id;
    CHECK(letters_id(open_queue(place.broker.impl()->open_topic("t"), "q", platform::Access::read_only).settings()) == id);
}

TEST_CASE("What is refused leaves no queue, no file and no dead-letter topic") {
    QueuePlace place;
    CHECK(refused([&] { place.admin->create("t", "q", {.lock_time = 1ms}); }).code == ErrorCode::invalid_argument);
    CHECK(refused([&] { place.admin->create("t", "", {}); }).code == ErrorCode::invalid_argument);
    CHECK(refused([&] { place.admin->create("u", "q", {}); }).code == ErrorCode::not_found);
    CHECK(place.broker.list_topics() == std::vector<std::string>{"t"});
    for (const char* name : {"a", "b", "c"}) place.admin->create("t", name, QueuePlace::plain());
    const auto limit = refused([&] { place.admin->create("t", "d", QueuePlace::plain()); });
    CHECK(limit.code == ErrorCode::limit);
    CHECK_THAT(limit.text, contains("the topic's 3 groups are all taken"));
    CHECK(place.queue_directories().size() == 3);
}

TEST_CASE("A name is either a queue's or a stream group's") {
    QueuePlace place;
    place.topic->create("stream");
    place.admin->create("t", "queue", QueuePlace::plain());
    for (const auto& call : {std::function<void()>([&] { place.admin->create("t", "stream"); }), std::function<void()>([&] { (void)place.admin->ensure("t", "stream"); }),
                             std::function<void()>([&] { (void)place.admin->describe("t", "stream"); }), std::function<void()>([&] { place.admin->remove("t", "stream", true); }),
                             std::function<void()>([&] { (void)place.admin->plan("t", "stream", ResetTarget::latest()); })}) {
        const auto thrown = refused(call);
        CHECK(thrown.code == ErrorCode::mismatch);
        CHECK_THAT(thrown.text, contains("group 'stream' of topic 't' is no work queue"));
    }
    GroupAdmin groups(place.broker);
    const ResetPlan plan = place.admin->plan("t", "queue", ResetTarget::latest());
    for (const auto& call : {std::function<void()>([&] { (void)groups.plan("t", "queue", ResetTarget::latest()); }), std::function<void()>([&] { groups.execute(plan, true); }),
                             std::function<void()>([&] { groups.remove("t", "queue", true); })}) {
        const auto thrown = refused(call);
        CHECK(thrown.code == ErrorCode::mismatch);
        CHECK_THAT(thrown.text, contains("is a work queue; see 'ringmain queue "));
    }
    const auto member = refused([&] {
        GroupOptions options;
        options.name = "queue";
        Consumer consumer(place.broker, options);
        consumer.subscribe("t");
    });
    CHECK(member.code == ErrorCode::mismatch);
}

TEST_CASE("Lists of groups show queues as such, and lists of queues show nothing else") {
    QueuePlace place;
    place.topic->create("stream");
    place.admin->create("t", "queue", QueuePlace::plain());
    TestWorker worker(place.broker, "t", "queue");
    GroupAdmin groups(place.broker);
    const auto all = groups.list("t");
    REQUIRE(all.size() == 2);
    CHECK((all[0].name == "queue" && all[0].state == GroupState::queue && all[0].members == 0));
    CHECK((all[1].name == "stream" && all[1].state == GroupState::empty));
    const GroupDescription description = groups.describe("t", "queue");
    CHECK(description.state == GroupState::queue);
    CHECK_FALSE(description.partitions[0].owner);
    CHECK(to_string(GroupState::queue) == "queue");
    const auto queues = place.admin->list();
    REQUIRE(queues.size() == 1);
    CHECK((queues[0].topic == "t" && queues[0].name == "queue" && queues[0].workers == 1));
    CHECK(groups.lag("t", "queue").size() == 2);
}

TEST_CASE("A description counts records by state and worker, and names the oldest that is not finished") {
    QueuePlace place;
    QueueOptions options = QueuePlace::plain();
    options.backoff = {.first = 10s, .max = 10s, .factor = 1, .jitter = 0};
    place.admin->create("t", "q", options);
    place.topic->publish(0, 20);
    place.topic->publish(1, 3);
    TestWorker one(place.broker, "t", "q");
    TestWorker two(place.broker, "t", "q");
    const auto first = one.acquire(5);   // 0 to 4
    const auto second = two.acquire(3);  // 5 to 7
    REQUIRE((first.size() == 5 && second.size() == 3));
    CHECK(one.ack(first[0]) == work_table::Answer::done);  // passed at once
    CHECK(one.ack(first[3]) == work_table::Answer::done);  // finished above the start
    CHECK(one.nack(first[1]) == work_table::Answer::done);  // waits for 10 s
    const QueueDescription queue = place.admin->describe("t", "q");
    const QueuePartitionDescription& p = queue.partitions[0];
    CHECK(p.lag.position == 1);
    CHECK((p.lag.records == 19 && p.lag.lost == 0));
    CHECK((p.available == 12 && p.delayed == 1 && p.acquired == 5 && p.finished == 1 && p.ending == 0 && p.lock_over == 0 && p.beyond_window == 0));
    CHECK(p.available + p.delayed + p.acquired + p.finished == p.lag.records);
    CHECK((p.oldest_offset == 1 && !p.oldest_holder && p.oldest_deliveries == 1));
    REQUIRE(p.oldest_due);
    CHECK((*p.oldest_due > 1s && *p.oldest_due <= 10s));
    CHECK((queue.partitions[1].available == 3 && !queue.partitions[1].oldest_offset));
    REQUIRE(queue.workers.size() == 2);
    CHECK((queue.workers[0].in_flight == 2 && queue.workers[1].in_flight == 3));
    REQUIRE(queue.workers[0].client);
    CHECK(queue.workers[0].client->pid == ::getpid());
    const auto list = place.admin->list("t");
    REQUIRE(list.size() == 1);
    CHECK((list[0].workers == 2 && list[0].records == 22 && list[0].acquired == 5 && list[0].delayed == 1));
}

TEST_CASE("A lock that ran out is shown as such, with who had it") {
    QueuePlace place;
    QueueOptions options = QueuePlace::plain();
    options.lock_time = 10ms;
    place.admin->create("t", "q", options);
    place.topic->publish(0, 2);
    TestWorker worker(place.broker, "t", "q");
    REQUIRE(worker.acquire(1).size() == 1);
    QueueDescription queue;
    for (int i = 0; i < 2000 && queue.partitions.empty(); ++i) {
        std::this_thread::sleep_for(1ms);
        if (QueueDescription now = place.admin->describe("t", "q"); now.partitions[0].lock_over == 1) queue = std::move(now);
    }
    REQUIRE(queue.partitions.size() == 2);
    CHECK((queue.partitions[0].acquired == 1 && queue.partitions[0].available == 1));
    CHECK(queue.partitions[0].oldest_holder == worker.slot());
    CHECK(queue.partitions[0].oldest_due <= 0ms);
}

TEST_CASE("A small window that is full keeps the rest, which is shown; what retention took is lost") {
    QueuePlace place;
    QueueOptions options = QueuePlace::plain();
    options.window = 4;
    place.admin->create("t", "q", options);
    place.topic->publish(0, 10);
    TestWorker worker(place.broker, "t", "q");
    const auto locks = worker.acquire(10);
    REQUIRE(locks.size() == 4);
    QueuePartitionDescription p = place.admin->describe("t", "q").partitions[0];
    CHECK((p.acquired == 4 && p.available == 0 && p.beyond_window == 6));
    CHECK(worker.ack(locks[3]) == work_table::Answer::done);
    CHECK(partition_log::raise(place.topic->log(0).control->log_start, 8, std::memory_order_release));
    p = place.admin->describe("t", "q").partitions[0];
    CHECK((p.acquired == 0 && p.finished == 1 && p.beyond_window == 2));
    CHECK(p.lag.lost == 7);  // 0 to 2 and 4 to 7
    CHECK(place.admin->describe("t", "q").workers[0].in_flight == 3);
}

TEST_CASE("A queue begins where it is told, and one that gates holds producers from its beginning on") {
    QueuePlace place(WhenFull::block);
    place.topic->publish(0, 5);
    QueueOptions options = QueuePlace::plain();
    options.start = Position::latest();
    place.admin->create("t", "late", options);
    CHECK(place.admin->describe("t", "late").partitions[0].lag.position == 5);
    CHECK_FALSE(place.admin->describe("t", "late").partitions[0].gates);
    options.start = Position::at(3);
    options.gating = true;
    place.admin->create("t", "q", options);
    const QueuePartitionDescription p = place.admin->describe("t", "q").partitions[0];
    CHECK((p.lag.position == 3 && p.gates && p.lag.records == 2));
    Producer producer(place.broker, "t");
    ProducerRecord record;
    record.partition = 0;
    record.value = as_bytes("x");
    Status status = Status::ok;
    for (int i = 0; i < 100 && status == Status::ok; ++i) status = producer.try_publish(record).status;
    CHECK(status == Status::would_block);
    const auto gate = producer.blocking_gate(0);
    REQUIRE(gate);
    CHECK((gate->name == "q" && gate->group));
    place.admin->remove("t", "q");
    CHECK(producer.try_publish(record).status == Status::ok);
}

TEST_CASE("A queue with workers is deleted only by force; one whose only worker was killed, at once") {
    QueuePlace place;
    place.admin->create("t", "q", QueuePlace::plain());
    {
        TestWorker worker(place.broker, "t", "q");
        const auto busy = refused([&] { place.admin->remove("t", "q"); });
        CHECK(busy.code == ErrorCode::busy);
        CHECK_THAT(busy.text, contains("worker 0 (client") && contains("pid " + std::to_string(::getpid())) && contains("to delete it all the same, force it"));
        CHECK(place.admin->list("t").size() == 1);
        worker.leave();
    }
    CHECK(test::Child([&] {
              TestWorker worker(Broker(place.scratch.broker()), "t", "q");
              ::_exit(0);
              return 0;
          }).wait() == 0);
    CHECK(place.admin->describe("t", "q").workers.size() == 1);
    place.admin->remove("t", "q");
    CHECK(place.admin->list("t").empty());
    CHECK(place.queue_directories().empty());
    CHECK(refused([&] { place.admin->remove("t", "q"); }).code == ErrorCode::not_found);
    CHECK(refused([&] { (void)place.admin->describe("t", "q"); }).code == ErrorCode::not_found);
}

TEST_CASE("A worker of a queue that was deleted, or deleted and created again, answers for no record of the new one") {
    QueuePlace place;
    place.admin->create("t", "q", QueuePlace::plain());
    place.topic->publish(0, 3);
    TestWorker worker(place.broker, "t", "q");
    const auto locks = worker.acquire(2);
    place.admin->remove("t", "q", true);
    CHECK(worker.ack(locks[0]) == work_table::Answer::fenced);
    place.admin->create("t", "q", QueuePlace::plain());
    CHECK(worker.ack(locks[1]) == work_table::Answer::fenced);
    CHECK(worker.acquire(1).empty());
    CHECK(worker.files().gone());
    const QueuePartitionDescription p = place.admin->describe("t", "q").partitions[0];
    CHECK((p.lag.position == 0 && p.finished == 0 && p.available == 3));
}

TEST_CASE("Several processes that create, find and delete one queue agree, and leave one whole queue or none") {
    QueuePlace place;
    place.topic->publish(0, 4);
    std::vector<std::unique_ptr<test::Child>> crowd;
    for (int process = 0; process < 3; ++process) {
        crowd.push_back(std::make_unique<test::Child>([&place, process] {
            const Broker broker(place.scratch.broker());
            QueueAdmin admin(broker);
            for (int round = 0; round < 25; ++round) {
                try {
                    (void)admin.ensure("t", "q", QueuePlace::plain());
                    TestWorker worker(broker, "t", "q");
                    if (worker.acquire(4).size() > 4) return 2;
                    worker.leave();
                    if (process == 0) admin.remove("t", "q", true);
                } catch (const Error& error) {
                    // another one deleted it in between
                    if (error.code() != ErrorCode::not_found && error.code() != ErrorCode::mismatch) return 3;
                }
            }
            return 0;
        }));
    }
    for (const auto& child : crowd) CHECK(child->wait() == 0);
    (void)place.admin->ensure("t", "q", QueuePlace::plain());
    CHECK(place.queue_directories().size() == 1);
    CHECK(place.broker.verify("t").damage.empty());
    CHECK(place.admin->list("t").size() == 1);
}
