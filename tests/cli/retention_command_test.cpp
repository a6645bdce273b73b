// `ringmain topic create --retention-*`, `topic alter` and `topic trim`; how describe shows them.
#include <nlohmann/json.hpp>
#include <string>

#include "cli/durations.hpp"
#include "cli_process.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

using Json = nlohmann::json;

Json retention_of(const CliBroker& broker, const std::string& topic) {
    const CliResult result = broker.run({"topic", "describe", topic, "--json"});
    REQUIRE(result.exit_code == 0);
    return Json::parse(result.output)["options"]["retention"];
}

Json limits(std::int64_t age_ms, std::uint64_t records, std::uint64_t bytes) {
    return {{"age_ms", age_ms}, {"records", records}, {"bytes", bytes}};
}

void fill(const CliBroker& broker, const std::string& topic, int records, const std::string& partition = "0") {
    std::string lines;
    for (int i = 0; i < records; ++i) lines += "r" + std::to_string(i) + "\n";
    REQUIRE(broker.run({"produce", topic, "-p", partition}, lines).exit_code == 0);
}

}  // namespace

TEST_CASE("Durations are digits and a unit, and come back in the largest one") {
    using namespace std::chrono_literals;
    using cli::format_duration;
    using cli::parse_duration;
    CHECK(parse_duration("500ms") == 500ms);
    CHECK(parse_duration("90s") == 90s);
    CHECK(parse_duration("7d") == 7 * 24h);
    CHECK(parse_duration("36500d") == 36'500 * 24h);
    for (const char* const wrong : {"", "s", "5", "-5s", "5 s", "1.5h", "5y", "200000d", "99999999999999999999s"})
        CHECK_FALSE(parse_duration(wrong));
    CHECK(format_duration(0ms) == "0ms");
    CHECK(format_duration(1500ms) == "1500ms");
    CHECK(format_duration(90s) == "90s");
    CHECK(format_duration(120s) == "2m");
    CHECK(format_duration(168h) == "7d");
    using cli::format_duration_up;
    CHECK(format_duration_up(1s) == "1s");
    CHECK(format_duration_up(6048s) == "101m");
    CHECK(format_duration_up(12'345ms) == "13s");
    CHECK(format_duration_up(365 * 24h) == "365d");
}

TEST_CASE("Limits of retention are given at the creation, shown, changed and taken away") {
    const CliBroker broker;
    broker.create_topic("t", {"--retention-age", "7d", "--retention-bytes", "4M"});
    CHECK(retention_of(broker, "t") == limits(604'800'000, 0, 4 << 20));

    const CliResult altered = broker.run({"topic", "alter", "t", "--retention-age", "90s", "--retention-records", "1000"});
    CHECK(altered.exit_code == 0);
    CHECK_THAT(altered.output, contains("age 90s, 1000 records, 4194304 bytes (4 MiB) of keys, values and headers"));
    CHECK(retention_of(broker, "t") == limits(90'000, 1000, 4 << 20));
    CHECK(altered.output.find(broker.run({"topic", "describe", "t"}).output.substr(0, 10)) == 0);

    const CliResult none = broker.run({"topic", "alter", "t", "--retention-age", "none", "--retention-records", "none",
                                       "--retention-bytes", "none", "--json"});
    CHECK(Json::parse(none.output)["options"]["retention"] == limits(0, 0, 0));
    CHECK_THAT(broker.run({"topic", "describe", "t"}).output, contains("retention         none"));
}

TEST_CASE("J07 Describe says how late a deletion can be") {
    const CliBroker broker;
    broker.create_topic("short", {"--retention-age", "500ms"});
    broker.create_topic("long", {"--retention-age", "10m", "--retention-records", "5"});
    CHECK_THAT(broker.run({"topic", "describe", "short"}).output, contains("at most 1s older than the age"));
    CHECK_THAT(broker.run({"topic", "describe", "long"}).output,
               contains("at most 6s older than the age") && contains("goes within a second"));
    const Json topic = Json::parse(broker.run({"topic", "describe", "long", "--json"}).output);
    CHECK(topic["retention_late_ms_max"] == 6000);
}

TEST_CASE("A limit of retention that cannot be is refused with its value and range, before anything is done") {
    const CliBroker broker;
    broker.create_topic("t");
    struct Row {
        const char* option;
        const char* value;
        const char* says;
    };
    const Row row = GENERATE(Row{"--retention-age", "5", "'5' is neither none nor a duration"},
                             Row{"--retention-age", "99ms", "'99ms' is outside 100ms to 36500d"},
                             Row{"--retention-age", "36501d", "'36501d' is outside 100ms to 36500d"},
                             Row{"--retention-records", "0", "'0' is not a size"},
                             Row{"--retention-records", "257M", "'257M' is not a size"},
                             Row{"--retention-bytes", "-1", "'-1' is not a size"},
                             Row{"--retention-bytes", "1025G", "'1025G' is not a size"});
    for (const CliResult& result : {broker.run({"topic", "alter", "t", row.option, row.value}),
                                    broker.run({"topic", "create", "u", row.option, row.value})}) {
        CHECK(result.exit_code == 2);
        CHECK_THAT(result.errors, contains(row.option) && contains(row.says));
    }
    CHECK(retention_of(broker, "t") == limits(0, 0, 0));
    CHECK(broker.run({"topic", "list"}).output == "t\n");
}

TEST_CASE("Altering nothing, or a topic that is not there, is an error") {
    const CliBroker broker;
    broker.create_topic("t");
    const CliResult nothing = broker.run({"topic", "alter", "t"});
    CHECK(nothing.exit_code == 2);
    CHECK_THAT(nothing.errors, contains("nothing to alter"));
    const CliResult unknown = broker.run({"topic", "alter", "u", "--retention-age", "1h"});
    CHECK(unknown.exit_code == 1);
    CHECK_THAT(unknown.errors, contains("'u' not found"));
}

TEST_CASE("Trim deletes up to an offset, the end or a time, in one partition or all") {
    const CliBroker broker;
    broker.create_topic("t", {"--partitions", "2"});
    fill(broker, "t", 10);
    fill(broker, "t", 5, "1");
    CHECK(broker.run({"topic", "trim", "t", "-p", "0", "--before", "4"}).output ==
          "partition 0: 4 records deleted, the log starts at 4\n");
    CHECK(broker.run({"topic", "trim", "t", "--before", "5"}).output ==
          "partition 0: 1 record deleted, the log starts at 5\npartition 1: 5 records deleted, the log starts at 5\n");
    CHECK(broker.run({"topic", "trim", "t", "--before", "@1970-01-01"}).output ==
          "partition 0: 0 records deleted, the log starts at 5\npartition 1: 0 records deleted, the log starts at 5\n");
    CHECK(broker.consume("t") == "r5\nr6\nr7\nr8\nr9\n");
    const Json trimmed = Json::parse(broker.run({"topic", "trim", "t", "--before", "@2200-01-01", "--json"}).output);
    REQUIRE(trimmed.size() == 2);
    CHECK(trimmed[0] == Json{{"partition", 0}, {"before", 10}, {"from", 5}, {"to", 10}, {"deleted", 5}, {"holder", nullptr}, {"damage", nullptr}});
    fill(broker, "t", 3);
    CHECK(broker.run({"topic", "trim", "t", "-p", "0", "--before", "end"}).output ==
          "partition 0: 3 records deleted, the log starts at 13\n");
    CHECK(broker.consume("t").empty());
}

TEST_CASE("Trim beyond the end of one partition deletes in none") {
    const CliBroker broker;
    broker.create_topic("t", {"--partitions", "2"});
    fill(broker, "t", 10);
    fill(broker, "t", 5, "1");
    const CliResult beyond = broker.run({"topic", "trim", "t", "--before", "7"});
    CHECK(beyond.exit_code == 1);
    CHECK_THAT(beyond.errors, contains("partition 1: offset 7 is beyond the log end 5; nothing was deleted"));
    CHECK(broker.consume("t", {"-p", "0"}).starts_with("r0\n"));
    const CliResult partition = broker.run({"topic", "trim", "t", "-p", "2", "--before", "end"});
    CHECK(partition.exit_code == 1);
    CHECK_THAT(partition.errors, contains("no partition 2 (partitions: 2)"));
    for (const char* const wrong : {"", "-3", "start", "@yesterday", "4611686018427387904"})
        CHECK(broker.run({"topic", "trim", "t", "--before", wrong}).exit_code == 2);
    CHECK(broker.run({"topic", "trim", "t"}).exit_code == 2);
}

TEST_CASE("Trim names the gate that holds records back, and goes on when it is gone") {
    const CliBroker broker;
    broker.create_topic("t", {"--when-full", "block"});
    fill(broker, "t", 10);
    Consumer reader(Broker(broker.directory()));
    reader.assign("t", Position::at(4));
    reader.hold_gates("audit");
    const CliResult held = broker.run({"topic", "trim", "t", "--before", "end"});
    CHECK(held.exit_code == 0);
    CHECK_THAT(held.output, contains("partition 0: 4 records deleted, the log starts at 4; gate 'audit' of client") &&
                                contains("holds what is before 10"));
    const Json json = Json::parse(broker.run({"topic", "trim", "t", "--before", "end", "--json"}).output);
    CHECK(json[0]["deleted"] == 0);
    CHECK_THAT(json[0]["holder"].get<std::string>(), contains("gate 'audit'"));
    reader.drop_gates();
    CHECK_THAT(broker.run({"topic", "trim", "t", "--before", "end"}).output, contains("6 records deleted, the log starts at 10\n"));
}

}  // namespace ringmain::test
