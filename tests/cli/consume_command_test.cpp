// `ringmain consume`: positions, ends, formats, gaps, signals.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli_process.hpp"
#include "layout/partition.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

using Json = nlohmann::json;

std::string numbers(int from, int to) {
    std::string lines;
    for (int i = from; i < to; ++i)
        lines += std::to_string(i) + "\n";
    return lines;
}

void publish_at(const CliBroker& broker, const std::string& topic, const std::vector<std::int64_t>& times_ms) {
    const Broker opened(broker.directory());
    Producer producer(opened, topic);
    for (const std::int64_t time_ms : times_ms) {
        const std::string value = std::to_string(time_ms);
        ProducerRecord record;
        record.value = as_bytes(value);
        record.timestamp_ns = time_ms * 1'000'000;
        REQUIRE(producer.publish(record).status == Status::ok);
    }
}

}  // namespace

TEST_CASE("Consume starts at earliest, an offset or the last N") {
    const CliBroker broker;
    broker.create_topic("t");
    REQUIRE(broker.run({"produce", "t"}, numbers(0, 10)).exit_code == 0);
    CHECK(broker.consume("t") == numbers(0, 10));
    CHECK(broker.consume("t", {"-o", "earliest"}) == numbers(0, 10));
    CHECK(broker.consume("t", {"-o", "7"}) == numbers(7, 10));
    CHECK(broker.consume("t", {"-o", "-3"}) == numbers(7, 10));
    CHECK(broker.consume("t", {"-o-3"}) == numbers(7, 10));
    CHECK(broker.consume("t", {"-o", "-0"}) == "");
    CHECK(broker.consume("t", {"-o", "latest"}) == "");
    CHECK(broker.consume("t", {"-o", "10"}) == "");
    CHECK(broker.consume("t", {"-o", "11"}) == "");
    CHECK(broker.consume("t", {"-o", "4611686018427387903"}) == "");
}

TEST_CASE("Consume stops after -c records and says how many it read") {
    const CliBroker broker;
    broker.create_topic("t");
    REQUIRE(broker.run({"produce", "t"}, numbers(0, 10)).exit_code == 0);
    const CliResult result = broker.run({"consume", "t", "-c", "4"});
    CHECK(result.exit_code == 0);
    CHECK(result.output == numbers(0, 4));
    CHECK(result.errors == "ringmain: 4 records consumed from t\n");
    CHECK(broker.run({"consume", "t", "-o", "4", "-c", "4", "-e"}).output == numbers(4, 8));
    CHECK(broker.run({"consume", "t", "-c", "100", "-e"}).output == numbers(0, 10));
}

TEST_CASE("Consume reads all partitions, or one") {
    const CliBroker broker;
    broker.create_topic("t", {"--partitions", "3"});
    for (const char* partition : {"0", "1", "2"}) {
        REQUIRE(broker.run({"produce", "t", "-p", partition}, numbers(0, 5)).exit_code == 0);
    }
    const std::string all = broker.consume("t", {"-f", "%p"});
    for (const char partition : {'0', '1', '2'})
        CHECK(std::count(all.begin(), all.end(), partition) == 5);
    CHECK(broker.consume("t", {"-p", "1", "-f", "%p:%o "}) == "1:0 1:1 1:2 1:3 1:4 ");
    const std::string last = broker.consume("t", {"-o", "-2", "-f", "%o"});
    CHECK(std::count(last.begin(), last.end(), '3') == 3);
    CHECK(last.size() == 6);
    const CliResult missing = broker.run({"consume", "t", "-p", "3"});
    CHECK(missing.exit_code == 1);
    CHECK_THAT(missing.errors, contains("'t'") && contains("partition 3") && contains("0 to 2"));
}

