// Groups as an administrator sees them: lists, descriptions, lag.
#include <chrono>
#include <filesystem>

#include "platform/clock.hpp"
#include "ringmain/group_admin.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/group_topic.hpp"
#include "support/test_broker.hpp"

using namespace ringmain;
using test::group_at;
using test::GroupTopic;
using test::GroupTopicMember;
using test::thrown_by;

namespace {

TopicOptions small(std::uint32_t partitions = 2) {
    TopicOptions options;
    options.partitions = partitions;
    options.records = 64;
    options.producer_slots = 2;
    options.payload_bytes = 0;
    options.groups = 4;
    options.members = 4;
    return options;
}

struct Place : test::TestBroker {
    explicit Place(const TopicOptions& options = small()) {
        broker.create_topic("t", options);
        topic.emplace(broker, "t");
        admin.emplace(broker);
    }
    std::optional<GroupTopic> topic;
    std::optional<GroupAdmin> admin;
};

}  // namespace

TEST_CASE("Groups are listed by topic and name, with their members and their lag") {
    Place place;
    CHECK(place.admin->list().empty());
    place.broker.create_topic("a", small());
    const GroupTopic other(place.broker, "a");
    other.create("z");
    group_at(*place.topic, "y", {3, 0}, {.gating = true});
    const auto x = place.topic->create("x");
    GroupTopicMember member(*place.topic, x);
    place.topic->publish(0, 5);
    place.topic->publish(1, 1);

    const std::vector<GroupSummary> all = place.admin->list();
    REQUIRE(all.size() == 3);
    CHECK((all[0].topic == "a" && all[0].name == "z" && all[0].records == 0));
    CHECK((all[1].topic == "t" && all[1].name == "x" && all[1].records == 6 && all[1].members == 1));
    CHECK(all[1].state == GroupState::rebalancing);
    CHECK((all[2].name == "y" && all[2].records == 3 && all[2].members == 0 && all[2].gating));
    CHECK(all[2].state == GroupState::empty);
    CHECK(place.admin->list("t").size() == 2);
    CHECK(place.admin->topics_of("z") == std::vector<std::string>{"a"});
    CHECK(place.admin->topics_of("none").empty());
    CHECK(thrown_by([&] { return place.admin->list("none"); }).code == ErrorCode::not_found);
}

