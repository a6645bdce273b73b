// Typed producers and consumers: the type is checked when they attach.
#include "ringmain/typed.hpp"

#include <vector>

#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using test::ScratchDirectory;
using test::thrown_by;

namespace {

struct Trade {
    static constexpr std::string_view kRecordName = "test.Trade";
    std::int64_t price = 0;
    std::int32_t quantity = 0;
    std::int32_t venue = 0;
};

struct OtherName {
    static constexpr std::string_view kRecordName = "test.Other";
    Trade trade;
};

struct Grown {
    static constexpr std::string_view kRecordName = "test.Trade";
    Trade trade;
    std::int64_t more = 0;
};

TopicOptions for_trades() {
    TopicOptions options;
    options.records = 64;
    options.producer_slots = 2;
    options.payload_bytes = 0;
    options.value_type = value_type<Trade>();
    return options;
}

}  // namespace

TEST_CASE("A typed topic carries its structs from producer to consumer") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("trades", for_trades());
    TypedProducer<Trade> producer(broker, "trades");
    ProducerRecord about;
    about.key = as_bytes("MSFT");
    REQUIRE(producer.publish({42150, 100, 7}, about).status == Status::ok);
    REQUIRE(producer.try_publish({1, 2, 3}).status == Status::ok);

    TypedConsumer<Trade> consumer(broker);
    consumer.assign("trades");
    std::vector<Trade> trades;
    const PollResult result = consumer.poll([&](const Trade& trade, const ConsumerRecord&) { trades.push_back(trade); });
    CHECK(result.records.size() == 2);
    REQUIRE(trades.size() == 2);
    CHECK(trades[0].price == 42150);
    CHECK(trades[0].quantity == 100);
    CHECK(trades[1].venue == 3);
    CHECK(as_text(*result.records[0].key) == "MSFT");
}

TEST_CASE("A typed handle refuses a topic of another name, another size, or of bytes, and names both types") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("trades", for_trades());
    TopicOptions bytes = for_trades();
    bytes.value_type = {};
    broker.create_topic("bytes", bytes);
    const auto named = thrown_by([&] { TypedProducer<OtherName>(broker, "trades"); });
    CHECK(named.code == ErrorCode::mismatch);
    CHECK_THAT(named.text, test::contains("test.Trade") && test::contains("test.Other"));
    const auto grown = thrown_by([&] { TypedProducer<Grown>(broker, "trades"); });
    CHECK(grown.code == ErrorCode::mismatch);
    CHECK_THAT(grown.text, test::contains("16") && test::contains("24"));
    CHECK(thrown_by([&] { TypedProducer<Trade>(broker, "bytes"); }).code == ErrorCode::mismatch);
    TypedConsumer<Grown> consumer(broker);
    CHECK(thrown_by([&] { consumer.assign("trades"); return 0; }).code == ErrorCode::mismatch);
}

TEST_CASE("A record of another size in a typed topic is counted, not shown") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("trades", for_trades());
    Producer untyped(broker, "trades");
    ProducerRecord record;
    record.value = as_bytes("short");
    REQUIRE(untyped.publish(record).status == Status::ok);
    record.value.reset();
    REQUIRE(untyped.publish(record).status == Status::ok);
    TypedConsumer<Trade> consumer(broker);
    consumer.assign("trades");
    int shown = 0;
    CHECK(consumer.poll([&](const Trade&, const ConsumerRecord&) { ++shown; }).records.size() == 2);
    CHECK(shown == 0);
    CHECK(consumer.mismatched() == 2);
}