TEST_CASE("O07 the last N of fewer records are all of them") {
    const CliBroker broker;
    broker.create_topic("empty");
    const CliResult none = broker.run({"consume", "empty", "-o", "-1000", "-e"});
    CHECK(none.exit_code == 0);
    CHECK(none.output == "");

    broker.create_topic("t");
    REQUIRE(broker.run({"produce", "t"}, numbers(0, 150)).exit_code == 0);
    CHECK(broker.consume("t", {"-o", "-1000"}) == numbers(0, 150));

    broker.create_topic("lapped", {"--records", "64", "--payload", "0", "--producers", "1"});
    REQUIRE(broker.run({"produce", "lapped"}, numbers(0, 1000)).exit_code == 0);
    const Json partition = Json::parse(broker.run({"topic", "describe", "lapped", "--json"}).output)["partitions"][0];
    const int start = partition["log_start"].get<int>();
    CHECK(partition["log_end"] == 1000);
    CHECK(start > 0);
    const CliResult last = broker.run({"consume", "lapped", "-o", "-1000", "-e"});
    CHECK(last.output == numbers(start, 1000));
    CHECK_THAT(last.errors, !contains("gap"));
}

TEST_CASE("Consume reports what was overwritten before it could be read as a gap with numbers") {
    const CliBroker broker;
    broker.create_topic("t", {"--records", "64", "--payload", "0", "--producers", "1"});
    REQUIRE(broker.run({"produce", "t"}, numbers(0, 1000)).exit_code == 0);
    const Json partition = Json::parse(broker.run({"topic", "describe", "t", "--json"}).output)["partitions"][0];
    const int start = partition["log_start"].get<int>();
    const CliResult result = broker.run({"consume", "t", "-o", "10", "-e"});
    CHECK(result.exit_code == 0);
    CHECK(result.output == numbers(start, 1000));
    const std::string lost = std::to_string(start - 10);
    CHECK_THAT(result.errors,
               contains("ringmain: gap: t[0] 10.." + std::to_string(start) + " " + lost + " records overwritten\n"));
    CHECK_THAT(result.errors, contains(std::to_string(1000 - start) + " records consumed from t, 1 gap with " + lost +
                                       " records lost\n"));
}

TEST_CASE("J05 a position by time is the first record not before it, else the end") {
    const CliBroker broker;
    broker.create_topic("t");
    publish_at(broker, "t", {10, 20, 30});
    const auto from = [&](const std::string& time) { return broker.consume("t", {"-o", "@" + time, "-f", "%o@%T "}); };
    CHECK(from("0") == "0@10 1@20 2@30 ");
    CHECK(from("10") == "0@10 1@20 2@30 ");
    CHECK(from("15") == "1@20 2@30 ");
    CHECK(from("20") == "1@20 2@30 ");
    CHECK(from("30") == "2@30 ");
    CHECK(from("1970-01-01T00:00:00.025Z") == "2@30 ");
    CHECK(from("1970-01-01T01:00:00.02+01:00") == "1@20 2@30 ");
    CHECK(from("1970-01-01T00:00:00.020000001Z") == "2@30 ");

    const CliResult after = broker.run({"consume", "t", "-o", "@31", "-e"});
    CHECK(after.exit_code == 0);
    CHECK(after.output == "");
    CHECK_THAT(after.errors, contains("no record at or after 1970-01-01T00:00:00.031000000Z") && contains("offset 3"));

    CliProcess waiting(broker.in_directory({"consume", "t", "-o", "@31", "-c", "1", "-f", "%o:%s\n"}));
    REQUIRE(waiting.wait_for_errors("reading from the end"));
    publish_at(broker, "t", {40});
    CHECK(waiting.wait_for_output("3:40\n"));
    CHECK(waiting.finish().exit_code == 0);
}

TEST_CASE("J05 a position by time in an empty partition is its end") {
    const CliBroker broker;
    broker.create_topic("t", {"--first-offset", "500"});
    const CliResult result = broker.run({"consume", "t", "-o", "@0", "-e"});
    CHECK(result.exit_code == 0);
    CHECK(result.output == "");
    CHECK_THAT(result.errors, contains("no record at or after") && contains("offset 500"));
}

