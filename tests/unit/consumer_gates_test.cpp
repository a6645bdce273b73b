// Gates of a consumer: which partitions have one, and that a call that fails changes nothing.
#include <string>
#include <vector>

#include "ringmain/consumer.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/test_broker.hpp"

using namespace ringmain;
using test::thrown_by;

namespace {

TopicOptions blocking(std::uint32_t partitions = 1) {
    TopicOptions options;
    options.partitions = partitions;
    options.records = 64;
    options.producer_slots = 2;
    options.payload_bytes = 0;
    options.when_full = WhenFull::block;
    return options;
}

std::vector<std::string> gates_of(const Broker& broker, std::string_view topic) {
    std::vector<std::string> names;
    for (const PartitionDescription& partition : broker.describe_topic(topic).partitions) {
        for (const GateDescription& gate : partition.gates) names.push_back(gate.name + "@" + std::to_string(gate.offset));
    }
    return names;
}

using Names = std::vector<std::string>;

/// Takes all gates of one partition but `free` of them.
std::vector<Consumer> crowd(const Broker& broker, std::string_view topic, std::uint32_t partition, int free) {
    std::vector<Consumer> holders;
    for (int i = free; i < 16; ++i) {
        holders.emplace_back(broker);
        holders.back().assign(topic, partition);
        holders.back().hold_gates("crowd");
    }
    return holders;
}

}  // namespace

TEST_CASE("Gates that are held before anything is assigned hold what is assigned later") {
    test::TestBroker place;
    place.broker.create_topic("b", blocking(2));
    Producer producer(place.broker, "b");
    Consumer consumer(place.broker);
    consumer.hold_gates("early");
    consumer.assign("b", 1);
    CHECK(gates_of(place.broker, "b") == Names{"early@0"});
    ProducerRecord record;
    record.value = as_bytes("x");
    record.partition = 1;
    std::uint64_t published = 0;
    while (producer.try_publish(record).status == Status::ok && published < 1000) ++published;
    CHECK(published < 64);
    consumer.assign("b");
    CHECK(gates_of(place.broker, "b") == Names{"early@0", "early@0"});
}

TEST_CASE("A partition that is assigned while gates are held is gated from its position on") {
    test::TestBroker place;
    place.broker.create_topic("a", blocking());
    place.broker.create_topic("b", blocking());
    Producer producer(place.broker, "b");
    ProducerRecord record;
    record.value = as_bytes("x");
    for (int i = 0; i < 5; ++i) REQUIRE(producer.publish(record).status == Status::ok);
    Consumer consumer(place.broker);
    consumer.assign("a");
    consumer.hold_gates("g");
    consumer.assign("b", Position::at(3));
    CHECK(gates_of(place.broker, "a") == Names{"g@0"});
    CHECK(gates_of(place.broker, "b") == Names{"g@3"});
    consumer.unassign("b", 0);
    CHECK(gates_of(place.broker, "b").empty());
    consumer.drop_gates();
    consumer.assign("b");
    CHECK(gates_of(place.broker, "a").empty());
    CHECK(gates_of(place.broker, "b").empty());
}

TEST_CASE("Another name while gates are held is an error, the same name is not, and after dropping any is good") {
    test::TestBroker place;
    place.broker.create_topic("b", blocking());
    Consumer consumer(place.broker);
    consumer.hold_gates("first");
    consumer.assign("b");
    const auto refused = thrown_by([&] { consumer.hold_gates("second"); return 0; });
    CHECK(refused.code == ErrorCode::invalid_argument);
    CHECK_THAT(refused.text, test::contains("'first'") && test::contains("'second'"));
    consumer.hold_gates("first");
    CHECK(gates_of(place.broker, "b") == Names{"first@0"});
    consumer.drop_gates();
    consumer.hold_gates("second");
    CHECK(gates_of(place.broker, "b") == Names{"second@0"});
}

TEST_CASE("When one partition has no free gate, none is held and nothing is assigned") {
    test::TestBroker place;
    place.broker.create_topic("b", blocking(3));
    auto holders = crowd(place.broker, "b", 1, 0);
    const Names before = gates_of(place.broker, "b");
    Consumer consumer(place.broker);
    SECTION("at hold_gates") {
        consumer.assign("b");
        CHECK(thrown_by([&] { consumer.hold_gates("g"); return 0; }).code == ErrorCode::limit);
        CHECK(gates_of(place.broker, "b") == before);
        holders.pop_back();
        consumer.hold_gates("other name");  // the first one is not remembered
        CHECK(gates_of(place.broker, "b").size() == before.size() + 2);
    }
    SECTION("at assign") {
        consumer.hold_gates("g");
        CHECK(thrown_by([&] { consumer.assign("b"); return 0; }).code == ErrorCode::limit);
        CHECK(gates_of(place.broker, "b") == before);
        CHECK(thrown_by([&] { return consumer.position("b", 0); }).code == ErrorCode::not_found);
        holders.pop_back();
        consumer.assign("b");
        CHECK(gates_of(place.broker, "b").size() == before.size() + 2);
    }
}

TEST_CASE("An overwrite topic cannot be assigned while gates are held, nor gates be held on it") {
    test::TestBroker place;
    place.broker.create_topic("b", blocking());
    place.broker.create_topic("o", {.records = 64, .payload_bytes = 0, .producer_slots = 2});
    Consumer consumer(place.broker);
    consumer.assign("b");
    SECTION("gates first") {
        consumer.hold_gates("g");
        const auto refused = thrown_by([&] { consumer.assign("o"); return 0; });
        CHECK(refused.code == ErrorCode::invalid_argument);
        CHECK_THAT(refused.text, test::contains("'o'"));
        CHECK(thrown_by([&] { return consumer.position("o", 0); }).code == ErrorCode::not_found);
        CHECK(gates_of(place.broker, "b") == Names{"g@0"});
    }
    SECTION("topic first") {
        consumer.assign("o");
        CHECK(thrown_by([&] { consumer.hold_gates("g"); return 0; }).code == ErrorCode::invalid_argument);
        CHECK(gates_of(place.broker, "b").empty());
    }
}

TEST_CASE("A topic that was created anew is gated anew") {
    test::TestBroker place;
    place.broker.create_topic("b", blocking());
    Consumer consumer(place.broker);
    consumer.hold_gates("g");
    consumer.assign("b");
    place.broker.delete_topic("b");
    place.broker.create_topic("b", blocking());
    consumer.assign("b");
    CHECK(gates_of(place.broker, "b") == Names{"g@0"});
}
