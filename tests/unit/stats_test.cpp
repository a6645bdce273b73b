// A look at everything: what it shows of a broker, and that it never shows what cannot be.
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cases/open_ticket.hpp"
#include "platform/clock.hpp"
#include "platform/file_system.hpp"
#include "platform/process.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/stats.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/group_topic.hpp"
#include "support/queue_place.hpp"
#include "support/stopped_child.hpp"
#include "support/syscall_tracer.hpp"
#include "support/test_broker.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::group_at;
using test::GroupTopic;
using test::GroupTopicMember;
using test::MappedLog;
using test::StoppedChild;
using test::thrown_by;

namespace {

TopicOptions small(std::uint32_t partitions = 1, WhenFull when_full = WhenFull::overwrite) {
    TopicOptions options;
    options.partitions = partitions;
    options.records = 64;
    options.producer_slots = 2;
    options.cell_bytes = 64;
    options.payload_bytes = 1 << 16;
    options.groups = 3;
    options.members = 4;
    options.when_full = when_full;
    return options;
}

void publish(const Broker& broker, std::uint64_t count, std::string_view value = "0123456789",
             std::uint32_t partition = 0) {
    Producer producer(broker, "t");
    ProducerRecord record;
    record.value = as_bytes(value);
    record.partition = partition;
    for (std::uint64_t i = 0; i < count; ++i)
        REQUIRE(producer.publish(record).status == Status::ok);
}

const ClientStats* client_with_pid(const BrokerStats& stats, pid_t pid) {
    for (const ClientStats& client : stats.clients) {
        if (client.client.pid == pid)
            return &client;
    }
    return nullptr;
}

}  // namespace

TEST_CASE("A look at an empty broker finds a directory, its file system, and no keeper") {
    test::TestBroker place;
    StatsReader reader(place.broker);
    const BrokerStats stats = reader.take();
    CHECK(stats.directory == place.broker.directory().string());
    CHECK(stats.file_system.type == "tmpfs");
    CHECK_FALSE(stats.file_system.remote);
    CHECK(stats.file_system.bytes.value() >= stats.file_system.free_bytes.value());
    CHECK(stats.keeper.running == false);
    CHECK(stats.keeper.pid == 0);
    CHECK(stats.leftovers.total() == 0);
    CHECK(stats.topics_bytes == 0);
    CHECK(stats.clients_readable);
    CHECK(stats.clients.empty());
    CHECK(stats.topics.empty());
    CHECK(stats.taken_ns > 0);
    {
        const Keeper keeper(place.broker);
        const BrokerStats kept = reader.take();
        CHECK(kept.keeper.running == true);
        CHECK(kept.keeper.pid == ::getpid());
        CHECK(kept.taken_monotonic_ns > stats.taken_monotonic_ns);
    }
    CHECK(reader.take().keeper.running == false);
}

TEST_CASE("A look shows topics by name with their records, their bytes and the times of the first and the last") {
    test::TestBroker place;
    place.broker.create_topic("z", small());
    const TopicDescription made = place.broker.create_topic("t", small(2));
    publish(place.broker, 10);
    publish(place.broker, 1, "abc");
    StatsReader reader(place.broker);
    const std::int64_t now_ns = platform::realtime_ns();
    const BrokerStats stats = reader.take();
    REQUIRE(stats.topics.size() == 2);
    CHECK(stats.topics[1].name == "z");
    const TopicStats& topic = stats.topics[0];
    CHECK((topic.name == "t" && topic.error.empty() && !topic.error_code));
    CHECK((topic.description.bytes == made.bytes && topic.description.options == made.options));
    CHECK(stats.topics_bytes == made.bytes + stats.topics[1].description.bytes);
    REQUIRE(topic.partitions.size() == 2);
    const PartitionStats& partition = topic.partitions[0];
    CHECK((partition.partition == 0 && partition.log_start == 0 && partition.log_end == 11 && partition.records == 11));
    CHECK((partition.record_bytes == 103 && !partition.record_bytes_estimated));
    CHECK(partition.newest_record_bytes == 9);  // 103 / 11
    CHECK((partition.oldest_ns > 0 && partition.newest_ns >= partition.oldest_ns && partition.newest_ns <= now_ns));
    CHECK(partition.file_bytes == made.partitions[0].file_bytes);
    CHECK((topic.partitions[1].records == 0 && topic.partitions[1].oldest_ns == 0 &&
           topic.partitions[1].newest_record_bytes == 0));
}

