// `ringmain produce`: lines and files become records.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "cli_process.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

using Json = nlohmann::json;

/// Key, value and partition of all records, "null" for null.
std::string shown(const CliBroker& broker, const std::string& topic) {
    std::string text;
    std::string rest = broker.consume(topic, {"--json"});
    for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
        const Json record = Json::parse(rest.substr(0, end));
        text += record["key"].dump() + record["payload"].dump() + record["headers"].dump() + "\n";
        rest.erase(0, end + 1);
    }
    return text;
}

std::string random_bytes(std::size_t count) {
    std::mt19937_64 generator(20260102);
    std::string bytes(count, '\0');
    for (char& byte : bytes)
        byte = static_cast<char>(generator());
    return bytes;
}

}  // namespace

TEST_CASE("Produce publishes a record a line and says how many") {
    const CliBroker broker;
    broker.create_topic("t");
    const CliResult result = broker.run({"produce", "t"}, "one\n\nthree without newline");
    CHECK(result.exit_code == 0);
    CHECK(result.output == "");
    CHECK(result.errors == "ringmain: 3 records published to t\n");
    CHECK(broker.consume("t") == "one\n\nthree without newline\n");
}

TEST_CASE("Produce of nothing publishes nothing") {
    const CliBroker broker;
    broker.create_topic("t");
    const CliResult result = broker.run({"produce", "t"});
    CHECK(result.exit_code == 0);
    CHECK(result.errors == "ringmain: 0 records published to t\n");
    CHECK(broker.consume("t") == "");
}

TEST_CASE("Produce with a name publishes only what is not in the log yet") {
    const CliBroker broker;
    broker.create_topic("t");
    CHECK(broker.run({"produce", "t", "--name", "loader"}, "one\ntwo\n").errors == "ringmain: 2 records published to t\n");
    const CliResult again = broker.run({"produce", "t", "--name", "loader"}, "one\ntwo\nthree\n");
    CHECK(again.exit_code == 0);
    CHECK(again.errors ==
          "ringmain: 1 record published to t\nringmain: 2 records had been published before by 'loader'\n");
    CHECK(broker.run({"produce", "t", "--name", "other"}, "one\n").exit_code == 0);
    CHECK(broker.consume("t") == "one\ntwo\nthree\none\n");
    CHECK(broker.run({"produce", "t", "--name", ""}, "one\n").exit_code == 2);
}

