// The keeper through its public class: who may run, and what one gives back after deaths.
#include "ringmain/keeper.hpp"

#include <chrono>
#include <csignal>
#include <stop_token>
#include <thread>

#include "broker_impl.hpp"
#include "partition_log/tickets.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/group_admin.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"
#include "support/syscall_tracer.hpp"
#include "topic_paths.hpp"
#include "topic_removal.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::Child;
using test::ScratchDirectory;
using test::thrown_by;

namespace {

TopicOptions small(WhenFull when_full) {
    TopicOptions options;
    options.records = 64;
    options.producer_slots = 2;
    options.cell_bytes = 64;
    options.payload_bytes = 1 << 16;
    options.when_full = when_full;
    return options;
}

/// Steps a keeper through enough time for every patience in it.
KeeperReport work(Keeper& keeper) {
    KeeperReport total;
    for (int step = 1; step <= 20; ++step) {
        const KeeperReport report = keeper.do_work(std::chrono::nanoseconds(300ms) * step);
        total.reaped_producers += report.reaped_producers;
        total.reaped_gates += report.reaped_gates;
        total.sealed_extents += report.sealed_extents;
        total.closed_tickets += report.closed_tickets;
        total.released_cells += report.released_cells;
        total.swept_directories += report.swept_directories;
    }
    return total;
}

/// A child that publishes one large record, holds a gate, says so, and waits for its end.
int attach_and_wait(const std::filesystem::path& directory) {
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

TEST_CASE("One keeper runs for a directory; a second is refused with the pid of the first") {
    const ScratchDirectory scratch;
    const Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    {
        const Keeper keeper(broker);
        const auto refused = thrown_by([&] { Keeper second(broker); });
        CHECK(refused.code == ErrorCode::busy);
        CHECK_THAT(refused.text, test::contains("pid " + std::to_string(::getpid())));
    }
    const Keeper again(broker);
}

TEST_CASE("A keeper leaves a stopped producer alone and gives back what it held once it is dead") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t", small(WhenFull::block));
    Child child([&] { return attach_and_wait(scratch.broker()); });
    wait_until_stopped(child);
    Keeper keeper(broker);
    CHECK(work(keeper).idle());
    CHECK(broker.describe_topic("t").partitions[0].producers.size() == 1);
    child.kill();
    const KeeperReport report = work(keeper);
    CHECK(report.reaped_producers == 1);
    CHECK(report.reaped_gates == 1);
    CHECK(report.sealed_extents == 1);
    const PartitionDescription partition = broker.describe_topic("t").partitions[0];
    CHECK(partition.producers.empty());
    CHECK(partition.gates.empty());
    CHECK(partition.extents_owned == 0);
    CHECK(work(keeper).idle());
}

TEST_CASE("A producer held up by the gate of a dead reader goes on without a keeper") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t", small(WhenFull::block));
    Child child([&] { return attach_and_wait(scratch.broker()); });
    wait_until_stopped(child);
    Producer producer(broker, "t");
    ProducerRecord record;
    record.value = as_bytes("x");
    while (producer.try_publish(record).status == Status::ok) {
    }
    child.kill();
    CHECK(producer.publish(record).status == Status::ok);
}

TEST_CASE("Steps of a keeper that has nothing to do look at no file of the topics it has open") {
    if (!test::can_trace())
        SKIP("may not trace its children");
    const auto calls_of = [](int topics, int steps) {
        const ScratchDirectory scratch;
        Broker broker(scratch.broker(), Broker::Mode::open_or_create);
        for (int i = 0; i < topics; ++i)
            broker.create_topic("t" + std::to_string(i), small(WhenFull::overwrite));
        return test::system_calls_of([&] {
                   Keeper keeper{Broker(scratch.broker())};
                   for (int step = 1; step <= steps; ++step)
                       (void)keeper.do_work(std::chrono::nanoseconds(300ms) * step);
               })
            .size();
    };
    // five topics more, eight steps more: a look at each would be forty calls; the allocator's own may differ by a few
    CHECK(calls_of(6, 12) - calls_of(6, 4) <= calls_of(1, 12) - calls_of(1, 4) + 16);
}