TEST_CASE("Bytes of many records are extrapolated from a few") {
    test::TestBroker place;
    place.broker.create_topic("t", small());
    publish(place.broker, 40);
    StatsReader reader(place.broker);
    const PartitionStats partition = reader.take({.bytes_records_max = 8}).topics.at(0).partitions.at(0);
    CHECK(partition.record_bytes_estimated);
    CHECK(partition.record_bytes == 400);
    CHECK(reader.take({.bytes_records_max = 0}).topics.at(0).partitions.at(0).record_bytes == 0);
}

TEST_CASE("A look shows groups with their members, states and lags") {
    test::TestBroker place;
    place.broker.create_topic("t", small(2));
    const GroupTopic topic(place.broker, "t");
    group_at(topic, "y", {3, 0}, {.gating = true});
    GroupTopicMember member(topic, topic.create("x"));
    member.take(1);
    topic.publish(0, 5);
    StatsReader reader(place.broker);
    const BrokerStats stats = reader.take();
    const std::vector<GroupDescription>& groups = stats.topics.at(0).groups;
    REQUIRE(groups.size() == 2);
    CHECK((groups[0].name == "x" && groups[0].state == GroupState::rebalancing && groups[0].members.size() == 1));
    CHECK((groups[1].name == "y" && groups[1].state == GroupState::empty && groups[1].gating));
    CHECK((groups[1].partitions.at(0).lag.records == 2 && groups[1].partitions.at(0).commits == 1));
    const ClientStats* const me = client_with_pid(stats, ::getpid());
    REQUIRE(me != nullptr);
    CHECK((me->member_slots == 1 && me->group_partitions == 1 && me->held() == 1));
    CHECK(reader.take({.groups = false}).topics.at(0).groups.empty());
}

TEST_CASE("A look shows queues with their states and workers, and one that cannot be read with its error") {
    test::QueuePlace place;
    place.admin->create("t", "q", test::QueuePlace::plain());
    place.admin->create("t", "bad", test::QueuePlace::plain());
    place.topic->publish(0, 6);
    test::TestWorker worker(place.broker, "t", "q");
    REQUIRE(worker.acquire(4).size() == 4);
    std::filesystem::resize_file(place.work_of("bad") / "workers", 10);
    StatsReader reader(place.broker);
    const BrokerStats stats = reader.take();
    const TopicStats& topic = stats.topics.at(0);
    REQUIRE(topic.queues.size() == 2);
    CHECK((topic.queues[0].name == "bad" && topic.queues[0].error_code == ErrorCode::corrupt && topic.queues[0].partitions.empty()));
    CHECK_THAT(topic.queues[0].error, test::contains("workers"));
    CHECK((topic.queues[1].name == "q" && topic.queues[1].error.empty() && topic.queues[1].partitions[0].acquired == 4));
    const ClientStats* const me = client_with_pid(stats, ::getpid());
    REQUIRE(me != nullptr);
    CHECK((me->workers == 1 && me->acquired_records == 4));
    place.admin->remove("t", "q", true);
    CHECK(reader.take().topics.at(0).queues.size() == 1);
}

TEST_CASE("A look names the clients that live, and what each holds") {
    test::TestBroker place;
    place.broker.create_topic("t", small(1, WhenFull::block));
    Producer producer(place.broker, "t");
    producer.attach(0);
    Consumer consumer(place.broker);
    consumer.assign("t");
    consumer.hold_gates("by hand");
    StatsReader reader(place.broker);
    const BrokerStats stats = reader.take();
    REQUIRE(stats.clients.size() == 1);
    const ClientStats& me = stats.clients[0];
    CHECK((me.client.pid == ::getpid() && me.client.state == ClientState::alive));
    CHECK((me.same_pid_namespace && me.process == ProcessState::running));
    CHECK_FALSE(me.command.empty());
    CHECK((me.since_ns > 0 && me.since_ns <= stats.taken_ns));
    CHECK((me.producers == 1 && me.gates == 1 && me.leases == 0 && me.open_tickets == 0));
    CHECK(stats.topics.at(0).partitions.at(0).attached.at(0).client.pid == ::getpid());
    CHECK(reader.take({.processes = false}).clients.at(0).process == ProcessState::unknown);
}

