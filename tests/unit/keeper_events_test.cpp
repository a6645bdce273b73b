// What a keeper tells: everything it did, with names, and nothing twice.
#include <chrono>
#include <csignal>
#include <set>
#include <stdexcept>
#include <string>

#include "partition_log/tickets.hpp"
#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/group_topic.hpp"
#include "support/scratch_directory.hpp"
#include "support/told.hpp"
#include "topic_paths.hpp"
#include "topic_removal.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::Child;
using test::ScratchDirectory;
using test::Told;

namespace {

TopicOptions small(WhenFull when_full = WhenFull::overwrite) {
    TopicOptions options;
    options.records = 64;
    options.producer_slots = 2;
    options.cell_bytes = 64;
    options.payload_bytes = 1 << 16;
    options.when_full = when_full;
    return options;
}

struct Place {
    ScratchDirectory scratch;
    Broker broker{scratch.broker(), Broker::Mode::open_or_create};
    Told told;
    Keeper keeper{broker, told.listener()};
    std::chrono::milliseconds now{0};

    /// Enough time, in enough steps, for every patience in it.
    void work() {
        for (int step = 0; step < 20; ++step)
            (void)keeper.do_work(now += 300ms);
    }
    /// Works until it has come to rest, and forgets what it told.
    void settle() {
        work();
        told.forget();
    }
};

/// A child that publishes one large record, holds a gate, says so by stopping, and waits for its end.
int attach_and_stop(const std::filesystem::path& directory) {
    Broker broker(directory);
    Producer producer(broker, "t");
    ProducerRecord record;
    const std::string large(1000, 'x');
    record.value = as_bytes(large);
    if (producer.publish(record).status != Status::ok) return 1;
    Consumer consumer(broker);
    consumer.assign("t");
    consumer.hold_gates("child");
    ::raise(SIGSTOP);
    return 0;
}

void wait_until_stopped(const Child& child) {
    int status = 0;
    while (::waitpid(child.pid(), &status, WUNTRACED) == child.pid() && !WIFSTOPPED(status)) {
    }
}

}  // namespace

TEST_CASE("Each kind of event has a name of its own") {
    std::set<std::string_view> names;
    int kinds = 0;
    for (; to_string(static_cast<KeeperEventKind>(kinds)) != "unknown"; ++kinds)
        names.insert(to_string(static_cast<KeeperEventKind>(kinds)));
    CHECK(kinds == static_cast<int>(KeeperEventKind::keeping_resumed) + 1);
    CHECK(names.size() == static_cast<std::size_t>(kinds));
    CHECK(names.contains("producer_reaped"));
}

TEST_CASE("A keeper tells which topics it found and which are gone") {
    Place place;
    place.broker.create_topic("a", small());
    place.broker.create_topic("b", small());
    place.work();
    CHECK(place.told.story() == "topic_found a, topic_found b");
    CHECK(place.told.all()[0].count == 1);
    place.told.forget();
    place.broker.delete_topic("a");
    place.work();
    CHECK(place.told.story() == "topic_gone a");
    place.told.forget();
    place.broker.create_topic("a", small());
    place.broker.delete_topic("b");
    place.broker.create_topic("b", small());
    place.work();
    CHECK(place.told.story() == "topic_gone b, topic_found a, topic_found b");
}

TEST_CASE("A keeper that reaps tells topic, partition, client and numbers") {
    Place place;
    place.broker.create_topic("t", small(WhenFull::block));
    Child child([&] { return attach_and_stop(place.scratch.broker()); });
    wait_until_stopped(child);
    const std::string pid = "pid " + std::to_string(child.pid());
    place.settle();
    child.kill();
    place.work();
    const KeeperEvent producer = place.told.only(KeeperEventKind::producer_reaped);
    CHECK(producer.topic == "t");
    CHECK(producer.partition == 0);
    CHECK_THAT(producer.subject, test::contains(pid) && test::contains("dead"));
    CHECK(producer.count == 1);
    const KeeperEvent gate = place.told.only(KeeperEventKind::gate_reaped);
    CHECK(gate.partition == 0);
    CHECK_THAT(gate.subject, test::contains("'child' of client") && test::contains(pid));
    const KeeperEvent extents = place.told.only(KeeperEventKind::extents_sealed);
    CHECK(extents.count == 1);
    CHECK_THAT(extents.subject, test::contains(pid));
    CHECK(place.told.all().size() == 3);
    place.settle();
    place.work();
    CHECK(place.told.story().empty());
}

TEST_CASE("A keeper that closes tickets and gives back their cells tells how many") {
    Place place;
    place.broker.create_topic("t", small());
    const test::GroupTopic topic(place.broker, "t");
    Producer producer(place.broker, "t");
    producer.attach(0);
    place.settle();
    partition_log::Tickets<platform::HostMemory> tickets(topic.log(0), 0);
    (void)tickets.take(3);
    place.work();
    CHECK(place.told.only(KeeperEventKind::tickets_closed).count == 3);
    CHECK(place.told.all().size() == 1);
    tickets.idle();  // a late holder that does not come back for its cells
    place.work();
    CHECK(place.told.only(KeeperEventKind::cells_released).count == 3);
    CHECK(place.told.only(KeeperEventKind::cells_released).topic == "t");
    CHECK(place.told.all().size() == 2);
}

