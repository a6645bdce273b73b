// What holds the log start of a `block` topic back.
#include <chrono>
#include <optional>

#include "platform/clock.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/group_admin.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/group_topic.hpp"
#include "support/test_broker.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::group_at;
using test::GroupTopic;
using test::GroupTopicMember;

namespace {

struct Place : test::TestBroker {
    Place() {
        TopicOptions options;
        options.partitions = 2;
        options.records = 64;
        options.producer_slots = 2;
        options.payload_bytes = 0;
        options.when_full = WhenFull::block;
        broker.create_topic("t", options);
        topic.emplace(broker, "t");
        admin.emplace(broker);
    }
    std::optional<GroupTopic> topic;
    std::optional<GroupAdmin> admin;
};

/// Until it would wait.
std::uint64_t fill(const Broker& broker, std::uint32_t partition) {
    Producer producer(broker, "t");
    ProducerRecord record;
    record.partition = partition;
    record.value = as_bytes("x");
    std::uint64_t published = 0;
    while (producer.try_publish(record).status == Status::ok) ++published;
    return published;
}

}  // namespace

TEST_CASE("Nothing blocks a topic that overwrites, nor one without gates") {
    Place place;
    place.broker.create_topic("o", {.records = 128});
    place.topic->create("reads");
    CHECK(place.admin->who_blocks().empty());
    CHECK(place.admin->who_blocks("o").empty());
}

TEST_CASE("C12 The group that holds a full topic back is named with its owner, its lag and since when") {
    Place place;
    const auto group = place.topic->create("slow", {.gating = true});
    const std::int64_t hour_ago_ns = platform::realtime_ns() - std::chrono::nanoseconds(1h).count();
    place.topic->publish(0, 5, "x", hour_ago_ns);
    GroupTopicMember member(*place.topic, group, "worker");
    member.take(0);
    CHECK(member.commit(0, 2, 77) == group_table::CommitStatus::committed);
    member.positions().note_delivered(0, 4);
    const std::uint64_t more = fill(place.broker, 0);

    const std::vector<LogHolder> holders = place.admin->who_blocks("t");
    REQUIRE(holders.size() == 2);
    const LogHolder& holder = holders[0];
    CHECK((holder.topic == "t" && holder.partition == 0 && holder.name == "slow" && holder.group && holder.lowest));
    CHECK((holder.offset == 2 && holder.log_end == 5 + more && holder.records == 3 + more && holder.delivered == 4));
    CHECK(holder.room_records == 0);
    REQUIRE(holder.time);
    CHECK((*holder.time >= 1h && *holder.time < 2h));
    CHECK((holder.since_ns == 77 && holder.static_name == "worker"));
    REQUIRE(holder.client);
    CHECK((holder.client->pid == ::getpid() && holder.client->state == ClientState::alive));
    CHECK((holders[1].partition == 1 && holders[1].records == 0 && holders[1].room_records > 0 && !holders[1].client));
    CHECK_FALSE(holders[1].time);
}

TEST_CASE("Groups and readers' gates are listed by offset, and the lowest is the one that holds") {
    Place place;
    place.topic->publish(0, 10);
    group_at(*place.topic, "g", {6, 0}, {.gating = true});
    group_at(*place.topic, "reads", {1, 0});  // does not gate
    Consumer reader(place.broker);
    reader.assign("t", 0, Position::at(3));
    reader.hold_gates("archiver");
    std::vector<LogHolder> holders = place.admin->who_blocks();
    REQUIRE(holders.size() == 3);
    CHECK((holders[0].name == "archiver" && !holders[0].group && holders[0].lowest && holders[0].offset == 3));
    REQUIRE(holders[0].client);
    CHECK(holders[0].client->pid == ::getpid());
    CHECK((holders[1].name == "g" && holders[1].group && !holders[1].lowest && holders[1].records == 4));
    CHECK((holders[2].partition == 1 && holders[2].name == "g" && holders[2].lowest));
    const std::uint64_t room = holders[0].room_records;
    CHECK(holders[1].room_records == room);
    CHECK(fill(place.broker, 0) == room);
    reader.drop_gates();
    holders = place.admin->who_blocks();
    CHECK((holders[0].name == "g" && holders[0].lowest));
    CHECK(holders[0].room_records == 3);
    CHECK(fill(place.broker, 0) == 3);
}

TEST_CASE("A group that was let go holds nothing back") {
    Place place;
    group_at(*place.topic, "g", {0, 0}, {.gating = true, .lag_records_max = 10});
    for (int i = 0; i < 100; ++i) place.topic->publish(0, 1);
    const std::vector<LogHolder> holders = place.admin->who_blocks();
    for (const LogHolder& holder : holders) CHECK(holder.partition != 0);
    CHECK_FALSE(place.admin->describe("t", "g").partitions.at(0).gates);
    CHECK(place.admin->describe("t", "g").partitions.at(0).records_until_loss);
}
