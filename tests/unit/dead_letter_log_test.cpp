// Writing letters at tickets: what is in them, and what becomes of tickets that others close, of full, deleted and busy
// topics.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "dead_letter_headers.hpp"
#include "dead_letter_log.hpp"
#include "dead_letter_topic.hpp"
#include "partition_cursor.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/dead_letters.hpp"
#include "ringmain/group_admin.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/group_place.hpp"
#include "support/test_broker.hpp"

using namespace ringmain;
using partition_log::Decision;
using work_table::LetterOf;
using work_table::LetterReason;
using work_table::LetterTicket;
using work_table::Sent;

namespace {

constexpr std::uint64_t kNever = 1'000'000;

struct Letter {
    std::uint64_t offset = 0;
    std::optional<std::string> key;
    std::optional<std::string> value;
    std::vector<std::string> headers;  // of the record
    std::string problem;
    std::uint64_t origin_offset = kNever;
    std::uint32_t attempts = 0;
    DeadLetterReason reason = DeadLetterReason::limit;
    std::string first_error;
    std::string last_error;
    std::optional<std::int64_t> timestamp_ns;
    std::int64_t written_ns = 0;
    bool value_lost = false;
};

std::optional<std::string> text(const OptionalBytes& bytes) {
    if (!bytes)
        return std::nullopt;
    return std::string(as_text(*bytes));
}

Letter read(const ConsumerRecord& record) {
    Letter letter;
    letter.offset = record.offset;
    letter.key = text(record.key);
    letter.value = text(record.value);
    letter.written_ns = record.timestamp_ns;
    for (const Header& header : record.headers) {
        if (!header.name.starts_with(kDeadLetterHeaderPrefix))
            letter.headers.push_back(std::string(header.name) + "=" + text(header.value).value_or("null"));
    }
    const DecodedLetter decoded = decode_dead_letter(record);
    letter.problem = decoded.problem;
    if (!decoded.letter)
        return letter;
    letter.origin_offset = decoded.letter->offset;
    letter.attempts = decoded.letter->attempts;
    letter.reason = decoded.letter->reason;
    letter.first_error = decoded.letter->first_error;
    letter.last_error = decoded.letter->last_error;
    letter.timestamp_ns = decoded.letter->timestamp_ns;
    letter.value_lost = decoded.letter->value_lost;
    return letter;
}

struct Place : test::TestBroker {
    explicit Place(std::uint32_t partitions = 1, TopicOptions options = small()) {
        options.partitions = partitions;
        broker.create_topic("orders", options);
        letters = provide_dead_letter_topic(broker.impl(), *origin(), "billing", "");
    }
    static TopicOptions small() {
        TopicOptions options;
        options.records = 64;
        options.producer_slots = 2;
        options.cell_bytes = 64;
        options.payload_bytes = 1 << 16;
        return options;
    }

    [[nodiscard]] std::shared_ptr<const TopicFiles> origin() const { return broker.impl()->open_topic("orders"); }

    std::uint64_t publish(ProducerRecord record) {
        Producer producer(broker, "orders");
        if (!record.partition)
            record.partition = 0;
        const PublishResult result = producer.try_publish(record);
        REQUIRE(result.status == Status::ok);
        return result.offset;
    }
    std::uint64_t publish(std::string_view value) { return publish(ProducerRecord{.value = as_bytes(value)}); }

    [[nodiscard]] std::vector<Letter> read_letters() const {
        Consumer consumer(broker);
        consumer.assign("orders.dlq");
        std::vector<Letter> all;
        for (;;) {
            const PollResult result = consumer.poll();
            REQUIRE(result.status == Status::ok);
            if (result.records.empty())
                return all;
            for (const ConsumerRecord& record : result.records)
                all.push_back(read(record));
        }
    }
    /// Everything that is there is settled.
    void purge() {
        GroupAdmin admin(broker);
        admin.execute(admin.plan("orders.dlq", kDeadLettersGroup, ResetTarget::latest()), true);
    }

    DeadLetterTopic letters;
};

/// A worker's hands: its logs, and that of the first partition.
struct Writer {
    explicit Writer(const Place& place, std::uint32_t partition = 0)
        : cursor(place.origin(), partition),
          logs(place.broker.impl(), place.origin(), "billing", place.letters),
          log(logs, partition, cursor.reader()) {}

    Sent send(std::uint64_t offset, std::uint32_t deliveries = 5, LetterReason reason = LetterReason::limit) {
        const LetterOf letter{offset, deliveries, reason};
        if (log.prepare(letter) != Status::ok)
            return Sent::refused;
        const LetterTicket ticket = log.take_ticket();
        return ticket.status == Status::ok ? log.commit_at(ticket.offset, letter) : Sent::refused;
    }
    std::uint64_t take() {
        const LetterTicket ticket = log.take_ticket();
        REQUIRE(ticket.status == Status::ok);
        return ticket.offset;
    }