TEST_CASE("Produce takes key, delimiter, headers and null values from its options") {
    const CliBroker broker;
    broker.create_topic("t");
    CHECK(broker.run({"produce", "t", "-k", "fixed", "-H", "a=1", "-H", "a=", "-H", "b"}, "v\n").exit_code == 0);
    CHECK(broker.run({"produce", "t", "-K", "::", "-Z"}, "k::v\nk::\n::\nplain\na:b\n\n").exit_code == 0);
    CHECK(broker.run({"produce", "t", "-k", "-dash"}, "\n").exit_code == 0);
    CHECK(shown(broker, "t") ==
          R"("fixed""v"[{"name":"a","value":"1"},{"name":"a","value":""},{"name":"b","value":null}])"
          "\n"
          R"("k""v"[])"
          "\n"
          R"("k"null[])"
          "\n"
          R"(""null[])"
          "\n"
          R"(null"plain"[])"
          "\n"
          R"(null"a:b"[])"
          "\n"
          "nullnull[]\n"
          R"("-dash"""[])"
          "\n");
}

TEST_CASE("H05 an empty key goes to its hash's partition and a null key is spread") {
    const CliBroker broker;
    broker.create_topic("ten", {"--partitions", "10", "--records", "64", "--payload", "0"});
    for (const char* key : {"", "21", "foobar"}) {
        CHECK(broker.run({"produce", "ten", "-k", key}, "v\nv\n").exit_code == 0);
    }
    CHECK(broker.run({"produce", "ten", "-K", ","}, ",v\n").exit_code == 0);
    CHECK(broker.consume("ten", {"-f", "%p <%k> %K\n", "-p", "1"}) == "1 <> 0\n1 <> 0\n1 <> 0\n");
    CHECK(broker.consume("ten", {"-f", "%p <%k>\n", "-p", "0"}) == "0 <21>\n0 <21>\n");
    CHECK(broker.consume("ten", {"-f", "%p <%k>\n", "-p", "6"}) == "6 <foobar>\n6 <foobar>\n");

    broker.create_topic("null", {"--partitions", "10", "--records", "64", "--payload", "0"});
    CliProcess producer(broker.in_directory({"produce", "null"}));
    CliProcess consumer(broker.in_directory({"consume", "null", "-f", "%s on %p\n"}));
    for (int i = 0; i < 10; ++i) {  // one by one, as typed
        producer.write_input("line " + std::to_string(i) + "\n");
        REQUIRE(consumer.wait_for_output("line " + std::to_string(i) + " on "));
    }
    CHECK(producer.finish().exit_code == 0);
    const Json topic = Json::parse(broker.run({"topic", "describe", "null", "--json"}).output);
    for (const Json& partition : topic["partitions"])
        CHECK(partition["records"] == 1);
}

TEST_CASE("Produce publishes a typed line at once, and an unfinished one not before it is finished") {
    const CliBroker broker;
    broker.create_topic("t");
    CliProcess producer(broker.in_directory({"produce", "t"}));
    CliProcess consumer(broker.in_directory({"consume", "t"}));
    producer.write_input("first\nsec");
    REQUIRE(consumer.wait_for_output("first\n"));
    producer.write_input("ond\n");
    REQUIRE(consumer.wait_for_output("first\nsecond\n"));
    CHECK(producer.finish().errors == "ringmain: 2 records published to t\n");
}

TEST_CASE("Produce keeps the order of many lines in a partition") {
    const CliBroker broker;
    broker.create_topic("t", {"--records", "64K"});
    std::string lines;
    for (int i = 0; i < 50'000; ++i)
        lines += std::to_string(i) + "\n";
    CHECK(broker.run({"produce", "t"}, lines).errors == "ringmain: 50000 records published to t\n");
    CHECK(broker.consume("t") == lines);
}

TEST_CASE("I05 a record of the largest size passes, one byte more is refused with line, size and limit") {
    const CliBroker broker;
    broker.create_topic("t");
    const Json topic = Json::parse(broker.run({"topic", "describe", "t", "--json"}).output);
    const std::size_t limit = topic["record_bytes_max"].get<std::size_t>();
    const std::string largest(limit, 'x');

    CHECK(broker.run({"produce", "t"}, largest + "\n").errors == "ringmain: 1 record published to t\n");
    CHECK(broker.consume("t", {"-f", "%S"}) == std::to_string(limit));

    const CliResult over = broker.run({"produce", "t"}, "before\n" + largest + "x\nafter\n");
    CHECK(over.exit_code == 1);
    CHECK_THAT(over.errors, contains("ringmain: 1 record published to t\n"));
    CHECK_THAT(over.errors, contains("line 2 of standard input") && contains(std::to_string(limit + 1)) &&
                                contains(std::to_string(limit) + " bytes"));
    CHECK(broker.consume("t", {"-o", "1"}) == "before\n");

    const CliResult far_over = broker.run({"produce", "t"}, std::string(3 * limit, 'x') + "\n");
    CHECK(far_over.exit_code == 1);
    CHECK_THAT(far_over.errors,
               contains("line 1 of standard input: " + std::to_string(3 * limit) + " bytes are over") &&
                   contains(std::to_string(limit) + " bytes"));

    const CliResult with_key = broker.run({"produce", "t", "-K", ","}, "key," + largest.substr(2) + "\n");
    CHECK(with_key.exit_code == 1);
    CHECK_THAT(with_key.errors,
               contains("line 1") && contains("key 3") && contains("value " + std::to_string(limit - 2)));
    CHECK(broker.run({"produce", "t", "-K", ","}, "key," + largest.substr(3) + "\n").exit_code == 0);

    const CliResult with_header = broker.run({"produce", "t", "-H", "h=1"}, "small\n" + largest + "\nsmall\n");
    CHECK(with_header.exit_code == 1);
    CHECK_THAT(with_header.errors, contains("1 record published") && contains("line 2") && contains("headers 2"));
}

TEST_CASE("I05 a key over the largest key is refused with line, size and limit") {
    const CliBroker broker;
    broker.create_topic("t");
    const CliResult result = broker.run({"produce", "t", "-K", ","}, std::string(65'536, 'k') + ",v\n");
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.errors, contains("line 1") && contains("65536") && contains("65535"));
    CHECK(broker.run({"produce", "t", "-K", ","}, std::string(65'535, 'k') + ",v\n").exit_code == 0);
}

TEST_CASE("O09 a mebibyte of random bytes comes back as it was, from a file and from standard input") {
    const CliBroker broker;
    const std::string payload = random_bytes(1 << 20);
    broker.create_topic("t", {"--payload", "32M"});
    const std::string path = (broker.directory().string() + ".payload");
    std::ofstream(path, std::ios::binary) << payload;
    const CliResult from_file = broker.run({"produce", "t", path});
    std::filesystem::remove(path);
    INFO(from_file.errors);
    REQUIRE(from_file.exit_code == 0);
    CHECK(broker.run({"produce", "t", "-"}, payload).errors == "ringmain: 1 record published to t\n");
    const std::string read = broker.consume("t", {"-f", "%s"});
    CHECK((read == payload + payload));

    const Json record = Json::parse(broker.consume("t", {"--json", "-c", "1"}));
    CHECK(record["payload_base64"].get<std::string>().size() == ((1 << 20) + 2) / 3 * 4);
    CHECK_FALSE(record.contains("payload"));
}

TEST_CASE("O09 lines keep NUL bytes, carriage returns and bytes that are not UTF-8") {
    using namespace std::string_literals;
    const CliBroker broker;
    broker.create_topic("t");
    const std::string lines = "a\0b\n\r\n\xFF\xFE\n"s;
    CHECK(broker.run({"produce", "t"}, lines).exit_code == 0);
    CHECK(broker.consume("t") == lines);
}

TEST_CASE("Produce takes each file as one record, an empty one too, and names one that cannot be read") {
    const CliBroker broker;
    broker.create_topic("t");
    const std::string path = broker.directory().string() + ".file";
    std::ofstream(path, std::ios::binary) << "two\nlines\n";
    const CliResult result = broker.run({"produce", "t", "-k", "k", path, "/dev/null", "/nonexistent/file"});
    std::filesystem::remove(path);
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.errors, contains("2 records published") &&
                                  contains("/nonexistent/file: cannot open: No such file or directory"));
    CHECK(broker.consume("t", {"-f", "%k:%S:%s;"}) == "k:10:two\nlines\n;k:0:;");
}

TEST_CASE("Produce to a partition that does not exist is refused") {
    const CliBroker broker;
    broker.create_topic("t", {"--partitions", "2"});
    const CliResult result = broker.run({"produce", "t", "-p", "2"}, "v\n");
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.errors, contains("'t'") && contains("partition 2") && contains("0 to 1"));
}

TEST_CASE("Produce ends cleanly on SIGTERM and keeps what was published") {
    const CliBroker broker;
    broker.create_topic("t");
    CliProcess producer(broker.in_directory({"produce", "t"}));
    CliProcess consumer(broker.in_directory({"consume", "t"}));
    producer.write_input("done\nunfinished");
    REQUIRE(consumer.wait_for_output("done\n"));
    producer.send_signal(SIGTERM);
    REQUIRE(producer.wait_for_errors("1 record published"));
    CHECK(producer.finish().exit_code == 0);
    CHECK(broker.consume("t") == "done\n");
}

TEST_CASE("Produce fails when its topic is deleted under it") {
    const CliBroker broker;
    broker.create_topic("t");
    CliProcess producer(broker.in_directory({"produce", "t"}));
    CliProcess consumer(broker.in_directory({"consume", "t"}));
    producer.write_input("one\n");
    REQUIRE(consumer.wait_for_output("one\n"));
    CHECK(broker.run({"topic", "delete", "t"}).exit_code == 0);
    producer.write_input("two\n");
    const CliResult result = producer.finish();
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.errors, contains("1 record published") && contains("line 2") && contains("topic_deleted"));
}

TEST_CASE("Produce with files and a key delimiter publishes each line of each file") {
    const CliBroker broker;
    broker.create_topic("t");
    std::ofstream(broker.directory() / "one") << "a,1\nb,2\n";
    std::ofstream(broker.directory() / "two") << "c,3";
    const CliResult result = broker.run({"produce", "t", "-K", ",", (broker.directory() / "one").string(), "-",
                                         (broker.directory() / "two").string()},
                                        "in,between\n");
    CHECK(result.exit_code == 0);
    CHECK(result.errors == "ringmain: 4 records published to t\n");
    CHECK(broker.consume("t", {"-f", "%k=%s "}) == "a=1 b=2 in=between c=3 ");
    const CliResult missing = broker.run({"produce", "t", "-K", ",", (broker.directory() / "none").string()});
    CHECK(missing.exit_code == 1);
    CHECK_THAT(missing.errors, contains("none: cannot open"));
}

TEST_CASE("Produce names the line of a file that cannot be published, and publishes those before it") {
    const CliBroker broker;
    broker.create_topic("t", {"--payload", "0"});
    const std::string file = (broker.directory() / "lines").string();
    std::ofstream(file) << "a,1\nb,2\nc," << std::string(105, 'x') << "\nd,4\n";
    const CliResult result = broker.run({"produce", "t", "-K", ",", file});
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.errors, contains("line 3 of " + file) && contains("2 records published"));
    CHECK(broker.consume("t") == "1\n2\n");
}

}  // namespace ringmain::test
