// A daemon whose topics are damaged under it: it lives, says what and where, and keeps the rest.
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "logged_daemon.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/producer.hpp"
#include "running_daemon.hpp"
#include "support/catch.hpp"
#include "topic_paths.hpp"

using namespace ringmain;
using test::contains;
using test::eventually;
using test::LoggedDaemon;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Two topics of two partitions with records and a group; records of `good` expire beyond four.
struct Place {
    LoggedDaemon daemon{"[log]\nlevel = \"debug\"\n"};
    Broker broker{daemon.broker()};
    fs::path bad = topics_path(daemon.broker()) / "bad";

    Place() {
        TopicOptions options = test::small_topic();
        options.partitions = 2;
        broker.create_topic("bad", options);
        options.retention.records = 4;
        broker.create_topic("good", options);
        Producer producer(broker, "bad");
        for (std::uint32_t i = 0; i < 8; ++i)
            REQUIRE(producer.publish({.value = as_bytes("x"), .partition = i % 2}).status == Status::ok);
        Consumer member(broker, GroupOptions{.name = "g"});
        member.subscribe("bad");
        REQUIRE(eventually([&] { return keeper()["partitions"] == 4; }));
        (void)metrics();  // which has everything mapped from now on
    }
    [[nodiscard]] test::ApiReply ask(const std::string& target) const {
        return test::ask(keeper_socket_path(daemon.broker()), "GET", target);
    }
    [[nodiscard]] Json keeper() const { return ask("/v1/keeper").json(); }
    [[nodiscard]] std::string metrics() const { return ask("/metrics").body; }
    /// The other topic is still kept, at this moment.
    [[nodiscard]] bool good_is_kept() {
        Producer producer(broker, "good");
        for (int i = 0; i < 8; ++i)
            (void)producer.publish({.value = as_bytes("x"), .partition = 0});
        return eventually([&] {
            const auto partition = broker.describe_topic("good").partitions[0];
            return partition.log_end - partition.log_start <= 4;
        });
    }
};

}  // namespace

TEST_CASE("A daemon lives when any file of a topic is truncated, names it with its size, and keeps the other topic") {
    const std::string file = GENERATE("0.log", "readers", "groups", "topic.meta");
    const std::uintmax_t size = GENERATE(0, 100);
    INFO(file << " truncated to " << size);
    Place place;
    const fs::path path = place.bad / file;
    const std::uintmax_t needed = fs::file_size(path);
    fs::resize_file(path, size);
    const bool one = file == "0.log";
    const std::string event = one ? "partition_unreadable" : "topic_unreadable";
    REQUIRE(eventually([&] { return !place.daemon.lines(event).empty(); }));
    const Json line = place.daemon.lines(event).at(0);
    CHECK(line["level"] == "error");
    CHECK(line["topic"] == "bad");
    if (one)
        CHECK(line["partition"] == 0);
    CHECK_THAT(line["message"].get<std::string>(),
               contains(path.string()) && contains("has " + std::to_string(size)) && contains(std::to_string(needed)));
    for (int i = 0; i < 3; ++i) {
        const std::string metrics = place.metrics();
        CHECK_THAT(metrics, contains(one ? "ringmain_partition_damaged{topic=\"bad\",partition=\"0\"} 1"
                                         : "ringmain_topics_unreadable 1"));
        CHECK_THAT(metrics, !contains("ringmain_partition_records{topic=\"bad\",partition=\"0\"}"));
        CHECK_THAT(metrics, contains("ringmain_partition_records{topic=\"good\",partition=\"0\"}"));
        if (one)
            CHECK_THAT(metrics, contains("ringmain_partition_records{topic=\"bad\",partition=\"1\"} 4"));
    }
    CHECK(place.keeper()[one ? "unreadable_partitions" : "unreadable_topics"] == 1);
    CHECK(place.ask("/v1/health").json()[one ? "unreadable_partitions" : "unreadable_topics"] == 1);
    CHECK(place.good_is_kept());
    CHECK(place.daemon.lines(event).size() == 1);
    CHECK(place.daemon.end() == 0);
}

TEST_CASE("A daemon lives when the client table is truncated, and says that it keeps nothing") {
    Place place;
    fs::resize_file(clients_path(place.daemon.broker()), 0);
    REQUIRE(eventually([&] { return !place.daemon.lines("keeping_stopped").empty(); }));
    CHECK_THAT(place.daemon.lines("keeping_stopped")[0]["message"].get<std::string>(),
               contains("clients' was truncated: it has 0 bytes, 135168 are needed"));
    CHECK(place.ask("/v1/health").json()["keeping"] == false);
    CHECK_THAT(place.metrics(),
               contains("ringmain_keeper_keeping 0") && contains("ringmain_partition_records{topic=\"good\""));
    CHECK(place.daemon.end() == 0);
}

TEST_CASE("Random bytes in a topic.meta are told as damage, and not as a deletion") {
    Place place;
    std::mt19937_64 random(7);
    std::string bytes(4096, '\0');
    for (char& byte : bytes)
        byte = static_cast<char>(random());
    std::fstream(place.bad / "topic.meta", std::ios::in | std::ios::out | std::ios::binary) << bytes;
    REQUIRE(eventually([&] { return !place.daemon.lines("topic_unreadable").empty(); }));
    CHECK_THAT(place.daemon.lines("topic_unreadable")[0]["message"].get<std::string>(),
               contains("topic.meta' is not a file of Ringmain"));
    CHECK(place.good_is_kept());
    CHECK(place.daemon.lines("topic_gone").empty());
    CHECK(place.daemon.end() == 0);
}

TEST_CASE("A partition that can be used again is told at the level that everybody sees, and is kept") {
    Place place;
    fs::copy_file(place.bad / "0.log", place.bad / "copy");
    fs::resize_file(place.bad / "0.log", 0);
    REQUIRE(eventually([&] { return !place.daemon.lines("partition_unreadable").empty(); }));
    fs::rename(place.bad / "copy", place.bad / "0.log");
    REQUIRE(eventually([&] { return !place.daemon.lines("partition_recovered").empty(); }));
    CHECK(place.daemon.lines("partition_recovered")[0]["level"] == "info");
    CHECK(place.keeper()["partitions"] == 4);
    Producer producer(place.broker, "bad");
    CHECK(producer.publish({.value = as_bytes("x"), .partition = 0}).status == Status::ok);
    CHECK(place.daemon.end() == 0);
}