    PartitionCursor cursor;
    DeadLetterLogs logs;
    DeadLetterLog log;
};

}  // namespace

TEST_CASE("A letter has the record's key, value and headers, and says where it was and why it is here") {
    Place place;
    const std::array headers = {Header{"trace", as_bytes("1")}, Header{"ringmain-dlq-attempts", as_bytes("999")},
                                Header{"empty", Bytes{}}, Header{"null", std::nullopt}, Header{"trace", as_bytes("2")}};
    ProducerRecord record{.value = as_bytes(std::string_view("a\0b", 3)), .key = as_bytes("k"), .headers = headers};
    record.timestamp_ns = 77;
    (void)place.publish("before");
    const std::uint64_t offset = place.publish(record);

    Writer writer(place);
    writer.log.set_errors(offset, "no account", "still no account");
    CHECK(writer.send(offset, 5, LetterReason::rejected) == Sent::committed);

    const std::vector<Letter> letters = place.read_letters();
    REQUIRE(letters.size() == 1);
    const Letter& letter = letters.front();
    CHECK(letter.problem.empty());
    CHECK(letter.key == "k");
    CHECK(letter.value == std::string("a\0b", 3));
    CHECK(letter.headers == std::vector<std::string>{"trace=1", "empty=", "null=null", "trace=2"});
    CHECK(letter.origin_offset == offset);
    CHECK(letter.attempts == 5);  // what the record said itself is not believed
    CHECK(letter.reason == DeadLetterReason::rejected);
    CHECK(letter.first_error == "no account");
    CHECK(letter.last_error == "still no account");
    CHECK(letter.timestamp_ns == 77);
    CHECK(letter.written_ns > 77);
    CHECK_FALSE(letter.value_lost);
}

TEST_CASE("Null and empty keys and values stay what they are in a letter") {
    Place place;
    const std::uint64_t nulls = place.publish(ProducerRecord{});
    const std::uint64_t empties = place.publish(ProducerRecord{.value = Bytes{}, .key = Bytes{}});
    Writer writer(place);
    CHECK(writer.send(nulls) == Sent::committed);
    CHECK(writer.send(empties) == Sent::committed);
    const auto letters = place.read_letters();
    REQUIRE(letters.size() == 2);
    CHECK_FALSE(letters[0].key);
    CHECK_FALSE(letters[0].value);
    CHECK(letters[1].key == "");
    CHECK(letters[1].value == "");
}

TEST_CASE("The stamp of a named producer does not get into a letter") {
    Place place;
    Producer producer(place.broker, "orders", {.name = "importer"});
    ProducerRecord record{.value = as_bytes("v")};
    record.sequence = 9;
    REQUIRE(producer.publish(record).status == Status::ok);
    Writer writer(place);
    CHECK(writer.send(0) == Sent::committed);
    Consumer consumer(place.broker);
    consumer.assign("orders.dlq");
    const PollResult result = consumer.poll();
    REQUIRE(result.records.size() == 1);
    CHECK_FALSE(result.records.front().stamp());
    CHECK(text(result.records.front().value) == "v");
}

