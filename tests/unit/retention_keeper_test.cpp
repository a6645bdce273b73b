// Retention as a keeper runs it: limits that change, events, gates, other keepers, and topics on a disk after a boot.
#include <chrono>
#include <string>
#include <vector>

#include "ringmain/consumer.hpp"
#include "support/catch.hpp"
#include "support/kept_partition.hpp"
#include "support/test_broker.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::KeptPartition;
using test::publish;

namespace {

TopicOptions small(Retention retention, WhenFull when_full = WhenFull::overwrite) {
    TopicOptions options;
    options.records = 1024;
    options.producer_slots = 4;
    options.cell_bytes = 64;
    options.payload_bytes = 1 << 16;
    options.when_full = when_full;
    options.retention = retention;
    return options;
}

std::uint64_t start_of(const Broker& broker) { return broker.describe_topic("t").partitions[0].log_start; }

std::vector<KeeperEvent> of_kind(const std::vector<KeeperEvent>& events, KeeperEventKind kind) {
    std::vector<KeeperEvent> chosen;
    for (const KeeperEvent& event : events) {
        if (event.kind == kind) chosen.push_back(event);
    }
    return chosen;
}

}  // namespace

TEST_CASE("A keeper deletes what each limit does not keep, and reports it") {
    test::TestBroker place;
    place.broker.create_topic("t", small(GENERATE(Retention{200ms, 0, 0}, Retention{0ms, 3, 0}, Retention{0ms, 0, 30})));
    KeptPartition kept(place.broker, "t");
    publish(place.broker, "t", 50);
    const std::uint64_t expired = kept.run(500ms);
    CHECK(expired == start_of(place.broker));
    CHECK(expired >= 47);
    const auto events = of_kind(kept.events, KeeperEventKind::records_expired);
    REQUIRE_FALSE(events.empty());
    CHECK(events.front().from == 0);
    CHECK(events.back().to == expired);
    CHECK(events.front().topic == "t");
    CHECK(events.front().partition == 0U);
    CHECK(events.front().count == events.front().to - events.front().from);
    CHECK(place.broker.verify().damage.empty());
}

TEST_CASE("Limits that are set on a live topic hold from the next step on, and can be taken away") {
    test::TestBroker place;
    place.broker.create_topic("t", small({}));
    KeptPartition kept(place.broker, "t");
    publish(place.broker, "t", 50);
    CHECK(kept.run(1s) == 0);
    place.broker.set_retention("t", {0ms, 20, 0});
    CHECK(kept.run(10ms) == 30);
    place.broker.set_retention("t", {});
    publish(place.broker, "t", 50);
    CHECK(kept.run(1s) == 0);
    CHECK(start_of(place.broker) == 30);
}

TEST_CASE("An age that is set on a topic counts for what is there from then on") {
    test::TestBroker place;
    place.broker.create_topic("t", small({}));
    KeptPartition kept(place.broker, "t");
    publish(place.broker, "t", 5);
    kept.run(10s);
    place.broker.set_retention("t", {1s, 0, 0});
    CHECK(kept.run(980ms) == 0);
    CHECK(kept.run(100ms) == 5);
}

TEST_CASE("A group that gates holds records, is named once, and lets them go by committing") {
    test::TestBroker place;
    place.broker.create_topic("t", small({0ms, 5, 0}, WhenFull::block));
    KeptPartition kept(place.broker, "t");
    GroupOptions group;
    group.name = "billing";
    group.gating = true;
    Consumer member(place.broker, group);
    member.subscribe("t");
    (void)member.poll();
    publish(place.broker, "t", 50);
    CHECK(kept.run(200ms) == 0);
    auto held = of_kind(kept.events, KeeperEventKind::retention_held);
    REQUIRE(held.size() == 1);
    CHECK(held[0].subject == "group 'billing'");
    CHECK(held[0].from == 0);
    CHECK(held[0].to == 45);
    std::size_t read = 0;
    while (read < 50) read += member.poll().records.size();
    CHECK(member.commit().status == Status::ok);
    CHECK(kept.run(200ms) == 45);
    publish(place.broker, "t", 50);
    kept.run(200ms);
    held = of_kind(kept.events, KeeperEventKind::retention_held);
    REQUIRE(held.size() == 2);
    CHECK(held[1].from == 50);
}

TEST_CASE("A reader's gate holds records and is named with its process") {
    test::TestBroker place;
    place.broker.create_topic("t", small({100ms, 0, 0}, WhenFull::block));
    KeptPartition kept(place.broker, "t");
    publish(place.broker, "t", 9);
    Consumer reader(place.broker);
    reader.assign("t");
    reader.hold_gates("audit");
    CHECK(kept.run(1s) == 0);
    const auto held = of_kind(kept.events, KeeperEventKind::retention_held);
    REQUIRE(held.size() == 1);
    CHECK_THAT(held[0].subject, test::contains("gate 'audit' of client"));
    CHECK_THAT(held[0].subject, test::contains("pid " + std::to_string(::getpid())));
    CHECK(held[0].count == 9);
    reader.drop_gates();
    CHECK(kept.run(20ms) == 9);
}

TEST_CASE("A second keeper takes up the marks of the first, and after a boot records begin anew") {
    test::TestBroker place;
    place.broker.create_topic("t", small({1s, 0, 0}));
    KeptPartition kept(place.broker, "t");
    publish(place.broker, "t", 5);
    kept.run(500ms);
    SECTION("another keeper") {
        kept.restart();
        CHECK(kept.run(500ms) == 0);
        CHECK(kept.run(50ms) == 5);
    }
    SECTION("another boot") {
        kept.reboot();
        CHECK(kept.run(980ms) == 0);
        CHECK(kept.run(100ms) == 5);
    }
}

TEST_CASE("A reader that is behind gets its gap with numbers, and reads on") {
    test::TestBroker place;
    place.broker.create_topic("t", small({0ms, 10, 0}));
    KeptPartition kept(place.broker, "t");
    publish(place.broker, "t", 30);
    Consumer reader(place.broker);
    reader.assign("t");
    REQUIRE(reader.poll(5).records.size() == 5);
    CHECK(kept.run(10ms) == 20);
    const PollResult rest = reader.poll();
    REQUIRE(rest.gaps.size() == 1);
    CHECK(rest.gaps[0].from == 5);
    CHECK(rest.gaps[0].to == 20);
    CHECK(rest.gaps[0].reason == GapReason::overwritten);
    REQUIRE(rest.records.size() == 10);
    CHECK(rest.records[0].offset == 20);
}

TEST_CASE("Keys, values and headers count for a limit in bytes, and so do large records") {
    test::TestBroker place;
    place.broker.create_topic("t", small({0ms, 0, 10'000}));
    KeptPartition kept(place.broker, "t");
    Producer producer(place.broker, "t");
    const std::string key(100, 'k');
    const std::string value(890, 'v');
    const std::vector<Header> headers = {{"name", as_bytes("1234")}};
    for (int i = 0; i < 20; ++i) {
        ProducerRecord record;
        record.key = as_bytes(key);
        record.value = as_bytes(value);
        record.headers = headers;
        REQUIRE(producer.publish(record).status == Status::ok);
    }
    kept.run(20ms);
    // 100 + 890, and the encoded header: its name, its value and 6 bytes for their lengths
    CHECK(20 - start_of(place.broker) == 10'000 / (990 + 14));
}
