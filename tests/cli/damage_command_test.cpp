// What the command does with a topic of which one partition is damaged: it works on the others, and names the file.
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "cli_process.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A topic of three partitions with two records each, and a group that has read one; partition 1 is truncated.
struct Place {
    CliBroker broker;
    fs::path topic = broker.directory() / "topics" / "t";
    fs::path file = topic / "1.log";

    Place() {
        broker.create_topic("t", {"--partitions", "3"});
        for (const char* partition : {"0", "1", "2"})
            REQUIRE(broker.run({"produce", "t", "-p", partition}, "a\nb\n").exit_code == 0);
        REQUIRE(broker.run({"consume", "t", "-g", "billing", "-c", "1"}).exit_code == 0);
    }
    void truncate(std::uintmax_t size = 0) const { fs::resize_file(file, size); }
};

}  // namespace

TEST_CASE("Consuming a topic with a damaged partition prints the others, names the file, and fails in the end") {
    const Place place;
    place.truncate(GENERATE(0, 8192));
    const CliResult result = place.broker.run({"consume", "t", "-e", "-f", "%p%s "});
    CHECK(result.exit_code == 1);
    CHECK(result.output == "0a 0b 2a 2b ");
    CHECK_THAT(result.errors, contains("topic 't' partition 1 is not read: '" + place.file.string() + "'") &&
                                  contains("1 damaged partition could not be read"));
    const CliResult sound = place.broker.run({"consume", "t", "-p", "2", "-e", "-f", "%p%s "});
    CHECK((sound.exit_code == 0 && sound.output == "2a 2b "));
    const CliResult damaged = place.broker.run({"consume", "t", "-p", "1", "-e"});
    CHECK(damaged.exit_code == 1);
    CHECK_THAT(damaged.errors, contains("'" + place.file.string() + "'"));
}

TEST_CASE("A member of a group reads the sound partitions of a topic") {
    const Place place;
    place.truncate();
    const CliResult result = place.broker.run({"consume", "t", "-g", "other", "-e", "-f", "%p%s "});
    CHECK(result.exit_code == 1);
    CHECK(result.output.size() == std::string("0a 0b 2a 2b ").size());
    CHECK_THAT(result.errors,
               contains("topic 't' partition 1 is not read") && contains("1 damaged partition could not be read"));
    CHECK_THAT(place.broker.run({"group", "list"}).output, contains("billing") && contains("other"));
    CHECK(place.broker.run({"group", "describe", "other"}).exit_code == 0);
    CHECK(place.broker.run({"group", "lag", "other"}).exit_code == 0);
}

TEST_CASE("A partition that is truncated while it is consumed does not end the reading of the others") {
    const Place place;
    CliProcess consumer(place.broker.in_directory({"consume", "t", "-f", "%p%s\n"}));
    REQUIRE(consumer.wait_for_output("2b"));
    place.truncate();
    REQUIRE(place.broker.run({"produce", "t", "-p", "2"}, "late\n").exit_code == 0);
    CHECK(consumer.wait_for_output("2late"));
    CHECK(consumer.wait_for_errors("topic 't' partition 1 is not read: '" + place.file.string() + "'"));
    consumer.send_signal(SIGINT);
    CHECK(consumer.finish().exit_code == 1);
}

TEST_CASE(
    "Producing reaches the sound partitions, by number and without a key, and names the file of the damaged one") {
    const Place place;
    place.truncate();
    CHECK(place.broker.run({"produce", "t", "-p", "0"}, "c\n").exit_code == 0);
    const CliResult refused = place.broker.run({"produce", "t", "-p", "1"}, "c\n");
    CHECK(refused.exit_code == 1);
    CHECK_THAT(refused.errors, contains("'" + place.file.string() + "' has 0 bytes"));
    for (int i = 0; i < 3; ++i)
        CHECK(place.broker.run({"produce", "t"}, "d\n").exit_code == 0);
}