TEST_CASE("O06 large offsets are exact in text and JSON, and can be asked for") {
    for (const std::uint64_t first : {2147483648ULL, 4294967296ULL, 9007199254740993ULL, 2305843009213693952ULL}) {
        const CliBroker broker;
        const std::string offset = std::to_string(first);
        broker.create_topic("t", {"--first-offset", offset});
        REQUIRE(broker.run({"produce", "t"}, "a\nb\n").exit_code == 0);
        CHECK(broker.consume("t", {"-f", "%o %s\n"}) == offset + " a\n" + std::to_string(first + 1) + " b\n");
        CHECK_THAT(broker.consume("t", {"--json"}), contains("\"offset\":" + offset + ","));
        CHECK(broker.consume("t", {"-o", std::to_string(first + 1)}) == "b\n");
        CHECK_THAT(broker.run({"topic", "describe", "t", "--json"}).output, contains("\"log_start\":" + offset + ","));
        CHECK(broker.run({"dump", "t", "-o", offset}).exit_code == 0);
    }
}

TEST_CASE("Consume prints JSON that loses nothing") {
    using namespace std::string_literals;
    const CliBroker broker;
    broker.create_topic("t");
    REQUIRE(broker.run({"produce", "t", "-K", ",", "-H", "h=\xFF", "-H", "n"}, "key,\xFF\0x\nplain\n"s).exit_code == 0);
    const std::string text = broker.consume("t", {"--json"});
    const std::size_t split = text.find('\n');
    const Json first = Json::parse(text.substr(0, split));
    CHECK(first["topic"] == "t");
    CHECK(first["partition"] == 0);
    CHECK(first["offset"] == 0);
    CHECK(first["ts"].get<std::int64_t>() == first["ts_ns"].get<std::int64_t>() / 1'000'000);
    CHECK(first["ts"].get<std::int64_t>() > 1'577'836'800'000);  // after 2020
    CHECK(first["key"] == "key");
    CHECK(first["payload_base64"] == "/wB4");
    CHECK(first["headers"] == Json::parse(R"([{"name":"h","value_base64":"/w=="},{"name":"n","value":null}])"));
    const Json second = Json::parse(text.substr(split + 1));
    CHECK(second["key"].is_null());
    CHECK(second["payload"] == "plain");
}

TEST_CASE("Consume prints headers as name=value and a null value as NULL") {
    const CliBroker broker;
    broker.create_topic("t");
    REQUIRE(broker.run({"produce", "t", "-H", "a=1", "-H", "b=", "-H", "c"}, "v\n").exit_code == 0);
    CHECK(broker.consume("t", {"-f", "%s %h\n"}) == "v a=1,b=,c=NULL\n");
}

TEST_CASE("Consume stops with -e at the end that it saw at the start, and without it waits for more") {
    const CliBroker broker;
    broker.create_topic("t");
    CHECK(broker.run({"consume", "t", "-e"}).exit_code == 0);
    CliProcess waiting(broker.in_directory({"consume", "t", "-o", "latest"}));
    CliProcess counted(broker.in_directory({"consume", "t", "-c", "2"}));
    REQUIRE(broker.run({"produce", "t"}, "a\nb\n").exit_code == 0);
    REQUIRE(counted.wait_for_errors("2 records consumed"));
    CHECK(counted.finish().output == "a\nb\n");
    // `latest` is resolved when the consumer starts, which may have been after these records: so publish until it
    // reads.
    for (int i = 0; i < 100 && !waiting.has_shown("c\n"); ++i) {
        REQUIRE(broker.run({"produce", "t"}, "c\n").exit_code == 0);
    }
    CHECK(waiting.wait_for_output("c\n"));
    waiting.send_signal(SIGINT);
    CHECK(waiting.finish().exit_code == 0);
}

TEST_CASE("Consume ends with exit 0 and its counts on SIGINT and SIGTERM") {
    const CliBroker broker;
    broker.create_topic("t");
    REQUIRE(broker.run({"produce", "t"}, "a\n").exit_code == 0);
    for (const int signal : {SIGINT, SIGTERM}) {
        CliProcess consumer(broker.in_directory({"consume", "t"}));
        REQUIRE(consumer.wait_for_output("a\n"));
        consumer.send_signal(signal);
        const CliResult result = consumer.finish();
        CHECK(result.exit_code == 0);
        CHECK(result.errors == "ringmain: 1 record consumed from t\n");
    }
}

