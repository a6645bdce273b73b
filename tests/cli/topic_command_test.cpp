// `ringmain topic`: create, list, describe, alter, delete.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cases/open_ticket.hpp"
#include "cli_process.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

using Json = nlohmann::json;

Json describe(const CliBroker& broker, const std::string& topic) {
    const CliResult result = broker.run({"topic", "describe", topic, "--json"});
    REQUIRE(result.exit_code == 0);
    return Json::parse(result.output);
}

}  // namespace

TEST_CASE("A created topic is listed and described until it is deleted") {
    const CliBroker broker;
    const CliResult created = broker.run({"topic", "create", "trades", "--partitions", "3", "--records", "1K", "--cell",
                                          "128", "--payload", "256K", "--producers", "8", "--groups", "4", "--members", "64",
                                          "--when-full", "block"});
    CHECK(created.errors == "ringmain: '" + broker.directory().string() + "' is a new broker directory\n");
    REQUIRE(created.exit_code == 0);
    CHECK_THAT(created.output, contains("trades") && contains("1024 cells") && contains("128 bytes") &&
                                   contains("262144 bytes (256 KiB)") && contains("largest record") &&
                                   contains("up to 104 bytes") && contains("block"));
    broker.create_topic("logs");
    CHECK(broker.run({"topic", "list"}).output == "logs\ntrades\n");

    const Json topic = describe(broker, "trades");
    CHECK(topic["name"] == "trades");
    CHECK(topic["options"]["partitions"] == 3);
    CHECK(topic["options"]["records"] == 1024);
    CHECK(topic["options"]["cell_bytes"] == 128);
    CHECK(topic["options"]["payload_bytes"] == 262144);
    CHECK(topic["options"]["producer_slots"] == 8);
    CHECK(topic["options"]["groups"] == 4);
    CHECK(topic["options"]["members"] == 64);
    CHECK(topic["options"]["when_full"] == "block");
    CHECK(topic["options"]["value_type"].is_null());
    CHECK(topic["inline_bytes_max"] == 104);
    CHECK(topic["record_bytes_max"].get<std::uint64_t>() > 104);
    CHECK(topic["retained_records"].get<std::uint64_t>() <= 1024);
    CHECK(topic["retained_payload_bytes"] == 131072);
    CHECK_THAT(created.output, contains("the last 131072 bytes (128 KiB) of them kept"));
    CHECK(topic["partitions"].size() == 3);

    CHECK(broker.run({"topic", "delete", "trades"}).exit_code == 0);
    CHECK(broker.run({"topic", "list"}).output == "logs\n");
    CHECK(broker.run({"topic", "describe", "trades"}).exit_code == 1);
}

TEST_CASE("Owner, group and mode are given at creation, changed later, and shown") {
    const CliBroker broker;
    const std::string group = std::to_string(::getegid());
    REQUIRE(broker.run({"topic", "create", "t", "--records", "64", "--payload", "0", "--producers", "2", "--mode", "0640", "--group", group}).exit_code == 0);
    Json access = describe(broker, "t")["options"]["access"];
    CHECK(access["mode"] == "0640");
    CHECK(access["group"] == ::getegid());
    CHECK(access["owner"] == ::geteuid());
    CHECK_THAT(broker.run({"topic", "describe", "t"}).output, contains("access            owner ") && contains(", mode 0640\n"));
    const CliResult altered = broker.run({"topic", "alter", "t", "--mode", "600"});
    CHECK(altered.exit_code == 0);
    CHECK_THAT(altered.output, contains("topic             t\naccess            owner ") && contains(", mode 0600\n") && !contains("retention"));
    const CliResult both = broker.run({"topic", "alter", "t", "--mode", "644", "--retention-age", "7d", "--json"});
    CHECK(both.exit_code == 0);
    CHECK(Json::parse(both.output)["options"]["access"]["mode"] == "0644");
    CHECK(Json::parse(both.output)["options"]["retention"]["age_ms"] == 604'800'000);
    CHECK(broker.run({"topic", "alter", "t", "--mode", "600"}).exit_code == 0);
    CHECK(describe(broker, "t")["options"]["access"]["mode"] == "0600");
    if (::geteuid() == 0) {
        CHECK(broker.run({"topic", "alter", "t", "--owner", "root", "--group", "4242"}).exit_code == 0);
        access = describe(broker, "t")["options"]["access"];
        CHECK(access["owner"] == 0);
        CHECK(access["group"] == 4242);
        CHECK(access["mode"] == "0600");
    }
}