TEST_CASE("A keeper tells whose members it evicted and which group it let go") {
    Place place;
    place.broker.create_topic("t", small(WhenFull::block));
    const test::GroupTopic topic(place.broker, "t");
    topic.publish(0, 3, "x", 1);  // written in 1970
    const auto group = topic.create("readers", {.gating = true, .lag_ms_max = 1000});
    const test::GroupTopicMember member(topic, group);
    place.settle();
    CHECK(place.told.story().empty());
    place.now += 10min;
    for (int minute = 0; minute < 20; ++minute)
        (void)place.keeper.do_work(place.now += 5s);  // an eighth of the member's time-out at most counts
    const KeeperEvent evicted = place.told.only(KeeperEventKind::member_evicted);
    CHECK(evicted.topic == "t");
    CHECK(evicted.subject == "readers");
    CHECK(evicted.count == 1);
}

TEST_CASE("A keeper tells which group it let go, and where") {
    Place place;
    place.broker.create_topic("t", small(WhenFull::block));
    const test::GroupTopic topic(place.broker, "t");
    topic.publish(0, 3, "x", 1);  // written in 1970
    (void)test::group_at(topic, "readers", {1}, {.gating = true, .lag_ms_max = 1000});
    place.work();
    const KeeperEvent let_go = place.told.only(KeeperEventKind::group_let_go);
    CHECK(let_go.topic == "t");
    CHECK(let_go.partition == 0);
    CHECK(let_go.subject == "readers");
    CHECK(let_go.from == 1);
}

TEST_CASE("A keeper tells how many leftovers it swept") {
    Place place;
    place.broker.create_topic("t", small());
    place.settle();
    REQUIRE(mark_dead(*place.broker.impl()->open_topic("t"), place.broker.impl()->client().word()));
    place.work();
    CHECK(place.told.story() == "topic_gone t, leftovers_swept");
    CHECK(place.told.only(KeeperEventKind::leftovers_swept).count == 1);
}

TEST_CASE("What cannot be opened is told once for each reason, and again as recovered when it can") {
    Place place;
    const std::filesystem::path log = topics_path(place.scratch.broker()) / "t" / "0.log";
    const std::filesystem::path readers = topics_path(place.scratch.broker()) / "t" / "readers";
    place.broker.create_topic("t", small());
    place.broker.create_topic("whole", small());
    std::filesystem::rename(log, log.string() + ".away");
    place.work();
    CHECK(place.told.story() == "partition_unreadable t, topic_found t, topic_found whole");
    CHECK_THAT(place.told.all()[0].subject, test::contains("'" + log.string() + "' is missing"));
    CHECK(place.told.all()[0].partition == 0);
    CHECK(place.keeper.statistics().topics == 2);
    CHECK(place.keeper.statistics().partitions == 1);
    CHECK(place.keeper.statistics().unreadable_partitions == 1);
    place.told.forget();
    std::filesystem::rename(readers, readers.string() + ".away");
    place.work();
    CHECK(place.told.story() == "file_missing t, topic_unreadable t");
    CHECK_THAT(place.told.all()[1].subject, test::contains("'" + readers.string() + "' is missing"));
    CHECK(place.keeper.statistics().unreadable_topics == 1);
    CHECK(place.keeper.statistics().unreadable_partitions == 0);
    place.told.forget();
    std::filesystem::rename(readers.string() + ".away", readers);
    std::filesystem::rename(log.string() + ".away", log);
    place.work();
    CHECK(place.told.story() == "topic_recovered t");
    CHECK(place.keeper.statistics().unreadable_topics == 0);
    CHECK(place.keeper.statistics().partitions == 2);
}

TEST_CASE("What lies among the topics and is none is told as unreadable, and as gone when it goes") {
    Place place;
    const std::filesystem::path stray = topics_path(place.scratch.broker()) / "stray";
    std::filesystem::create_directory(stray);
    place.work();
    CHECK(place.told.story() == "topic_unreadable stray");
    CHECK_THAT(place.told.all()[0].subject, test::contains("'" + stray.string() + "' exists and is not a topic"));
    place.told.forget();
    std::filesystem::remove(stray);
    place.work();
    CHECK(place.told.story() == "topic_gone stray");
}

TEST_CASE("A topic whose files the keeper may not write is told with path, owner and mode") {
    if (::geteuid() != 0)
        SKIP("needs the right to become another user");
    for (const std::string file : {"readers", "groups", "0.log"}) {
        const ScratchDirectory scratch;
        {
            Broker broker(scratch.broker(), Broker::Mode::open_or_create);
            broker.create_topic("t", small());
        }
        for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch.broker()))
            REQUIRE(::chown(entry.path().c_str(), 65534, 65534) == 0);
        const std::filesystem::path refused = topics_path(scratch.broker()) / "t" / file;
        REQUIRE(::chown(refused.c_str(), 0, 0) == 0);
        std::filesystem::permissions(refused, std::filesystem::perms(0644));
        Child child([&] {
            if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0) return 1;
            const Told told;
            Keeper keeper(Broker(scratch.broker()), told.listener());
            for (int step = 1; step <= 40; ++step)
                (void)keeper.do_work(step * 300ms);
            if (told.story() != (file == "0.log" ? "partition_unreadable t, topic_found t" : "topic_unreadable t")) return 2;
            const std::string reason = told.all()[0].subject;
            const bool named = reason.find(refused.string()) != std::string::npos && reason.find("0644") != std::string::npos;
            return named ? 0 : 3;
        });
        INFO(file);
        CHECK(child.wait() == 0);
    }
}

TEST_CASE("A listener that throws does not stop the keeper") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t", small());
    int heard = 0;
    Keeper keeper(broker, [&](const KeeperEvent&) {
        ++heard;
        throw std::runtime_error("a listener's own trouble");
    });
    for (int step = 1; step <= 10; ++step)
        (void)keeper.do_work(step * 300ms);
    CHECK(heard == 1);
    broker.delete_topic("t");
    for (int step = 11; step <= 20; ++step)
        (void)keeper.do_work(step * 300ms);
    CHECK(heard == 2);
    CHECK(keeper.statistics().topics == 0);
}
