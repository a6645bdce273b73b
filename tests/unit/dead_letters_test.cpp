// Dead letters through the public class: what there is, replaying and purging some, and what stays.
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "group_member.hpp"
#include "layout/letters.hpp"
#include "letters_file.hpp"
#include "ringmain/dead_letters.hpp"
#include "ringmain/group_admin.hpp"
#include "ringmain/partitioner.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/group_place.hpp"
#include "support/letter_place.hpp"
#include "support/stopped_child.hpp"
#include "topic_paths.hpp"

using namespace ringmain;
using test::contains;
using test::LetterPlace;
using test::thrown_by;
using Values = std::vector<std::string>;
using Counts = std::map<std::string, int>;

namespace {

const std::string kLetters = "orders.dlq";

LetterFilter of_group(const std::string& group) {
    LetterFilter filter;
    filter.group = group;
    return filter;
}

std::uint64_t committed(const Broker& broker, std::uint32_t partition = 0) {
    return GroupAdmin(broker).describe(kLetters, kDeadLettersGroup).partitions.at(partition).lag.position;
}

std::uint64_t log_end(const Broker& broker, const std::string& topic, std::uint32_t partition = 0) {
    return broker.describe_topic(topic).partitions.at(partition).log_end;
}

}  // namespace

TEST_CASE("Dead letters are summed up by topic and group") {
    LetterPlace place(2);
    place.send("a");
    place.send("b", "billing", "x");
    place.send({.value = as_bytes("c"), .partition = 1}, "mailing", "y", work_table::LetterReason::rejected);
    place.publish(kLetters, {.value = as_bytes("foreign")});

    const DeadLetterSummary summary = DeadLetters(place.broker).summarize(kLetters);
    CHECK(summary.topic == kLetters);
    CHECK(summary.letters == 3);
    CHECK(summary.others == 1);
    CHECK(summary.bytes > 500);
    CHECK(summary.oldest_ns > 0);
    CHECK(summary.newest_ns >= summary.oldest_ns);
    CHECK(summary.lost == 0);
    CHECK(summary.room > 0);
    CHECK(summary.room < 62);
    REQUIRE(summary.groups.size() == 2);
    CHECK(summary.groups[0].topic == "orders");
    CHECK(summary.groups[0].group == "billing");
    CHECK(summary.groups[0].letters == 2);
    CHECK(summary.groups[0].by_reason == std::array<std::uint64_t, 4>{2, 0, 0, 0});
    CHECK(summary.groups[1].group == "mailing");
    CHECK(summary.groups[1].by_reason == std::array<std::uint64_t, 4>{0, 1, 0, 0});
    CHECK(DeadLetters(place.broker).count(kLetters) == 4);
}

TEST_CASE("Dead-letter topics are found from where their letters come from") {
    LetterPlace place;
    place.broker.create_topic("plain", LetterPlace::small());
    DeadLetters letters(place.broker);
    CHECK(letters.topics_of() == Values{kLetters});
    CHECK(letters.topics_of("orders") == Values{kLetters});
    CHECK(letters.topics_of(kLetters) == Values{kLetters});
    CHECK(letters.topics_of("plain").empty());
    CHECK(thrown_by([&] { return letters.topics_of("none"); }).code == ErrorCode::not_found);
    (void)provide_dead_letter_topic(place.broker.impl(), *place.open("orders"), "mailing", "mail-letters");
    CHECK(letters.topics_of() == Values{"mail-letters", kLetters});
    std::filesystem::resize_file(meta_path(place.open("mail-letters")->directory()), 0);
    std::filesystem::resize_file(meta_path(place.open("plain")->directory()), 0);
    CHECK(letters.topics_of() == Values{"mail-letters", kLetters, "plain"});  // what "plain" was nobody can say
    CHECK(letters.summarize(kLetters).letters == 0);
    CHECK(thrown_by([&] { return letters.summarize("mail-letters"); }).code == ErrorCode::corrupt);
    CHECK(thrown_by([&] { return letters.topics_of("plain"); }).code == ErrorCode::corrupt);
}