TEST_CASE("Rights that are none are refused with option and value, and so is a change of nothing") {
    const CliBroker broker;
    broker.create_topic("t");
    const auto refused = [&](const std::vector<std::string>& options, const std::string& text) {
        std::vector<std::string> arguments{"topic", "alter", "t"};
        arguments.insert(arguments.end(), options.begin(), options.end());
        const CliResult result = broker.run(arguments);
        CHECK(result.exit_code == 2);
        CHECK_THAT(result.errors, contains(text));
    };
    refused({"--mode", "0750"}, "--mode: '0750' is not a mode of files in octal digits, 0 to 0666");
    refused({"--mode", "rw"}, "--mode: 'rw' is not a mode");
    refused({"--owner", "no-such-user"}, "--owner: this host has no user 'no-such-user'");
    refused({"--group", "4294967295"}, "--group: this host has no group '4294967295', and it is no number from 0 to 4294967294");
    refused({}, "nothing to alter");
    CHECK(broker.run({"topic", "alter", "absent", "--mode", "0600"}).exit_code == 1);
}

TEST_CASE("A topic's list and creation are JSON on request") {
    const CliBroker broker;
    const CliResult created =
        broker.run({"topic", "create", "a.b", "--json", "--records", "64", "--payload", "0", "--producers", "2"});
    REQUIRE(created.exit_code == 0);
    CHECK(Json::parse(created.output)["name"] == "a.b");
    const Json topics = Json::parse(broker.run({"topic", "list", "--json"}).output);
    REQUIRE(topics.size() == 1);
    CHECK(topics[0]["name"] == "a.b");
    CHECK(topics[0]["partitions"] == 1);
    CHECK(topics[0]["when_full"] == "overwrite");
    CHECK(topics[0]["bytes"].get<std::uint64_t>() > 64 * 64);
}

TEST_CASE("Describe counts records per partition and shows attached producers") {
    const CliBroker broker;
    broker.create_topic("trades", {"--partitions", "2"});
    CHECK(broker.run({"produce", "trades", "-p", "1"}, "a\nb\nc\n").exit_code == 0);
    CliProcess producer(broker.in_directory({"produce", "trades", "-p", "0"}));
    producer.write_input("first\n");
    CliProcess consumer(broker.in_directory({"consume", "trades", "-p", "0"}));
    REQUIRE(consumer.wait_for_output("first\n"));  // so the producer is attached

    const Json topic = describe(broker, "trades");
    const Json& one = topic["partitions"][1];
    CHECK(one["log_start"] == 0);
    CHECK(one["log_end"] == 3);
    CHECK(one["records"] == 3);
    CHECK(one["closed_tickets"] == 0);
    CHECK(one["quarantined_cells"] == 0);
    CHECK(one["producers"].empty());
    const Json& zero = topic["partitions"][0];
    REQUIRE(zero["producers"].size() == 1);
    CHECK(zero["producers"][0]["alive"] == true);
    CHECK(zero["producers"][0]["pid"].get<int>() > 0);

    const CliResult text = broker.run({"topic", "describe", "trades"});
    CHECK(text.exit_code == 0);
    CHECK_THAT(text.output,
               contains("partition 0 producer: ") && contains("alive") && contains("when full         overwrite"));
}

TEST_CASE("A topic that exists cannot be created again, and the second attempt changes nothing") {
    const CliBroker broker;
    broker.create_topic("t");
    CHECK(broker.run({"produce", "t"}, "kept\n").exit_code == 0);
    const CliResult again = broker.run({"topic", "create", "t"});
    CHECK(again.exit_code == 1);
    CHECK_THAT(again.errors, contains("ringmain: ") && contains("t"));
    CHECK(broker.consume("t") == "kept\n");
}