TEST_CASE("The largest record with the longest texts fits a letter") {
    Place place;
    const std::uint64_t largest = place.broker.describe_topic("orders").record_bytes_max;
    const std::string value(largest, 'v');
    const std::uint64_t offset = place.publish(value);
    const std::string long_text(10'000, 'e');
    Writer writer(place);
    writer.log.set_errors(offset, long_text, long_text);
    CHECK(writer.send(offset) == Sent::committed);
    const auto letters = place.read_letters();
    REQUIRE(letters.size() == 1);
    CHECK(letters.front().value == value);
    CHECK(letters.front().last_error.size() == kDeadLetterErrorBytesMax);
}

TEST_CASE("Texts of errors go into the letter of their record and into no other") {
    Place place;
    for (int i = 0; i < 3; ++i)
        (void)place.publish("v");
    Writer writer(place);
    writer.log.set_errors(1, "first", "last");
    CHECK(writer.send(0) == Sent::committed);
    CHECK(writer.send(1) == Sent::committed);
    CHECK(writer.send(1) == Sent::committed);  // told once
    const auto letters = place.read_letters();
    REQUIRE(letters.size() == 3);
    CHECK(letters[0].last_error.empty());
    CHECK(letters[1].first_error == "first");
    CHECK(letters[1].last_error == "last");
    CHECK(letters[2].last_error.empty());
}

TEST_CASE("A record that retention has taken leaves a letter that says so") {
    Place place;
    for (int i = 0; i < 200; ++i)
        (void)place.publish("v");
    Writer writer(place);
    CHECK(writer.send(3, 2, LetterReason::died) == Sent::committed);
    const auto letters = place.read_letters();
    REQUIRE(letters.size() == 1);
    CHECK(letters.front().problem.empty());
    CHECK(letters.front().value_lost);
    CHECK_FALSE(letters.front().value);
    CHECK_FALSE(letters.front().key);
    CHECK_FALSE(letters.front().timestamp_ns);
    CHECK(letters.front().origin_offset == 3);
    CHECK(letters.front().reason == DeadLetterReason::worker_died);
}

TEST_CASE("Letters of all partitions go to the partition of their number, modulo those that there are") {
    Place place(5);
    TopicOptions options = dead_letter_topic_options("orders", Place::small());
    options.partitions = 3;
    place.broker.create_topic("three", options);
    place.letters = provide_dead_letter_topic(place.broker.impl(), *place.origin(), "billing", "three");
    for (std::uint32_t p = 0; p < 5; ++p) {
        ProducerRecord record{.value = as_bytes("v")};
        record.partition = p;
        (void)place.publish(record);
        CHECK(Writer(place, p).send(0) == Sent::committed);
    }
    Consumer consumer(place.broker);
    consumer.assign("three");
    std::vector<std::uint32_t> from(5, 99);
    for (PollResult result = consumer.poll(); !result.records.empty(); result = consumer.poll()) {
        for (const ConsumerRecord& record : result.records)
            from[decode_dead_letter(record).letter.value().partition] = record.partition;
    }
    CHECK(from == std::vector<std::uint32_t>{0, 1, 2, 0, 1});
}

TEST_CASE("A ticket that somebody else closes holds no letter, ever") {
    Place place;
    (void)place.publish("v");
    Writer writer(place);
    Writer other(place);
    const LetterOf letter{0, 5, LetterReason::limit};
    SECTION("before the letter was put together") {
        const std::uint64_t ticket = writer.take();
        CHECK(other.log.close(ticket) == Decision::closed);
        CHECK(writer.log.commit_at(ticket, letter) == Sent::closed);
        CHECK(other.log.close(ticket) == Decision::closed);
    }
    SECTION("after it") {
        REQUIRE(writer.log.prepare(letter) == Status::ok);
        const std::uint64_t ticket = writer.take();
        CHECK(other.log.close(ticket) == Decision::closed);
        CHECK(writer.log.commit_at(ticket, letter) == Sent::closed);
    }
    CHECK(place.read_letters().empty());
    CHECK(writer.send(0) == Sent::committed);
    CHECK(place.read_letters().size() == 1);
}

TEST_CASE("Closing finds a letter that is committed") {
    Place place;
    (void)place.publish("v");
    Writer writer(place);
    const std::uint64_t ticket = writer.take();
    CHECK(writer.log.commit_at(ticket, {0, 5, LetterReason::limit}) == Sent::committed);
    Writer other(place);
    CHECK(other.log.close(ticket) == Decision::committed);
    CHECK(place.read_letters().size() == 1);
}

TEST_CASE("A ticket that is given up holds no letter") {
    Place place;
    (void)place.publish("v");
    Writer writer(place);
    REQUIRE(writer.log.prepare({0, 5, LetterReason::limit}) == Status::ok);
    const std::uint64_t ticket = writer.take();
    writer.log.give_up(ticket);
    CHECK(Writer(place).log.close(ticket) == Decision::closed);
    CHECK(writer.send(0) == Sent::committed);
    const auto letters = place.read_letters();
    REQUIRE(letters.size() == 1);
    CHECK(letters.front().offset == ticket + 1);
}

TEST_CASE("Tickets that the log never gave out are not closed") {
    Place place;
    TopicOptions options = dead_letter_topic_options("orders", Place::small());
    options.first_offset = 1'000;
    place.broker.create_topic("later", options);
    place.letters = provide_dead_letter_topic(place.broker.impl(), *place.origin(), "billing", "later");
    (void)place.publish("v");
    Writer writer(place);
    for (const std::uint64_t ticket :
         {std::uint64_t{0}, std::uint64_t{999}, std::uint64_t{1'000}, work_table::kTicketMax})
        CHECK(writer.log.close(ticket) == Decision::impossible);
    CHECK(writer.send(0) == Sent::committed);
    CHECK(writer.log.close(1'000) == Decision::committed);
    CHECK(writer.log.close(1'001) == Decision::impossible);
}

TEST_CASE("Large letters whose tickets are closed, or that find no ticket, use nothing up") {
    Place place;
    const std::string value(place.broker.describe_topic("orders").record_bytes_max, 'v');
    (void)place.publish(value);
    Writer writer(place);
    Writer other(place);
    const LetterOf letter{0, 5, LetterReason::limit};
    for (int i = 0; i < 30; ++i) {  // fewer tickets than make the topic full
        REQUIRE(writer.log.prepare(letter) == Status::ok);
        REQUIRE(writer.log.prepare(letter) == Status::ok);  // the other one is dropped
        const std::uint64_t ticket = writer.take();
        if (i % 2 == 0) {
            REQUIRE(other.log.close(ticket) == Decision::closed);
            REQUIRE(writer.log.commit_at(ticket, letter) == Sent::closed);
        } else {
            writer.log.give_up(ticket);
        }
    }
    const auto partition = place.broker.describe_topic("orders.dlq").partitions.front();
    CHECK(partition.extents_sealed == 0);
    CHECK(partition.extents_owned == 1);
    CHECK(writer.send(0) == Sent::committed);
}

TEST_CASE("A full dead-letter topic refuses, keeps what it has, and takes letters again once there is room") {
    Place place;
    (void)place.publish("v");
    Writer writer(place);
    std::size_t sent = 0;
    while (writer.send(0) == Sent::committed)
        ++sent;
    CHECK(sent >= 48);
    CHECK(writer.log.take_ticket().status == Status::would_block);
    CHECK(writer.log.usable());
    CHECK(place.read_letters().size() == sent);
    place.purge();
    CHECK(writer.send(0) == Sent::committed);
}

TEST_CASE("A dead-letter topic without memory for a letter refuses it and gives the ticket up") {
    Place place;
    const std::string value(place.broker.describe_topic("orders").record_bytes_max, 'v');
    (void)place.publish(value);
    Writer writer(place);
    const LetterOf letter{0, 5, LetterReason::limit};
    while (writer.log.prepare(letter) == Status::ok) {
        const std::uint64_t ticket = writer.take();
        REQUIRE(writer.log.commit_at(ticket, letter) == Sent::committed);
    }
    CHECK(writer.log.prepare(letter) == Status::would_block);
    const std::uint64_t ticket = writer.take();
    CHECK(writer.log.commit_at(ticket, letter) == Sent::refused);
    CHECK(writer.log.close(ticket) == Decision::closed);
    place.purge();
    CHECK(writer.send(0) == Sent::committed);
}

TEST_CASE("A dead-letter topic whose producer slots are all taken refuses until one is free") {
    Place place;
    (void)place.publish("v");
    std::vector<std::unique_ptr<Writer>> writers;
    for (;;) {
        writers.push_back(std::make_unique<Writer>(place));
        if (writers.back()->send(0) != Sent::committed)
            break;
    }
    CHECK(writers.size() == 5);  // 4 slots
    CHECK(writers.back()->log.take_ticket().status == Status::cannot_attach);
    writers.front()->logs.rest();
    CHECK(writers.back()->send(0) == Sent::committed);
    CHECK(writers.front()->log.close(0) == Decision::committed);  // who rests can still close
}

TEST_CASE("A dead-letter topic that is held exclusively refuses until it is free") {
    Place place;
    (void)place.publish("v");
    Writer writer(place);
    {
        ProducerOptions exclusive;
        exclusive.exclusive = true;
        const Producer producer(place.broker, "orders.dlq", exclusive);
        CHECK(writer.log.take_ticket().status == Status::cannot_attach);
        CHECK(writer.send(0) == Sent::refused);
        CHECK(writer.log.usable());
    }
    CHECK(writer.send(0) == Sent::committed);
}

TEST_CASE("A deleted dead-letter topic is unusable for ever, also when it is made anew") {
    Place place;
    (void)place.publish("v");
    Writer writer(place);
    Writer late(place);
    CHECK(writer.send(0) == Sent::committed);
    place.broker.delete_topic("orders.dlq");
    const auto check_unusable = [&] {
        for (Writer* one : {&writer, &late}) {
            CHECK_FALSE(one->log.usable());
            CHECK(one->send(0) == Sent::refused);
        }
        Writer joins(place);
        CHECK_FALSE(joins.log.usable());
        CHECK(joins.log.take_ticket().status == Status::topic_deleted);
        CHECK(joins.log.close(0) == Decision::impossible);
    };
    check_unusable();
    const DeadLetterTopic anew = provide_dead_letter_topic(place.broker.impl(), *place.origin(), "billing", "");
    check_unusable();
    place.letters = anew;
    CHECK(Writer(place).send(0) == Sent::committed);
    CHECK(place.read_letters().size() == 1);
}

TEST_CASE("Letters wake whoever waits for them") {
    Place place;
    (void)place.publish("v");
    Consumer consumer(place.broker);
    consumer.assign("orders.dlq");
    std::thread sends([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        Writer writer(place);
        (void)writer.send(0);
    });
    const PollResult result = consumer.poll(1, std::chrono::seconds(30));
    CHECK(result.records.size() == 1);
    sends.join();
}