TEST_CASE("A keeper that has a topic open finds out when its deleter was killed halfway") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t", small(WhenFull::overwrite));
    Keeper keeper(broker);
    (void)work(keeper);
    REQUIRE(mark_dead(*broker.impl()->open_topic("t"), broker.impl()->client().word()));
    CHECK(work(keeper).swept_directories == 1);
    CHECK_FALSE(std::filesystem::exists(topics_path(scratch.broker()) / "t"));
}

TEST_CASE("A keeper closes the ticket of a producer that stops long after the partition came to rest") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t", small(WhenFull::overwrite));
    Producer producer(broker, "t");
    REQUIRE(producer.publish({}).status == Status::ok);
    Keeper keeper(broker);
    (void)work(keeper);
    const auto files = broker.impl()->open_topic("t");
    const platform::Mapping mapping = files->map_partition(0, platform::Access::read_write);
    const partition_log::LogMemory<platform::HostMemory> log(mapping.data(), geometry_of(mapping), files->readers(0));
    partition_log::Tickets<platform::HostMemory> tickets(log, 0);
    (void)tickets.take();
    constexpr auto kLater = 6000ms;  // as far as work() came
    KeeperReport report = keeper.do_work(kLater + 1ms);
    report.closed_tickets += keeper.do_work(kLater + 3ms).closed_tickets;
    CHECK(report.closed_tickets == 1);
    tickets.idle();
}

TEST_CASE("A keeper's thread stops when it is told to, and takes up topics that come and go") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    Keeper keeper(broker);
    std::jthread worker([&](std::stop_token stop) { keeper.run(stop, 1ms); });
    for (int i = 0; i < 3; ++i) {
        broker.create_topic("t", small(WhenFull::overwrite));
        std::this_thread::sleep_for(5ms);
        broker.delete_topic("t");
    }
    worker.request_stop();
    worker.join();
    CHECK(broker.list_topics().empty());
}

TEST_CASE("A static member that died keeps its share for its session time-out, and then its slot comes back") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t", small(WhenFull::overwrite));
    Child child([&] {
        GroupOptions group;
        group.name = "readers";
        group.static_name = "first";
        group.session_timeout = 1s;
        Consumer member(Broker(scratch.broker()), group);
        member.subscribe("t");
        (void)member.poll(1, 0ms);
        ::raise(SIGSTOP);
        return 0;
    });
    wait_until_stopped(child);
    Keeper keeper(broker);
    std::chrono::nanoseconds now{0};
    const auto keep = [&](std::chrono::milliseconds time) {
        KeeperReport total;
        for (const auto until = now + time; now < until;) {
            const KeeperReport report = keeper.do_work(now += 50ms);
            total.evicted_members += report.evicted_members;
            total.freed_member_slots += report.freed_member_slots;
        }
        return total;
    };
    (void)keep(200ms);
    child.kill();
    CHECK(keep(600ms).evicted_members == 0);  // it may come back under its name
    CHECK(GroupAdmin(broker).describe("t", "readers").members.size() == 1);
    const KeeperReport after = keep(2s);
    CHECK(after.evicted_members == 1);
    CHECK(after.freed_member_slots == 1);
    CHECK(GroupAdmin(broker).describe("t", "readers").members.empty());
    CHECK(keep(5s).idle());
}

TEST_CASE("A member of a group that is younger than the keeper's last look at the groups goes with its process") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t", small(WhenFull::overwrite));
    Keeper keeper(broker);
    const auto step_at = [&](std::chrono::milliseconds now) { return keeper.do_work(now).evicted_members; };
    (void)step_at(0ms);
    Child child([&] {
        const Broker own(scratch.broker());
        const Producer client(own, "t");
        ::raise(SIGSTOP);
        Consumer member(own, GroupOptions{.name = "readers"});
        member.subscribe("t");
        (void)member.poll(1, 0ms);
        ::raise(SIGSTOP);
        return 0;
    });
    wait_until_stopped(child);
    (void)step_at(300ms);  // sees the client: the next look for the dead is due at 800
    (void)step_at(510ms);  // looks for groups: without a reason the next time at 1010
    ::kill(child.pid(), SIGCONT);
    wait_until_stopped(child);
    child.kill();
    CHECK(step_at(810ms) == 1);
}