TEST_CASE("O01 topic names of Kafka's rules are accepted") {
    const CliBroker broker;
    REQUIRE(broker.run({"topic", "create", "first"}).exit_code == 0);  // says that the directory is new
    for (const std::string& name :
         {std::string("valid"), std::string("TOPIC"), std::string("nAmEs"), std::string("ar6"), std::string("VaL1d"),
          std::string("_0-9_."), std::string("..."), std::string(249, 'a')}) {
        INFO("name: " << name);
        const CliResult result =
            broker.run({"topic", "create", name, "--records", "64", "--payload", "0", "--producers", "1"});
        CHECK(result.errors == "");
        CHECK(result.exit_code == 0);
        CHECK(broker.run({"topic", "describe", name}).exit_code == 0);
    }
}

TEST_CASE("O01 other topic names are usage errors that name the name") {
    const CliBroker broker;
    for (const std::string& name :
         {std::string(""),        std::string("foo bar"), std::string(".."),     std::string("."),
          std::string("foo:bar"), std::string("foo=bar"), std::string(250, 'a'), std::string("a/b"),
          std::string("a\\b"),    std::string("a,b"),     std::string("a\"b"),   std::string("a'b"),
          std::string("a;b"),     std::string("a*b"),     std::string("a?b"),    std::string("a\tb"),
          std::string("a\rb"),    std::string("a\nb"),    std::string("a%b"),    std::string("\xC3\xA4")}) {
        INFO("name: '" << name << "'");
        const CliResult result =
            broker.run({"topic", "create", name, "--records", "64", "--payload", "0", "--producers", "1"});
        CHECK(result.exit_code == 2);
        CHECK_THAT(result.errors, Catch::Matchers::StartsWith("ringmain: "));
        CHECK_THAT(result.errors, contains("topic name") && contains("(" + std::to_string(name.size()) + " bytes)"));
    }
    CHECK(broker.run({"topic", "list"}).output == "");
}

TEST_CASE("D08 O05 an option outside its range is refused with option, value and range, and nothing is made") {
    struct Case {
        std::string option;
        std::string value;
        std::string told;
    };
    const std::vector<Case> cases = {{"--records", "18446744073709551615", "16 to 268435456"},
                                     {"--records", "9223372036854775808", "16 to 268435456"},
                                     {"--records", "18446744073709547520", "16 to 268435456"},
                                     {"--records", "0", "16 to 268435456"},
                                     {"--records", "1", "16 to 268435456"},
                                     {"--records", "-1", "'-1'"},
                                     {"--records", "1e99", "'1e99'"},
                                     {"--records", "10GB ", "'10GB '"},
                                     {"--records", "1000000", "524288 and 1048576"},
                                     {"--payload", "18446744073709551615", "to 68719476736"},
                                     {"--payload", "17179869184G", "to 68719476736"},
                                     {"--payload", "100000", "262144 to 68719476736, as --producers 32 needs"},
                                     {"--payload", "300000", "262144 and 524288"},
                                     {"--partitions", "0", "1 to 1024"},
                                     {"--partitions", "1025", "1 to 1024"},
                                     {"--partitions", "4294967297", "1 to 1024"},
                                     {"--partitions", "-1", "'-1'"},
                                     {"--cell", "32", "64 to 256"},
                                     {"--cell", "100", "none of 64, 128 and 256"},
                                     {"--producers", "0", "1 to 1024"},
                                     {"--producers", "3", "2 and 4"},
                                     {"--when-full", "reject", "neither overwrite nor block"}};
    for (const Case& wrong : cases) {
        INFO(wrong.option << " " << wrong.value);
        const CliBroker broker;
        const CliResult result = broker.run({"topic", "create", "t", wrong.option, wrong.value});
        CHECK(result.exit_code == 2);
        CHECK_THAT(result.errors, contains("ringmain: ") && contains(wrong.option) && contains(wrong.told));
        CHECK(std::filesystem::is_empty(broker.directory()));
    }
}