TEST_CASE("Letters are read by any filter") {
    LetterPlace place(2);
    place.send({.value = as_bytes("a"), .key = as_bytes("k1"), .partition = 0}, "billing", "no account 7");
    place.send({.value = as_bytes("b"), .partition = 1}, "billing", "time-out", work_table::LetterReason::died);
    place.send({.value = as_bytes("c"), .key = as_bytes(std::string_view("k\0", 2)), .partition = 0}, "mailing",
               "no address");

    CHECK(place.values() == Values{"a", "c", "b"});
    CHECK(place.values(of_group("mailing")) == Values{"c"});
    CHECK(place.values(of_group("nobody")).empty());
    CHECK(place.values({.topic = "orders"}).size() == 3);
    CHECK(place.values({.topic = "order"}).empty());
    CHECK(place.values({.error = "no "}) == Values{"a", "c"});
    CHECK(place.values({.error = "account 7"}) == Values{"a"});
    CHECK(place.values({.reason = DeadLetterReason::worker_died}) == Values{"b"});
    CHECK(place.values({.key = "k1"}) == Values{"a"});
    CHECK(place.values({.key = "k"}).empty());
    CHECK(place.values({.key = std::string("k\0", 2)}) == Values{"c"});
    CHECK(place.values({.partition = 0}) == Values{"a", "c"});
    CHECK(place.values({.offset = 0}) == Values{"a", "b"});
    CHECK(place.values({.partition = 0, .offset = 1}) == Values{"c"});
    CHECK(place.values({.group = "billing", .partition = 1}) == Values{"b"});

    std::vector<std::int64_t> times;
    DeadLetters(place.broker).read(kLetters, {}, [&](const ConsumerRecord& record, const DecodedLetter&) {
        times.push_back(record.timestamp_ns);
        return true;
    });
    REQUIRE(times.size() == 3);
    CHECK(place.values({.since_ns = times[2] + 1}) == Values{"c"});
    CHECK(place.values({.until_ns = times[2]}) == Values{"a"});
    CHECK(place.values({.since_ns = times[2], .until_ns = times[2] + 1}) == Values{"b"});

    int visited = 0;
    DeadLetters(place.broker).read(kLetters, {}, [&](const ConsumerRecord&, const DecodedLetter&) {
        return ++visited < 2;
    });
    CHECK(visited == 2);
}

TEST_CASE("Reading dead letters needs no right but to read, and makes nothing") {
    LetterPlace place;
    place.send("a");
    DeadLetters letters(place.broker);
    (void)letters.summarize(kLetters);
    (void)letters.count(kLetters);
    (void)letters.replay(kLetters, {}, {.dry_run = true});
    (void)letters.purge(kLetters, {}, true);
    CHECK_FALSE(std::filesystem::exists(letters_path(place.open(kLetters)->directory())));
    CHECK(place.values() == Values{"a"});
    CHECK(log_end(place.broker, "orders") == 1);
}

TEST_CASE("A replayed letter is the record once more, where it was, with attempts that begin anew") {
    LetterPlace place(2);
    const std::array headers = {Header{"trace", as_bytes("1")}, Header{"null", std::nullopt}};
    ProducerRecord record{.value = as_bytes("v"), .key = as_bytes("k"), .headers = headers, .partition = 1};
    record.timestamp_ns = 77;
    place.send(record);

    const LettersReplayed done = DeadLetters(place.broker).replay(kLetters, {});
    CHECK(done.matched == 1);
    CHECK(done.replayed == 1);
    CHECK_FALSE(done.stopped);
    CHECK(done.why.empty());
    CHECK(place.values().empty());
    CHECK(committed(place.broker, 1) == 1);

    Consumer consumer(place.broker);
    consumer.assign("orders", 1, Position::at(1));
    const PollResult result = consumer.poll();
    REQUIRE(result.records.size() == 1);
    const ConsumerRecord& again = result.records.front();
    CHECK(text_or(again.key, "null") == "k");
    CHECK(text_or(again.value, "null") == "v");
    CHECK(again.timestamp_ns > 77);
    Values names;
    for (const Header& header : again.headers)
        names.push_back(std::string(header.name) + "=" + std::string(text_or(header.value, "null")));
    CHECK(names ==
          Values{"trace=1", "null=null", "ringmain-replayed-from=orders/1/0", "ringmain-replayed-timestamp-ns=77"});
    CHECK(again.stamp().has_value());
}