TEST_CASE("Consume ends quietly when nobody reads its output any more") {
    const CliBroker broker;
    broker.create_topic("t", {"--records", "16K"});
    REQUIRE(broker.run({"produce", "t"}, numbers(0, 10'000)).exit_code == 0);
    CliProcess consumer(broker.in_directory({"consume", "t", "-f", "%s " + std::string(500, 'x') + "\n"}));
    consumer.close_output();
    const CliResult result = consumer.finish();
    CHECK(result.exit_code == 0);
    CHECK(result.errors == "");
}

TEST_CASE("Consume that waits for records ends when nobody reads its output any more") {
    const CliBroker broker;
    broker.create_topic("t");
    REQUIRE(broker.run({"produce", "t"}, "a\n").exit_code == 0);
    CliProcess consumer(broker.in_directory({"consume", "t"}));
    REQUIRE(consumer.wait_for_output("a\n"));
    consumer.close_output();  // as `head -1` does
    const CliResult result = consumer.finish();
    CHECK(result.exit_code == 0);
    CHECK(result.errors == "");
}

TEST_CASE("Consume fails when its topic is deleted under it") {
    const CliBroker broker;
    broker.create_topic("t");
    REQUIRE(broker.run({"produce", "t"}, "a\n").exit_code == 0);
    CliProcess consumer(broker.in_directory({"consume", "t"}));
    REQUIRE(consumer.wait_for_output("a\n"));
    REQUIRE(broker.run({"topic", "delete", "t"}).exit_code == 0);
    const CliResult result = consumer.finish();
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.errors, contains("1 record consumed") && contains("'t'") && contains("topic_deleted"));
}

TEST_CASE("Consume from an offset beyond the end says so, and with -e ends at once") {
    const CliBroker broker;
    broker.create_topic("t");
    REQUIRE(broker.run({"produce", "t"}, numbers(0, 3)).exit_code == 0);
    const CliResult ended = broker.run({"consume", "t", "-e", "-o", "5"});
    CHECK(ended.exit_code == 0);
    CHECK(ended.output == "");
    CHECK_THAT(ended.errors, contains("partition 0") && contains("offset 5 is beyond the end, offset 3"));
    CHECK_THAT(broker.run({"consume", "t", "-e", "-o", "3"}).errors, !contains("beyond"));
    CliProcess waiting(broker.in_directory({"consume", "t", "-o", "5", "-c", "1"}));
    REQUIRE(waiting.wait_for_errors("waiting until the log gets there"));
    REQUIRE(broker.run({"produce", "t"}, numbers(3, 7)).exit_code == 0);
    CHECK(waiting.finish().output == "5\n");
}

TEST_CASE("Consume of a topic whose log end is damaged fails instead of waiting") {
    const CliBroker broker;
    broker.create_topic("t");
    REQUIRE(broker.run({"produce", "t"}, numbers(0, 3)).exit_code == 0);
    std::fstream log(broker.directory() / "topics/t/0.log", std::ios::in | std::ios::out | std::ios::binary);
    REQUIRE(log);
    const std::uint64_t damaged = 1'000'000;
    log.seekp(static_cast<std::streamoff>(layout::kControlAt)).write(reinterpret_cast<const char*>(&damaged), sizeof damaged).flush();
    for (const std::vector<std::string>& command :
         std::vector<std::vector<std::string>>{{"consume", "t", "-e"}, {"consume", "t"}, {"produce", "t"}}) {
        const CliResult result = broker.run(command, "x\n");
        INFO(command.front());
        CHECK(result.exit_code == 1);
        CHECK(result.output == "");
        CHECK_THAT(result.errors, contains("log end 1000000") && contains("ringmain verify"));
    }
}

}  // namespace ringmain::test