TEST_CASE("O05 options that contradict each other are a usage error") {
    const CliBroker broker;
    const CliResult result = broker.run({"topic", "create", "t", "--records", "16", "--producers", "32"});
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.errors, contains("ringmain: ") && contains("--records 16") && contains("--producers 32"));
    CHECK(std::filesystem::is_empty(broker.directory()));
}

TEST_CASE("D08 a topic larger than the file system is refused with needed and free bytes") {
    const CliBroker broker;
    const CliResult result = broker.run(
        {"topic", "create", "huge", "--partitions", "1024", "--records", "256M", "--cell", "256", "--payload", "64G"});
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.errors, contains("ringmain: ") && contains("free"));
    CHECK(broker.run({"topic", "list"}).output == "");
}

TEST_CASE("A creation makes the last directory of the path, says so once, and makes no directory above it") {
    const CliBroker broker;
    const std::string made = broker.directory().string() + "/made";
    const auto create = [](const std::string& directory, const std::string& name) {
        return run_cli({"-d", directory, "topic", "create", name, "--records", "1K", "--payload", "0"});
    };
    CHECK(create(made, "a").errors == "ringmain: '" + made + "' is a new broker directory\n");
    CHECK(create(made, "b").errors == "");
    const CliResult refused = create(broker.directory().string() + "/typo/made", "a");
    CHECK(refused.exit_code == 1);
    CHECK_THAT(refused.errors, contains("typo/made"));
    CHECK_FALSE(std::filesystem::exists(broker.directory() / "typo"));
}

TEST_CASE("A creation that is interrupted leaves nothing, and says so") {
    const CliBroker broker;
    broker.create_topic("small");
    const std::filesystem::path staging = broker.directory() / "staging";
    // Far more work than the moment until the signal comes; on tmpfs it is taken back as it was given.
    CliProcess creation(broker.in_directory({"topic", "create", "large", "--partitions", "64", "--payload", "64M"}));
    while (std::filesystem::is_empty(staging))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    creation.send_signal(SIGINT);
    const CliResult result = creation.finish();
    CHECK(result.exit_code == 1);
    CHECK(result.errors == "ringmain: interrupted: topic 'large' was not created\n");
    CHECK(std::filesystem::is_empty(staging));
    CHECK(broker.run({"topic", "list"}).output == "small\n");
}

TEST_CASE("A refused topic name makes no broker directory") {
    const CliBroker broker;
    const std::filesystem::path place = broker.directory() / "new";
    for (const std::string name : {"a/b", "", "..", "\xff"}) {
        const CliResult result = run_cli({"-d", place.string(), "topic", "create", name});
        CHECK(result.exit_code == 2);
        CHECK_FALSE(std::filesystem::exists(place));
    }
}

TEST_CASE("A damaged log is said to be damaged, and is not shown with counts that cannot be") {
    const CliBroker broker;
    broker.create_topic("trades");
    REQUIRE(broker.run({"produce", "trades"}, "a\nb\nc\n").exit_code == 0);
    REQUIRE(broker.run({"consume", "trades", "-g", "billing", "-c", "1"}).exit_code == 0);
    MappedLog(broker.directory(), "trades").log.control->log_start.store(9, std::memory_order_relaxed);
    const CliResult text = broker.run({"topic", "describe", "trades"});
    CHECK(text.exit_code == 0);
    CHECK_THAT(text.output, contains("damaged") && contains("partition 0 is damaged: log start 9 is outside [0, 3]"));
    CHECK(text.output.find("1844674") == std::string::npos);
    const Json partition = describe(broker, "trades")["partitions"][0];
    CHECK(partition["damage"] == "log start 9 is outside [0, 3]");
    CHECK((partition["records"] == 0 && partition["log_start"] == 0 && partition["log_end"] == 0));
    const CliResult lag = broker.run({"group", "lag", "billing"});
    CHECK(lag.exit_code == 0);
    CHECK_THAT(lag.output, contains("damaged"));
    CHECK(Json::parse(broker.run({"group", "lag", "billing", "--json"}).output)[0]["damaged"] == true);
}

}  // namespace ringmain::test