TEST_CASE("Each letter is replayed once, in any order of filters; what was not selected stays") {
    LetterPlace place;
    for (const char* value : {"a", "b", "c", "d", "e", "f"})
        place.send(value, std::string(1, value[0] % 2 == 0 ? 'x' : 'y'));
    DeadLetters letters(place.broker);

    CHECK(letters.replay(kLetters, {.offset = 4}).replayed == 1);  // "e", before all others
    CHECK(letters.replay(kLetters, of_group("x")).replayed == 3);  // b, d, f
    CHECK(place.values() == Values{"a", "c"});
    CHECK(committed(place.broker) == 0);  // "a" holds it
    CHECK(letters.replay(kLetters, of_group("x")).matched == 0);
    CHECK(letters.replay(kLetters, {.offset = 4}).matched == 0);
    CHECK(letters.purge(kLetters, {.offset = 0}).purged == 1);
    CHECK(committed(place.broker) == 2);  // "c"
    CHECK(letters.replay(kLetters, {}).replayed == 1);
    CHECK(committed(place.broker) == 6);
    CHECK(place.replayed_values() == Counts{{"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}});

    const DeadLetterSummary summary = letters.summarize(kLetters);
    CHECK(summary.letters == 0);
    CHECK(summary.replayed == 5);
    CHECK(summary.purged == 1);
}

TEST_CASE("Letters stay settled over many laps of the dead-letter topic") {
    LetterPlace place;
    DeadLetters letters(place.broker);
    std::uint64_t replayed = 0;
    for (int round = 0; round < 40; ++round) {
        for (int i = 0; i < 10; ++i)
            place.send("v" + std::to_string(round * 10 + i), i % 3 == 0 ? "x" : "y");
        const std::size_t waiting = place.values(of_group("x")).size();
        CHECK(waiting == 4);
        replayed += letters.replay(kLetters, of_group("x")).replayed;
        CHECK(letters.purge(kLetters, of_group("y")).purged == 6);
        CHECK(place.values().empty());
    }
    CHECK(replayed == 160);
    CHECK(log_end(place.broker, kLetters) == 400);
    CHECK(committed(place.broker) == 400);
}

TEST_CASE("A dry run counts what a replay or purge would do, and does nothing") {
    LetterPlace place;
    place.send("a");
    place.send("b", "mailing");
    DeadLetters letters(place.broker);
    const LettersReplayed would = letters.replay(kLetters, of_group("mailing"), {.dry_run = true});
    CHECK(would.matched == 1);
    CHECK(would.replayed == 1);
    const LettersPurged would_purge = letters.purge(kLetters, {}, true);
    CHECK(would_purge.matched == 2);
    CHECK(would_purge.purged == 0);
    CHECK(place.values() == Values{"a", "b"});
    CHECK(place.replayed_values().empty());
}

TEST_CASE("Letters go to another topic by key, and without one by their partition") {
    LetterPlace place(4);
    TopicOptions options = LetterPlace::small();
    options.partitions = 3;
    place.broker.create_topic("repaired", options);
    for (std::uint32_t p = 0; p < 4; ++p) {
        place.send({.value = as_bytes("keyed"), .key = as_bytes("foobar"), .partition = p});
        place.send({.value = as_bytes("plain"), .partition = p});
    }
    CHECK(DeadLetters(place.broker).replay(kLetters, {}, {.to = "repaired"}).replayed == 8);
    Consumer consumer(place.broker);
    consumer.assign("repaired");
    std::array<int, 3> plain{};
    for (PollResult result = consumer.poll(); !result.records.empty(); result = consumer.poll()) {
        for (const ConsumerRecord& record : result.records) {
            if (record.key)
                CHECK(record.partition == partition_for_key(as_bytes("foobar"), 3));
            if (!record.key)
                ++plain.at(record.partition);
        }
    }
    CHECK(plain == std::array<int, 3>{2, 1, 1});
    CHECK(place.replayed_values().empty());
    CHECK(place.values().empty());
}

TEST_CASE("Letters are not replayed to their own topic, nor to one that is not there") {
    LetterPlace place;
    place.send("a");
    DeadLetters letters(place.broker);
    CHECK(thrown_by([&] { return letters.replay(kLetters, {}, {.to = kLetters}); }).code ==
          ErrorCode::invalid_argument);
    CHECK(thrown_by([&] { return letters.replay(kLetters, {}, {.to = "none"}); }).code == ErrorCode::not_found);
    CHECK(thrown_by([&] { return letters.replay("none", {}); }).code == ErrorCode::not_found);
    CHECK(place.values() == Values{"a"});
}

TEST_CASE("Letters of a topic that is gone, or another one by now, stay until somebody says where they go") {
    LetterPlace place;
    place.send("a");
    place.broker.delete_topic("orders");
    DeadLetters letters(place.broker);
    LettersReplayed done = letters.replay(kLetters, {});
    CHECK(done.matched == 1);
    CHECK(done.topic_gone == 1);
    CHECK_THAT(done.why, contains("offset 0 of topic 'orders.dlq' partition 0") && contains("'orders' not found"));
    place.broker.create_topic("orders", LetterPlace::small());
    done = letters.replay(kLetters, {});
    CHECK(done.topic_gone == 1);
    CHECK_THAT(done.why, contains("another topic 'orders'"));
    CHECK(place.values() == Values{"a"});
    CHECK(letters.replay(kLetters, {}, {.to = "orders"}).replayed == 1);
    CHECK(place.replayed_values() == Counts{{"a", 1}});
}

TEST_CASE("What is no letter, or has lost its record, is not replayed, and can be purged") {
    LetterPlace place;
    for (int i = 0; i < 100; ++i)
        place.publish("orders", {.value = as_bytes("v")});
    place.write("orders", 0, {3, 1, work_table::LetterReason::died});
    place.publish(kLetters, {.value = as_bytes("foreign")});
    const std::array headers = {Header{kDeadLetterTopic, as_bytes("orders")}, Header{kDeadLetterOffset, as_bytes("x")}};
    place.publish(kLetters, {.value = as_bytes("garbled"), .headers = headers});

    DeadLetters letters(place.broker);
    const LettersReplayed done = letters.replay(kLetters, {});
    CHECK(done.matched == 3);
    CHECK(done.replayed == 0);
    CHECK(done.value_lost == 1);
    CHECK(done.no_letters == 2);
    CHECK_THAT(done.why, contains("offset 0") && contains("lost its record"));
    CHECK(letters.summarize(kLetters).others == 2);
    CHECK(letters.purge(kLetters, of_group("billing")).purged == 1);
    CHECK(place.values() == Values{"foreign", "garbled"});
    CHECK(letters.purge(kLetters, {}).purged == 2);
    CHECK(place.values().empty());
    CHECK(committed(place.broker) == 3);
}

TEST_CASE("A record that fills its topic's records is replayed without a word of where it was, or not at all") {
    LetterPlace place;
    const std::uint64_t largest = place.broker.describe_topic("orders").record_bytes_max;
    place.send(std::string(largest - 16, 'a'));  // room for the stamp alone
    place.send(std::string(largest, 'b'));
    DeadLetters letters(place.broker);
    const LettersReplayed done = letters.replay(kLetters, {});
    CHECK(done.replayed == 1);
    CHECK(done.too_large == 1);
    CHECK_THAT(done.why,
               contains("offset 1") && contains(std::to_string(largest + 16)) && contains(std::to_string(largest)));
    CHECK(log_end(place.broker, "orders") == 3);
    CHECK(place.values().size() == 1);
    TopicOptions larger = LetterPlace::small();
    larger.payload_bytes *= 2;
    place.broker.create_topic("larger", larger);
    CHECK(letters.replay(kLetters, {}, {.to = "larger"}).replayed == 1);
}

TEST_CASE("A replay stops at a full topic, keeps the rest, and goes on when there is room") {
    TopicOptions options = LetterPlace::small();
    options.when_full = WhenFull::block;
    LetterPlace place(1, options);
    Consumer holder(place.broker);
    holder.assign("orders");
    for (int i = 0; i < 30; ++i)
        place.send("v" + std::to_string(i));
    holder.hold_gates("holder");
    while (Producer(place.broker, "orders").try_publish({.value = as_bytes("x")}).status == Status::ok) {
    }
    DeadLetters letters(place.broker);
    LettersReplayed done = letters.replay(kLetters, {}, {.timeout = std::chrono::milliseconds(1)});
    CHECK(done.stopped);
    CHECK(done.replayed == 0);
    CHECK(done.refused == 1);
    CHECK_THAT(done.why, contains("'orders' is full"));
    CHECK(place.values().size() == 30);
    holder.drop_gates();
    done = letters.replay(kLetters, {}, {.timeout = std::chrono::milliseconds(1)});
    CHECK_FALSE(done.stopped);
    CHECK(done.replayed == 30);
    CHECK(letters.count(kLetters) == 0);
}

TEST_CASE("A replay or purge ends when it is asked to") {
    LetterPlace place;
    for (const char* value : {"a", "b", "c"})
        place.send(value);
    DeadLetters letters(place.broker);
    int asked = 0;
    const LettersReplayed done = letters.replay(kLetters, {}, {.stop = [&] { return ++asked == 2; }});
    CHECK(done.stopped);
    CHECK(done.replayed == 1);
    CHECK(place.values() == Values{"b", "c"});
    asked = 0;
    const LettersPurged purged = letters.purge(kLetters, {}, false, [&] { return ++asked == 2; });
    CHECK(purged.stopped);
    CHECK(purged.purged == 1);
    CHECK(place.values() == Values{"c"});
}

TEST_CASE("A topic that cannot be written keeps its letters, and those of others go on") {
    LetterPlace place;
    place.send("a");
    place.broker.create_topic("other", LetterPlace::small());
    (void)provide_dead_letter_topic(place.broker.impl(), *place.open("other"), "billing", kLetters);
    place.publish("other", {.value = as_bytes("o")});
    place.write("other", 0, {0, 1, work_table::LetterReason::limit});
    ProducerOptions exclusive;
    exclusive.exclusive = true;
    std::optional<Producer> holder(std::in_place, place.broker, "orders", exclusive);
    DeadLetters letters(place.broker);
    LettersReplayed done = letters.replay(kLetters, {});
    CHECK(done.replayed == 1);
    CHECK(done.refused == 1);
    CHECK_THAT(done.why, contains("held exclusively"));
    CHECK(place.values() == Values{"a"});
    holder.reset();
    CHECK(letters.replay(kLetters, {}).replayed == 1);
    CHECK(place.replayed_values() == Counts{{"a", 1}});
}

TEST_CASE("One process at a time has the letters of a topic in hand; one that is stopped is not passed over") {
    LetterPlace place;
    place.send("a");
    test::StoppedChild child([&](const std::function<void()>& stop) {
        const Broker own(place.scratch.broker());
        (void)DeadLetters(own).replay(kLetters, {}, {.stop = [&] {
                                          stop();
                                          return false;
                                      }});
    });
    DeadLetters letters(place.broker);
    const auto refused = thrown_by([&] { return letters.replay(kLetters, {}); });
    CHECK(refused.code == ErrorCode::busy);
    CHECK_THAT(refused.text, contains(kLetters) && contains("pid " + std::to_string(child.pid())));
    CHECK(thrown_by([&] { return letters.purge(kLetters, {}); }).code == ErrorCode::busy);
    CHECK(place.values() == Values{"a"});  // reading is nobody's alone
    CHECK(letters.replay(kLetters, {}, {.dry_run = true}).matched == 1);
    child.kill();
    CHECK(letters.replay(kLetters, {}).replayed == 1);
    CHECK(place.replayed_values() == Counts{{"a", 1}});
}

TEST_CASE("Letters are settled by nobody while the group that keeps them has members") {
    LetterPlace place;
    place.send("a");
    {
        const GroupOptions options = test::group(std::string(kDeadLettersGroup));  // which users cannot join
        GroupMember::Nobody nobody;
        GroupMember member(place.broker.impl(), place.open(kLetters), options, GroupMember::Role::member, nobody);
        const auto refused = thrown_by([&] { return DeadLetters(place.broker).replay(kLetters, {}); });
        CHECK(refused.code == ErrorCode::busy);
        CHECK_THAT(refused.text, contains("ringmain.dlq") && contains("1 members"));
        member.leave(false);
    }
    CHECK(DeadLetters(place.broker).replay(kLetters, {}).replayed == 1);
}

TEST_CASE("A ticket of the dead-letter topic that stays open does not keep what is settled behind it") {
    LetterPlace place;
    const PartitionCursor cursor(place.open("orders"), 0);
    DeadLetterLogs logs(place.broker.impl(), place.open("orders"), "billing", place.letters);
    DeadLetterLog log(logs, 0, cursor.reader());
    REQUIRE(log.take_ticket().status == Status::ok);
    place.send("a");
    CHECK(DeadLetters(place.broker).replay(kLetters, {}).replayed == 1);
    CHECK(committed(place.broker) == 2);
}

TEST_CASE("Letters that a topic overwrote are counted as lost") {
    LetterPlace place;
    TopicOptions options = dead_letter_topic_options("orders", LetterPlace::small());
    options.when_full = WhenFull::overwrite;
    options.retention = {};
    place.broker.create_topic("ring", options);
    place.letters = provide_dead_letter_topic(place.broker.impl(), *place.open("orders"), "billing", "ring");
    DeadLetters letters(place.broker);
    place.send("first");
    CHECK(letters.replay("ring", {}).replayed == 1);
    for (int i = 0; i < 100; ++i)
        place.send("v" + std::to_string(i));
    const DeadLetterSummary summary = letters.summarize("ring");
    CHECK(summary.when_full == WhenFull::overwrite);
    CHECK(summary.letters + summary.lost == 100);
    CHECK(summary.lost >= 36);
    CHECK(letters.purge("ring", {}).purged == summary.letters);
    CHECK(letters.count("ring") == 0);
}

TEST_CASE("A dead-letter topic that is made anew begins with nothing settled") {
    LetterPlace place;
    place.send("a");
    DeadLetters letters(place.broker);
    CHECK(letters.replay(kLetters, {}).replayed == 1);
    place.broker.delete_topic(kLetters);
    place.letters = provide_dead_letter_topic(place.broker.impl(), *place.open("orders"), "billing", "");
    place.send("b");
    CHECK(place.values() == Values{"b"});
    CHECK(letters.replay(kLetters, {}).replayed == 1);
    CHECK(place.replayed_values() == Counts{{"a", 1}, {"b", 1}});
}

TEST_CASE("A letter under way is settled if it was published, and stays if it was not") {
    LetterPlace place;
    place.send("a");
    place.send("b");
    DeadLetters letters(place.broker);
    CHECK(letters.replay(kLetters, {.offset = 0}).replayed == 1);  // sequence 1
    const auto topic = place.open(kLetters);
    const auto leave = [&](std::uint64_t offset, std::uint64_t sequence, const std::string& to, const TopicId& id) {
        LettersFile file = LettersFile::open(*topic, platform::Access::read_write).value();
        file.begin({0, offset, sequence, to, id, 0});
    };
    const TopicId orders = place.open("orders")->id();
    SECTION("published") {
        leave(1, 1, "orders", orders);
        const LettersReplayed done = letters.replay(kLetters, {});
        CHECK(done.found_replayed == 1);
        CHECK(done.matched == 0);
        CHECK(place.values().empty());
        CHECK(committed(place.broker) == 2);
    }
    SECTION("not published") {
        leave(1, 2, "orders", orders);
        const LettersReplayed done = letters.replay(kLetters, {});
        CHECK(done.found_replayed == 0);
        CHECK(done.replayed == 1);
        CHECK(place.replayed_values() == Counts{{"a", 1}, {"b", 1}});
    }
    SECTION("settled, but not taken back") {
        leave(0, 1, "orders", orders);
        const LettersReplayed done = letters.replay(kLetters, {});
        CHECK(done.found_replayed == 0);
        CHECK(done.replayed == 1);
        CHECK(letters.summarize(kLetters).replayed == 2);
    }
    SECTION("to a topic that is gone") {
        leave(1, 1, "gone", orders);
        CHECK(letters.purge(kLetters, {}).purged == 1);
    }
    SECTION("to a topic of that name that is another one") {
        leave(1, 1, "orders", topic->id());
        CHECK(letters.purge(kLetters, {}).purged == 1);
    }
    SECTION("to a topic that cannot be asked") {
        leave(1, 1, "orders", orders);
        ProducerOptions exclusive;
        exclusive.exclusive = true;
        std::optional<Producer> holder(std::in_place, place.broker, "orders", exclusive);
        const auto refused = thrown_by([&] { return letters.purge(kLetters, {}); });
        CHECK(refused.code == ErrorCode::busy);
        CHECK_THAT(refused.text, contains("offset 1 of topic 'orders.dlq'") && contains("topic 'orders'") &&
                                     contains("held exclusively"));
        holder.reset();
        CHECK(letters.replay(kLetters, {}).found_replayed == 1);
    }
    SECTION("and none that can be is damage") {
        leave(5, 1, "orders", orders);
        CHECK(thrown_by([&] { return letters.replay(kLetters, {}); }).code == ErrorCode::corrupt);
        leave(1, 0, "orders", orders);
        CHECK(thrown_by([&] { return letters.replay(kLetters, {}); }).code == ErrorCode::corrupt);
        leave(1, 1, "../orders", orders);
        CHECK(thrown_by([&] { return letters.replay(kLetters, {}); }).code == ErrorCode::corrupt);
    }
}

TEST_CASE("Any bytes in the file of settled letters are good input") {
    LetterPlace place;
    for (const char* value : {"a", "b", "c"})
        place.send(value);
    DeadLetters letters(place.broker);
    CHECK(letters.purge(kLetters, {.offset = 1}).purged == 1);
    const std::filesystem::path path = letters_path(place.open(kLetters)->directory());
    const auto write_at = [&](std::uint64_t at, std::uint64_t word) {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(at));
        file.write(reinterpret_cast<const char*>(&word), sizeof word);
    };
    const auto damage = [&] { return place.broker.verify(kLetters).damage.size(); };
    CHECK(damage() == 0);
    SECTION("words that settle nothing") {
        for (std::uint64_t word : {std::uint64_t{3}, ~std::uint64_t{0}, std::uint64_t{64} << 2 | 1, std::uint64_t{0}}) {
            write_at(layout::kLettersWordsAt, word);
            CHECK(place.values() == Values{"a", "c"});
            CHECK(damage() == (word == 0 ? 0 : 1));
        }
    }
    SECTION("a letter under way that cannot be") {
        write_at(layout::kLettersControlAt + offsetof(layout::LettersControl<platform::HostMemory>, pending), 1);
        CHECK(damage() == 1);
    }
    SECTION("an owner that never was") {
        write_at(layout::kLettersControlAt, 0xffff'ffff'ffff'ffff);
        const auto refused = thrown_by([&] { return letters.purge(kLetters, {}); });
        CHECK((refused.code == ErrorCode::busy || !refused.code));
        CHECK(letters.count(kLetters) <= 2);
    }
    SECTION("a header of another kind") {
        write_at(8, 0);
        CHECK(thrown_by([&] { return letters.count(kLetters); }).code == ErrorCode::version_mismatch);
        CHECK(damage() == 1);
    }
    SECTION("another geometry") {
        write_at(layout::kLettersGeometryAt, 128);
        CHECK(thrown_by([&] { return letters.count(kLetters); }).code == ErrorCode::corrupt);
        CHECK(damage() == 1);
    }
    SECTION("an end before its time") {
        std::filesystem::resize_file(path, 4096);
        CHECK(thrown_by([&] { return letters.count(kLetters); }).code == ErrorCode::corrupt);
        CHECK(damage() == 1);
    }
}

TEST_CASE("Whoever may write a dead-letter topic may write the file of what is settled") {
    LetterPlace place;
    TopicOptions options = LetterPlace::small();
    options.access.mode = 0660;
    place.broker.create_topic("shared", options);
    place.letters = provide_dead_letter_topic(place.broker.impl(), *place.open("shared"), "billing", "");
    CHECK(DeadLetters(place.broker).purge("shared.dlq", {}).purged == 0);
    const auto path = letters_path(place.open("shared.dlq")->directory());
    CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::mask) == std::filesystem::perms(0660));
    for (const auto& entry : std::filesystem::directory_iterator(path.parent_path()))
        CHECK_FALSE(entry.path().filename().string().starts_with("."));
}
