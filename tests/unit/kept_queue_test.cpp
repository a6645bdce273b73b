// What a keeper does for queues: records of dead workers, starts that nobody moved, files that nobody will use.
#include <fstream>
#include <thread>

#include "ringmain/keeper.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/queue_place.hpp"
#include "support/told.hpp"
#include "topic_paths.hpp"
#include "work_creation.hpp"
#include "work_leftovers.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::contains;
using test::QueuePlace;
using test::TestWorker;

namespace {

struct Place : QueuePlace {
    Place() {
        QueueOptions options = plain();
        options.backoff = {.first = 0ms, .max = 0ms};
        admin->create("t", "q", options);
        topic->publish(0, 10);
        topic->publish(1, 4);
        keeper.emplace(broker, told.listener());
    }
    KeeperReport step() { return keeper->do_work(++now * 1s); }
    /// A worker that takes records of both partitions, and is killed.
    void kill_worker(std::size_t first, std::size_t second) const {
        REQUIRE(test::Child([&] {
                    TestWorker worker(Broker(scratch.broker()), "t", "q");
                    if (worker.acquire(first, 0).size() != first || worker.acquire(second, 1).size() != second) ::_exit(1);
                    ::_exit(0);
                    return 0;
                }).wait() == 0);
    }
    test::Told told;
    std::optional<Keeper> keeper;
    int now = 0;
};

}  // namespace

TEST_CASE("A killed worker's records return at once, counted as delivered, and its place is free") {
    Place place;
    (void)place.step();
    place.kill_worker(3, 2);
    CHECK(place.admin->describe("t", "q").partitions[0].acquired == 3);
    KeeperReport sum;
    for (int i = 0; i < 3; ++i) {
        const KeeperReport report = place.step();
        sum.reaped_workers += report.reaped_workers;
        sum.returned_records += report.returned_records;
    }
    CHECK((sum.reaped_workers == 1 && sum.returned_records == 5));
    const KeeperEvent event = place.told.only(KeeperEventKind::worker_reaped);
    CHECK((event.topic == "t" && event.count == 5));
    CHECK_THAT(event.subject, contains("worker 0 of queue 'q' (client") && contains("dead"));
    const QueueDescription queue = place.admin->describe("t", "q");
    CHECK(queue.workers.empty());
    CHECK((queue.partitions[0].acquired == 0 && queue.partitions[0].available == 10 && queue.partitions[0].returned == 3));
    CHECK(queue.partitions[1].returned == 2);
    TestWorker next(place.broker, "t", "q");
    CHECK(next.slot() == 0);
    CHECK(next.acquire(10).size() == 10);
    CHECK(place.admin->describe("t", "q").partitions[0].redelivered == 3);
}

TEST_CASE("A worker that lives keeps its records, however long a keeper looks") {
    Place place;
    TestWorker worker(place.broker, "t", "q");
    const auto locks = worker.acquire(4);
    for (int i = 0; i < 20; ++i) CHECK(place.step().reaped_workers == 0);
    CHECK(place.told.count(KeeperEventKind::worker_reaped) == 0);
    CHECK(worker.ack(locks[0]) == work_table::Answer::done);
    CHECK(place.admin->describe("t", "q").partitions[0].acquired == 3);
}

TEST_CASE("A keeper that comes later finds the dead workers of the time before") {
    Place place;
    place.keeper.reset();
    place.kill_worker(2, 1);
    place.keeper.emplace(place.broker, place.told.listener());
    (void)place.step();
    (void)place.step();
    CHECK(place.told.only(KeeperEventKind::worker_reaped).count == 3);
}

TEST_CASE("A start that a killed worker did not move is moved, also over more than one call passes") {
    QueuePlace place;
    TopicOptions large = QueuePlace::small();
    large.records = 4096;
    place.broker.create_topic("large", large);
    place.admin->create("large", "q", QueuePlace::plain());
    const test::GroupTopic topic(place.broker, "large");
    topic.publish(0, 1000);
    TestWorker worker(place.broker, "large", "q");
    const auto locks = worker.acquire(1000);
    REQUIRE(locks.size() == 1000);
    const auto memory = worker.work(0);
    // what acks leave whose holder dies before it moves the start
    for (const auto& [offset, word] : locks) REQUIRE(memory.change(offset, word, work_table::done_word(offset, work_table::DoneReason::acked)));
    CHECK(memory.start() == 0);
    Keeper keeper(place.broker);
    for (int second = 1; second < 4; ++second) (void)keeper.do_work(std::chrono::seconds(second));
    CHECK(memory.start() == 1000);
}

TEST_CASE("A keeper goes on in the words of a queue that was reset") {
    Place place;
    (void)place.step();
    place.admin->execute(place.admin->plan("t", "q", ResetTarget::at(2)), true);
    place.kill_worker(3, 1);
    for (int i = 0; i < 3; ++i) (void)place.step();
    CHECK(place.told.only(KeeperEventKind::worker_reaped).count == 4);
    CHECK(place.admin->describe("t", "q").partitions[0].available == 8);
}