TEST_CASE("A description shows members, what they own, and what they did") {
    Place place;
    const auto group = place.topic->create("g", {.gating = true, .lag_records_max = 7, .lag_ms_max = 9, .loss_policy = 2,
                                                 .start_kind = static_cast<std::uint8_t>(Position::Kind::offset), .start_value = 4});
    place.topic->publish(0, 5);
    GroupTopicMember first(*place.topic, group, "one");
    GroupTopicMember second(*place.topic, group);
    first.take(0);
    first.poll(5'000'000'000);
    CHECK(first.commit(0, 2) == group_table::CommitStatus::committed);
    GroupDescription seen = place.admin->describe("t", "g");
    CHECK((seen.topic == "t" && seen.name == "g" && seen.gating && seen.lag_records_max == 7));
    CHECK(seen.lag_time_max == std::chrono::milliseconds(9));
    CHECK(seen.on_loss == OnLoss::latest);
    CHECK((seen.start.kind == Position::Kind::offset && seen.start.value == 4));
    CHECK(seen.state == GroupState::rebalancing);
    REQUIRE(seen.members.size() == 2);
    CHECK((seen.members[0].static_name == "one" && seen.members[0].in_group && seen.members[0].last_poll_ns == 5'000'000'000));
    CHECK(seen.members[0].session_timeout == std::chrono::seconds(45));
    CHECK(seen.members[0].partitions == std::vector<std::uint32_t>{0});
    REQUIRE(seen.members[0].client);
    CHECK(seen.members[0].client->state == ClientState::alive);
    CHECK(seen.members[0].client->pid == ::getpid());
    CHECK((seen.members[1].static_name.empty() && seen.members[1].partitions.empty()));
    REQUIRE(seen.partitions.size() == 2);
    CHECK(seen.partitions[0].owner == first.slot());
    CHECK(seen.partitions[0].generation == first.generation(0));
    CHECK((seen.partitions[0].commits == 1 && seen.partitions[0].handovers == 1 && seen.partitions[0].committed_ns == 2'000'000'000));
    CHECK_FALSE(seen.partitions[1].owner);

    second.take(1);
    CHECK(place.admin->describe("t", "g").state == GroupState::stable);
    second.leave();
    seen = place.admin->describe("t", "g");
    CHECK(seen.members.size() == 1);
    CHECK_FALSE(seen.partitions[1].owner);  // its owner is gone
    CHECK(seen.state == GroupState::rebalancing);
}

TEST_CASE("A static member that closed is shown as expected back, a killed one as dead") {
    Place place;
    const auto group = place.topic->create("g");
    GroupTopicMember closed(*place.topic, group, "gone");
    closed.close();
    test::Child child([&] {
        const Broker broker(place.scratch.broker());
        const GroupTopic topic(broker, "t");
        GroupTopicMember member(topic, group);
        ::_exit(0);
        return 0;
    });
    CHECK(child.wait() == 0);
    const GroupDescription seen = place.admin->describe("t", "g");
    REQUIRE(seen.members.size() == 2);
    CHECK_FALSE(seen.members[0].client);
    CHECK(seen.members[0].in_group);
    REQUIRE(seen.members[1].client);
    CHECK(seen.members[1].client->state == ClientState::dead);
}

TEST_CASE("B13 A group that has never committed has no committed offset, and its lag is what there is") {
    Place place;
    place.topic->create("g");
    place.topic->publish(0, 29);
    const std::vector<GroupLag> lag = place.admin->lag("t", "g");
    REQUIRE(lag.size() == 2);
    CHECK_FALSE(lag[0].committed);
    CHECK(lag[0].records == 29);
    CHECK(lag[0].records <= lag[0].log_end - lag[0].log_start);
    CHECK(lag[1].records == 0);
}

TEST_CASE("B11 What retention took is lost and no lag") {
    TopicOptions options = small(1);
    Place place(options);
    group_at(*place.topic, "g", {10});
    place.topic->publish(0, 1000);
    auto& control = *place.topic->log(0).control;
    control.log_start.store(1000, std::memory_order_release);
    GroupLag lag = place.admin->lag("t", "g").at(0);
    CHECK(lag.committed == 10);
    CHECK(lag.records == 0);
    CHECK(lag.lost == 990);
    CHECK(lag.bytes == 0);
    CHECK_FALSE(lag.time);
    place.topic->publish(0, 5);
    lag = place.admin->lag("t", "g").at(0);
    CHECK(lag.records == 5);
    CHECK(lag.lost == 990);
    CHECK(lag.bytes == 5);
}

TEST_CASE("B10 A committed offset beyond the end shows no negative lag") {
    Place place(small(1));
    group_at(*place.topic, "g", {295});
    const GroupLag lag = place.admin->lag("t", "g").at(0);
    CHECK(lag.committed == 295);
    CHECK(lag.records == 0);
    CHECK(lag.lost == 0);
    CHECK(place.admin->describe("t", "g").partitions[0].records_until_loss > 0U);
}

TEST_CASE("B15 The same partition number of two topics has two committed offsets in one group") {
    Place place(small(3));
    place.broker.create_topic("u", small(3));
    const GroupTopic other(place.broker, "u");
    group_at(*place.topic, "g", {100, 101, 102});
    group_at(other, "g", {200, 201, 202});
    GroupAdmin fresh(place.broker);
    for (GroupAdmin* admin : {&*place.admin, &fresh}) {
        for (std::uint32_t partition = 0; partition < 3; ++partition) {
            CHECK(admin->lag("t", "g").at(partition).committed == 100 + partition);
            CHECK(admin->lag("u", "g").at(partition).committed == 200 + partition);
        }
    }
    CHECK(fresh.topics_of("g") == std::vector<std::string>{"t", "u"});
}

TEST_CASE("B17 Committing the same offset again is a commit, and moves its time") {
    Place place(small(1));
    const auto group = place.topic->create("g");
    GroupTopicMember member(*place.topic, group);
    member.take(0);
    CHECK(member.commit(0, 0, 5) == group_table::CommitStatus::committed);
    CHECK(member.commit(0, 0, 77) == group_table::CommitStatus::committed);
    const GroupPartitionDescription seen = place.admin->describe("t", "g").partitions.at(0);
    CHECK(seen.committed_ns == 77);
    CHECK(seen.commits == 2);
    CHECK(seen.lag.committed == 0);
}

TEST_CASE("I06 Lag and committed offsets are exact beyond 2^53") {
    TopicOptions options = small(1);
    options.first_offset = kFirstOffsetMax;
    Place place(options);
    group_at(*place.topic, "g", {kFirstOffsetMax + 1});
    place.topic->publish(0, 4);
    const GroupLag lag = place.admin->lag("t", "g").at(0);
    CHECK(lag.committed == kFirstOffsetMax + 1);
    CHECK(lag.log_end == kFirstOffsetMax + 4);
    CHECK(lag.records == 3);
    CHECK(lag.bytes == 3);
}

TEST_CASE("J The lag in time is the age of the oldest unread record by its timestamp, and never negative") {
    using namespace std::chrono_literals;
    Place place(small(1));
    group_at(*place.topic, "g", {1});
    CHECK_FALSE(place.admin->lag("t", "g").at(0).time);
    const std::int64_t now_ns = platform::realtime_ns();
    place.topic->publish(0, 1, "read", 1);
    place.topic->publish(0, 1, "oldest", now_ns - std::chrono::nanoseconds(1h).count());
    place.topic->publish(0, 1, "newer", now_ns);
    const auto age = place.admin->lag("t", "g").at(0).time;
    REQUIRE(age);
    CHECK((*age >= 1h && *age < 2h));
    group_at(*place.topic, "h", {3});
    place.topic->publish(0, 1, "future", now_ns + std::chrono::nanoseconds(1h).count());
    CHECK(place.admin->lag("t", "h").at(0).time == 0ms);
    group_at(*place.topic, "i", {4});
    place.topic->publish(0, 1, "before the epoch", INT64_MIN);
    CHECK(place.admin->lag("t", "i").at(0).time > 1h);
    CHECK_FALSE(place.admin->lag("t", "g", {.time = false}).at(0).time);
}

TEST_CASE("Few unread bytes are added up exactly, many are extrapolated and said to be") {
    TopicOptions options = small(1);
    options.records = 4096;
    Place place(options);
    group_at(*place.topic, "g", {1});
    place.topic->publish(0, 1, "not counted");
    for (int i = 0; i < 10; ++i) place.topic->publish(0, 1, std::string(static_cast<std::size_t>(i), 'x'));
    GroupLag lag = place.admin->lag("t", "g").at(0);
    CHECK(lag.bytes == 45);
    CHECK_FALSE(lag.bytes_estimated);
    CHECK_FALSE(place.admin->lag("t", "g", {.bytes_records_max = 0}).at(0).bytes);
    CHECK(place.admin->lag("t", "g", {.bytes_records_max = 10}).at(0).bytes == 45);
    CHECK(place.admin->lag("t", "g", {.bytes_records_max = 9}).at(0).bytes_estimated);

    place.topic->publish(0, 1500, "12345678");
    place.topic->publish(0, 1500, "1234");
    lag = place.admin->lag("t", "g", {.bytes_records_max = 500}).at(0);
    CHECK(lag.bytes_estimated);
    const std::uint64_t exact = 45 + 1500 * 12;
    CHECK(place.admin->lag("t", "g", {.bytes_records_max = 4000}).at(0).bytes == exact);
    CHECK((lag.bytes > exact * 9 / 10 && lag.bytes < exact * 11 / 10));  // the places are the same each time
}

TEST_CASE("C16 How many records may still come until the group loses one") {
    Place place(small(1));
    group_at(*place.topic, "g", {0});
    const auto until_loss = [&] { return place.admin->describe("t", "g").partitions.at(0).records_until_loss; };
    const auto kept = place.broker.describe_topic("t").retained_records;
    CHECK(until_loss() == kept);
    place.topic->publish(0, kept);
    CHECK(until_loss() == 0);
    CHECK(place.admin->lag("t", "g").at(0).lost == 0);
    place.topic->publish(0, 64);
    CHECK(place.admin->lag("t", "g").at(0).lost > 0);
    CHECK(until_loss() == 0);
}

TEST_CASE("A topic or group that is not there is named") {
    Place place;
    CHECK_THAT(thrown_by([&] { return place.admin->describe("t", "nope"); }).text,
               test::contains("topic 't'") && test::contains("group 'nope'"));
    CHECK(thrown_by([&] { return place.admin->lag("nope", "g"); }).code == ErrorCode::not_found);
    CHECK(thrown_by([&] { return place.admin->describe("t", ""); }).code == ErrorCode::not_found);
    CHECK(thrown_by([&] { return place.admin->describe("t", std::string(201, 'g')); }).code == ErrorCode::not_found);
}

TEST_CASE("An administration that has looked at a topic sees the one that is created in its place") {
    Place place;
    group_at(*place.topic, "g", {1, 1});
    CHECK(place.admin->list("t").size() == 1);
    place.broker.delete_topic("t");
    CHECK(thrown_by([&] { return place.admin->list("t"); }).code == ErrorCode::not_found);
    place.broker.create_topic("t", small(1));
    CHECK(place.admin->list("t").empty());
    CHECK(thrown_by([&] { return place.admin->lag("t", "g"); }).code == ErrorCode::not_found);
}

TEST_CASE("E15 An administration that was inherited through fork answers forked") {
    Place place;
    test::Child child([&] { return thrown_by([&] { return place.admin->list(); }).code == ErrorCode::forked ? 0 : 1; });
    CHECK(child.wait() == 0);
}