TEST_CASE("A producer whose partition is truncated while it waits for lines is told, and not killed") {
    const Place place;
    CliProcess producer(place.broker.in_directory({"produce", "t", "-p", "1"}));
    producer.write_input("one\n");
    REQUIRE([&] {
        for (int i = 0; i < 500; ++i) {
            if (place.broker.consume("t", {"-p", "1"}).find("one") != std::string::npos)
                return true;
        }
        return false;
    }());
    place.truncate();
    producer.write_input("two\n");
    const CliResult result = producer.finish();
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.errors,
               contains("'" + place.file.string() + "' has 0 bytes") && contains("1 record published to t"));
}

TEST_CASE("Describing, statistics, a check, a dump and a trim work on the sound partitions of a topic") {
    const Place place;
    place.truncate();
    const std::string name = "'" + place.file.string() + "'";
    const CliResult described = place.broker.run({"topic", "describe", "t"});
    CHECK(described.exit_code == 0);
    CHECK_THAT(described.output, contains("partition 1 is damaged: " + name));
    const CliResult stats = place.broker.run({"stats", "t"});
    CHECK_THAT(stats.output, contains("topic t partition 1: " + name) && contains("asked for  1 topic, "));
    CHECK_THAT(place.broker.run({"stats"}).output, contains("topics     1, "));
    CHECK_THAT(place.broker.run({"top", "--once"}).output, contains("unreadable"));
    const CliResult verified = place.broker.run({"verify"});
    CHECK(verified.exit_code == 1);
    CHECK_THAT(verified.output, contains("partitions 2, records 4") && contains("damage: " + place.file.string()));
    CHECK(place.broker.run({"dump", "t", "-p", "0", "-o", "1"}).exit_code == 0);
    CHECK_THAT(place.broker.run({"dump", "t", "-p", "1", "-o", "1"}).errors, contains(name));
    CHECK(place.broker.run({"topic", "trim", "t", "-p", "2", "--before", "1"}).output ==
          "partition 2: 1 record deleted, the log starts at 1\n");
    const CliResult trimmed = place.broker.run({"topic", "trim", "t", "--before", "end"});
    CHECK(trimmed.exit_code == 1);
    CHECK(trimmed.output ==
          "partition 0: 2 records deleted, the log starts at 2\npartition 2: 1 record deleted, the log starts at 2\n");
    CHECK_THAT(trimmed.errors, contains("topic 't' partition 1: nothing was deleted: " + name));
    CHECK(place.broker.run({"who-blocks"}).exit_code == 0);
}

TEST_CASE("Doctor names the truncated file, its sizes, and since when") {
    const Place place;
    const std::uintmax_t needed = fs::file_size(place.file);
    place.truncate();
    const Json report = Json::parse(place.broker.run({"doctor", "--json"}).output);
    const Json* found = nullptr;
    for (const Json& finding : report["findings"]) {
        if (finding["id"] == "damaged")
            found = &finding;
    }
    REQUIRE(found != nullptr);
    CHECK((*found)["object"] == "topic 't' partition 1");
    CHECK_THAT((*found)["text"].get<std::string>(),
               contains(place.file.string()) && contains("has 0 bytes") && contains(std::to_string(needed)));
    CHECK((*found)["since_ns"].get<std::int64_t>() > 1'700'000'000'000'000'000);
}

TEST_CASE("The view of the moment lives when a file that it has mapped is truncated, and omits the partition") {
    const std::string file = GENERATE("1.log", "readers", "groups", "topic.meta");
    const Place place;
    CliProcess top(place.broker.in_directory({"top", "--interval", "0.1"}));
    REQUIRE(top.wait_for_output("topics 1"));
    fs::resize_file(place.topic / file, 0);
    CHECK(top.wait_for_output("unreadable"));
    top.send_signal(SIGINT);
    CHECK(top.finish().exit_code == 0);
}

}  // namespace ringmain::test