TEST_CASE("A client that is stopped is shown as stopped, with its lease, also once it is dead") {
    test::TestBroker place;
    place.broker.create_topic("t", small());
    StoppedChild child([&](const auto& stop) {
        const Broker broker(place.broker.directory());
        Producer producer(broker, "t", {.exclusive = true});
        ProducerRecord record;
        const std::string large(1000, 'x');
        record.value = as_bytes(large);
        if (producer.publish(record).status != Status::ok)
            return;
        stop();
    });
    const pid_t pid = child.pid();
    StatsReader reader(place.broker);
    BrokerStats stats = reader.take();
    const ClientStats* client = client_with_pid(stats, pid);
    REQUIRE(client != nullptr);
    CHECK((client->client.state == ClientState::alive && client->process == ProcessState::stopped));
    CHECK((client->producers == 1 && client->leases == 1 && client->extents == 1));
    const ProducerStats& producer = stats.topics.at(0).partitions.at(0).attached.at(0);
    CHECK((producer.exclusive && producer.extents == 1 && producer.client.pid == pid));

    child.kill();
    stats = reader.take();
    client = client_with_pid(stats, pid);
    REQUIRE(client != nullptr);
    CHECK(
        (client->client.state == ClientState::dead && client->process == ProcessState::unknown && client->leases == 1));
    Keeper keeper(place.broker);
    (void)keeper.do_work(1s);
    stats = reader.take();
    CHECK(client_with_pid(stats, pid) == nullptr);
    CHECK(stats.topics.at(0).partitions.at(0).reaped_producers == 1);
}

TEST_CASE("Open tickets, closed ones and cells in quarantine are counted, also when they change") {
    test::TestBroker place;
    place.broker.create_topic("t", small());
    const MappedLog mapped(place.broker.directory(), "t");
    test::Child child([&] { return test::take_tickets_and_stay(place.broker.directory(), "t", 1); });
    REQUIRE(test::wait_for_end(mapped, 1));
    StatsReader reader(place.broker);
    // the child has its ticket, and is about to say so
    PartitionStats seen;
    for (int i = 0; i < 1000 && seen.open_tickets == 0; ++i) {
        seen = reader.take().topics.at(0).partitions.at(0);
        if (seen.open_tickets == 0)
            std::this_thread::sleep_for(1ms);
    }
    CHECK((seen.open_tickets == 1 && seen.closed_tickets == 0 && seen.quarantined_cells == 0));
    CHECK(seen.attached.at(0).first_ticket == 0);
    CHECK(partition_log::close_ticket(mapped.log, 0) == partition_log::Decision::closed);
    seen = reader.take().topics.at(0).partitions.at(0);
    CHECK((seen.open_tickets == 0 && seen.closed_tickets == 1 && seen.quarantined_cells == 1 &&
           seen.released_cells == 0));
    child.kill();
    Keeper keeper(place.broker);
    for (int i = 1; i < 20; ++i)
        (void)keeper.do_work(300ms * i);
    seen = reader.take().topics.at(0).partitions.at(0);
    CHECK((seen.quarantined_cells == 0 && seen.released_cells == 1));
}

TEST_CASE("Gaps of readers are counted with what they missed") {
    test::TestBroker place;
    place.broker.create_topic("t", small());
    Consumer consumer(place.broker);
    consumer.assign("t", 0, Position::earliest());
    publish(place.broker, 200);
    (void)consumer.poll(1);
    StatsReader reader(place.broker);
    const PartitionStats seen = reader.take().topics.at(0).partitions.at(0);
    CHECK(seen.gaps == 1);
    CHECK(seen.lost_records >= 200 - 64);
}