TEST_CASE("Records that retention took are told once, with how many") {
    Place place;
    for (int i = 0; i < 3; ++i) (void)place.step();  // takes all of it up
    TestWorker worker(place.broker, "t", "q");
    const auto locks = worker.acquire(2);
    (void)partition_log::raise(place.topic->log(0).control->log_start, 2, std::memory_order_release);
    (void)worker.acquire(0, 0, 200);
    for (int i = 0; i < 300 && place.admin->describe("t", "q").partitions[0].lost < 2; ++i) {
        std::this_thread::sleep_for(1ms);
        (void)worker.acquire(1, 0, 200);
    }
    for (int i = 0; i < 5; ++i) (void)place.step();
    const KeeperEvent event = place.told.only(KeeperEventKind::queue_lost);
    CHECK((event.topic == "t" && event.partition == 0 && event.subject == "q" && event.count == 2));
}

TEST_CASE("Refused letters are told at most once a minute, with how many there were") {
    Place place;
    for (int i = 0; i < 3; ++i) (void)place.step();  // takes all of it up
    TestWorker worker(place.broker, "t", "q");
    const auto memory = worker.work(0);
    memory.count(memory.control().letters_refused, 3);
    for (int i = 0; i < 5; ++i) (void)place.step();
    CHECK(place.told.only(KeeperEventKind::letters_refused).count == 3);
    memory.count(memory.control().letters_refused, 2);
    for (int i = 0; i < 70; ++i) (void)place.step();
    const auto told = place.told.of(KeeperEventKind::letters_refused);
    REQUIRE(told.size() == 2);
    CHECK(told[1].count == 2);
}

TEST_CASE("What nobody will use of queues is swept: of groups that are gone, of dead makers, of generations that are over") {
    Place place;
    (void)place.step();
    const auto good = place.queue_directories();
    const auto queues = queues_path(place.directory());
    const auto work = place.work_of("q");
    const auto generation = open_queue(place.broker.impl()->open_topic("t"), "q", platform::Access::read_only).generation_now(0);
    const auto make = [](const std::filesystem::path& path) {
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << "x";
    };
    std::string dead;
    REQUIRE(test::Child([&] {
                (void)Broker(place.scratch.broker()).impl()->client();
                ::_exit(0);
                return 0;
            }).wait() == 0);
    for (std::uint32_t slot = 0; slot < 8 && dead.empty(); ++slot) {
        const auto last = place.broker.impl()->clients().last_of(slot);
        if (last && place.broker.impl()->clients().proven_dead(*last)) dead = std::to_string(last->slot) + "-" + std::to_string(last->incarnation) + "-1";
    }
    REQUIRE_FALSE(dead.empty());
    make(queues / ("." + dead) / "0.1");
    make(queues / "0-1" / "workers");
    make(queues / "0-999999" / "workers");
    make(queues / "77-1" / "workers");
    make(work_words_path(work, 0, generation + 7));
    make(work_words_path(work, 0, generation - 1));
    make(work_words_path(work, 0, generation + 1));  // the next reset's
    make(queues / ("." + place.broker.impl()->work_name()) / "0.1");  // of one who lives
    make(queues / "notes" / "readme");                                // somebody else's
    CHECK(count_work_leftovers(place.topic->files(), place.broker.impl()->clients()) == 6);
    CHECK(sweep_work_leftovers(place.topic->files(), place.broker.impl()->clients()) == 6);
    CHECK(count_work_leftovers(place.topic->files(), place.broker.impl()->clients()) == 0);
    CHECK(place.queue_directories().size() == good.size() + 2);
    CHECK(QueuePlace::names_in(work).size() == 4);
    make(queues / "0-1" / "workers");
    place.topic->create("stream");  // something changes, so that a keeper looks
    KeeperReport sum;
    for (int i = 0; i < 3; ++i) sum.swept_directories += place.step().swept_directories;
    CHECK(sum.swept_directories == 1);
}

TEST_CASE("The claim of a creator that was killed before its group came to be is freed with its files") {
    Place place;
    REQUIRE(test::Child([&] {
                const Broker broker(place.scratch.broker());
                const auto topic = broker.impl()->open_topic("t");
                const auto& groups = topic->groups();
                group_table::SetWord set = groups.set(1);
                if (!groups.change_set(1, set, set.then(broker.impl()->client().word(), group_table::GroupState::claimed))) ::_exit(1);
                NewWork work{{1, groups.set(1).epoch + 1}, open_queue(topic, "q", platform::Access::read_only).settings(), 64, {1, 1}};
                if (make_work(*topic, broker.impl()->work_name(), work) != WorkMade::made) ::_exit(2);
                ::_exit(0);
                return 0;
            }).wait() == 0);
    CHECK(place.queue_directories().size() == 2);
    for (int i = 0; i < 3; ++i) (void)place.step();
    CHECK(place.queue_directories().size() == 1);
    CHECK(place.topic->groups().set(1).state == group_table::GroupState::free);
}