TEST_CASE("A topic that cannot be read is an entry with its error, and the others are there") {
    test::TestBroker place;
    place.broker.create_topic("a", small());
    place.broker.create_topic("t", small(2));
    place.broker.create_topic("u", small());
    std::filesystem::remove(place.broker.directory() / "topics" / "a" / "readers");
    std::filesystem::remove(place.broker.directory() / "topics" / "t" / "1.log");
    publish(place.broker, 3);
    StatsReader reader(place.broker);
    for (int look = 0; look < 2; ++look) {
        const BrokerStats stats = reader.take();
        REQUIRE(stats.topics.size() == 3);
        CHECK(stats.topics[0].error_code == ErrorCode::corrupt);
        CHECK_THAT(stats.topics[0].error, test::contains("readers' is missing"));
        CHECK(stats.topics[0].partitions.empty());
        CHECK(stats.topics[1].error.empty());
        CHECK((stats.topics[1].partitions.at(0).records == 3 && stats.topics[1].partitions.at(0).error.empty()));
        CHECK_THAT(stats.topics[1].partitions.at(1).error, test::contains("1.log' is missing"));
        CHECK(stats.topics[1].partitions.at(1).error_code == ErrorCode::corrupt);
        CHECK((stats.topics[2].name == "u" && stats.topics[2].error.empty()));
    }
}

TEST_CASE("Groups of a topic with a partition that cannot be read are shown") {
    test::TestBroker place;
    place.broker.create_topic("t", small(2));
    const GroupTopic topic(place.broker, "t");
    group_at(topic, "g", {0, 0});
    topic.publish(0, 4);
    std::filesystem::remove(place.broker.directory() / "topics" / "t" / "1.log");
    StatsReader reader(place.broker);
    const GroupDescription group = reader.take().topics.at(0).groups.at(0);
    CHECK((group.partitions.at(0).lag.records == 4 && group.partitions.at(1).lag.records == 0));
}

TEST_CASE("A log that contradicts itself is damaged, and has no impossible figures") {
    test::TestBroker place;
    place.broker.create_topic("t", small());
    const GroupTopic topic(place.broker, "t");
    group_at(topic, "g", {0});
    topic.publish(0, 4);
    topic.log(0).control->log_start.store(9, std::memory_order_relaxed);
    StatsReader reader(place.broker);
    const TopicStats seen = reader.take().topics.at(0);
    CHECK(seen.error.empty());
    const PartitionStats& partition = seen.partitions.at(0);
    CHECK(partition.damage == "log start 9 is outside [0, 4]");
    CHECK(
        (partition.log_start == 0 && partition.log_end == 0 && partition.records == 0 && partition.record_bytes == 0));
    const GroupLag& lag = seen.groups.at(0).partitions.at(0).lag;
    CHECK((lag.damaged && lag.records == 0 && lag.lost == 0));
    const PartitionDescription described = place.broker.describe_topic("t").partitions.at(0);
    CHECK((described.damage == partition.damage && described.log_start == 0 && described.log_end == 0));
    CHECK(GroupAdmin(place.broker).lag("t", "g").at(0).damaged);
}

TEST_CASE("Topics that come, go and are replaced are followed by the same reader") {
    test::TestBroker place;
    place.broker.create_topic("t", small());
    publish(place.broker, 5);
    StatsReader reader(place.broker);
    CHECK(reader.take().topics.at(0).partitions.at(0).records == 5);
    place.broker.delete_topic("t");
    CHECK(reader.take().topics.empty());
    place.broker.create_topic("t", small(2));
    CHECK(reader.take().topics.at(0).partitions.size() == 2);
    // by hand: nobody marked the topic deleted
    std::filesystem::remove_all(place.broker.directory() / "topics" / "t");
    CHECK(reader.take().topics.empty());
    place.broker.create_topic("t", small(3));
    publish(place.broker, 1);
    CHECK(reader.take().topics.at(0).partitions.at(0).records == 1);
}

TEST_CASE("A look at some topics shows those, and says which are not there") {
    test::TestBroker place;
    place.broker.create_topic("t", small());
    place.broker.create_topic("u", small());
    StatsReader reader(place.broker);
    const BrokerStats stats = reader.take({.topics = {"u", "none"}});
    REQUIRE(stats.topics.size() == 2);
    CHECK((stats.topics[0].name == "u" && stats.topics[0].error.empty()));
    CHECK((stats.topics[1].name == "none" && stats.topics[1].error_code == ErrorCode::not_found));
}

TEST_CASE("Leftovers of killed creations and deletions are counted, and gone once they are swept") {
    test::TestBroker place;
    place.broker.create_topic("t", small());
    test::Child maker([&] {
        const Broker broker(place.broker.directory());
        const layout::ClientId me = broker.impl()->client();
        const std::string name = std::to_string(me.slot) + "-" + std::to_string(me.incarnation) + "-0";
        std::filesystem::create_directory(broker.directory() / "staging" / name);
        std::filesystem::create_directory(broker.directory() / "trash" / name);
        return 0;
    });
    CHECK(maker.wait() == 0);
    std::ofstream(place.broker.directory() / ".making-17") << "x";
    StatsReader reader(place.broker);
    const LeftoverStats left = reader.take().leftovers;
    CHECK((left.directories == 2 && left.files == 1 && left.dead_topics == 0 && left.total() == 3));
    Keeper keeper(place.broker);
    (void)keeper.do_work(1s);
    CHECK(reader.take().leftovers.total() == 0);
}

TEST_CASE("A reader that was inherited through fork says so") {
    test::TestBroker place;
    StatsReader reader(place.broker);
    test::Child child([&] { return thrown_by([&] { return reader.take(); }).code == ErrorCode::forked ? 0 : 1; });
    CHECK(child.wait() == 0);
}

TEST_CASE("Looking again maps nothing that was mapped before") {
#if defined(__SANITIZE_ADDRESS__)
    SKIP("AddressSanitizer maps memory of its own");
#endif
    if (!test::can_trace())
        SKIP("ptrace is not permitted here");
    test::TestBroker place;
    place.broker.create_topic("t", small(4));
    QueueAdmin(place.broker).create("t", "q", test::QueuePlace::plain());
    const auto mappings_of = [&](int looks) {
        const auto calls = test::system_calls_of([&] {
            StatsReader reader(Broker(place.broker.directory()));
            for (int i = 0; i < looks; ++i)
                (void)reader.take();
        });
        return std::count(calls.begin(), calls.end(), static_cast<std::uint64_t>(SYS_mmap));
    };
    CHECK(mappings_of(5) == mappings_of(1));
}

TEST_CASE("A process is looked at only if it is the one that started then") {
    const platform::ProcessIdentity me = platform::this_process();
    const auto look = platform::look_at_process(me.pid, me.start_ticks);
    REQUIRE(look.has_value());
    CHECK_FALSE(look->stopped);
    CHECK(look->command[0] != 0);
    CHECK_FALSE(platform::look_at_process(me.pid, me.start_ticks + 1).has_value());
    CHECK_FALSE(platform::look_at_process(0, me.start_ticks).has_value());
    // a name that looks like the rest of the line
    StoppedChild odd([](const auto& stop) {
        ::prctl(PR_SET_NAME, "x) R 1 (y");
        stop();
    });
    std::ifstream stat("/proc/" + std::to_string(odd.pid()) + "/stat");
    std::string line;
    std::getline(stat, line);
    std::istringstream fields(line.substr(line.rfind(')') + 1));
    std::string field;
    for (int i = 3; i <= 22; ++i)
        fields >> field;
    const auto named = platform::look_at_process(static_cast<std::uint32_t>(odd.pid()), std::stoull(field));
    REQUIRE(named.has_value());
    CHECK(named->stopped);
    CHECK(std::string(named->command.data()) == "x) R 1 (y");
}

TEST_CASE("What is on which file system is known by its magic number") {
    const test::ScratchDirectory scratch;
    const auto found = platform::file_system_of(scratch.path());
    REQUIRE(found.has_value());
    CHECK((found->type == "tmpfs" && !found->remote && found->bytes >= found->free_bytes));
    CHECK(platform::file_system_of("/proc")->type == "0x9fa0");
    CHECK_FALSE(platform::file_system_of("/nowhere/at/all").has_value());
}
