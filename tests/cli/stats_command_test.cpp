// `ringmain stats` and `ringmain doctor` as a shell sees them.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli_process.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

using Json = nlohmann::json;

/// Three records in a topic of two partitions, one of them read by a group.
void fill(const CliBroker& broker) {
    broker.create_topic("trades", {"--partitions", "2"});
    REQUIRE(broker.run({"produce", "trades", "-p", "0"}, "a\nb\nc\n").exit_code == 0);
    REQUIRE(broker.run({"consume", "trades", "-g", "billing", "-c", "1"}).exit_code == 0);
}

}  // namespace

TEST_CASE("Stats show the broker, its partitions and its groups as text") {
    const CliBroker broker;
    fill(broker);
    const CliResult result = broker.run({"stats"});
    CHECK((result.exit_code == 0 && result.errors.empty()));
    CHECK_THAT(result.output, contains("broker     " + broker.directory().string() + " (tmpfs, ") &&
                                  contains("keeper     none runs") && contains("TOPIC   PARTITION") &&
                                  contains("trades          0      0    3        3") && contains("billing  empty") &&
                                  contains("trades          1"));
}

TEST_CASE("Stats as JSON have all figures, and null for what is not known") {
    const CliBroker broker;
    fill(broker);
    const CliResult result = broker.run({"stats", "--json"});
    REQUIRE(result.exit_code == 0);
    const Json stats = Json::parse(result.output);
    CHECK(stats["directory"] == broker.directory().string());
    CHECK(stats["keeper"] == Json{{"running", false}, {"pid", nullptr}});
    CHECK(stats["file_system"]["type"] == "tmpfs");
    CHECK(stats["file_system"]["free_bytes"].get<std::uint64_t>() > 0);
    CHECK(stats["leftovers"] == Json{{"directories", 0}, {"files", 0}, {"dead_topics", 0}});
    CHECK((stats["clients_max"] == 1024 && stats["clients_readable"] == true));
    REQUIRE(stats["topics"].size() == 1);
    const Json& topic = stats["topics"][0];
    CHECK((topic["name"] == "trades" && topic["error"].is_null() && topic["bytes"] == stats["topics_bytes"]));
    CHECK(topic["options"]["partitions"] == 2);
    const Json& partition = topic["partitions"][0];
    CHECK((partition["log_start"] == 0 && partition["log_end"] == 3 && partition["records"] == 3 &&
           partition["record_bytes"] == 3));
    CHECK((partition["damage"].is_null() && partition["error"].is_null() &&
           partition["oldest_ns"].get<std::int64_t>() > 0));
    CHECK((topic["partitions"][1]["records"] == 0 && topic["partitions"][1]["oldest_ns"].is_null()));
    const Json& group = topic["groups"][0];
    CHECK((group["group"] == "billing" && group["state"] == "empty" && group["partitions"][0]["lag"] == 2));
}

TEST_CASE("Stats of chosen topics fail for one that is not there, and show the others") {
    const CliBroker broker;
    fill(broker);
    broker.create_topic("other");
    CHECK(Json::parse(broker.run({"stats", "other", "--json"}).output)["topics"].size() == 1);
    const CliResult result = broker.run({"stats", "other", "none", "--json"});
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.errors, contains("topic 'none' not found"));
    const Json topics = Json::parse(result.output)["topics"];
    CHECK((topics[0]["name"] == "other" && topics[1]["name"] == "none" && topics[1]["error_code"] == "not_found"));
}

TEST_CASE("Stats show a topic that cannot be read beside the others") {
    const CliBroker broker;
    fill(broker);
    broker.create_topic("bad");
    std::filesystem::remove(broker.directory() / "topics" / "bad" / "readers");
    const CliResult result = broker.run({"stats"});
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.output,
               contains("topic bad: '") && contains("readers' is missing") && contains("trades          0"));
}

TEST_CASE("The doctor says that there is no broker, and how to make one") {
    const CliBroker broker;
    const std::string absent = broker.directory().string() + "/absent";
    CliResult result = run_cli({"-d", absent, "doctor"});
    CHECK(result.exit_code == 1);
    CHECK(result.errors.empty());
    CHECK_THAT(result.output, contains("error    no-broker") && contains("'" + absent + "' not found") &&
                                  contains("choose: ringmain -d " + absent + " topic create NAME") &&
                                  contains("1 error, 0 warnings, 0 notes"));
    REQUIRE(run_cli({"-d", absent, "topic", "create", "NAME", "--records", "64", "--payload", "0", "--producers", "2"})
                .exit_code == 0);
    result = run_cli({"-d", absent, "doctor", "--json"});
    CHECK(Json::parse(result.output)["errors"] == 0);
    CHECK(result.exit_code == 0);
}

TEST_CASE("The doctor says that a directory cannot be used as a broker") {
    const CliBroker broker;
    std::ofstream(broker.directory() / "clients") << "no table";
    const CliResult result = broker.run({"doctor"});
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.output, contains("error    broker-unusable") && contains("clients'") && contains("look: ls -la"));
}

TEST_CASE("The doctor's findings as JSON have ids, severities and commands") {
    const CliBroker broker;
    fill(broker);
    const CliResult result = broker.run({"doctor", "--json"});
    CHECK(result.exit_code == 1);
    const Json report = Json::parse(result.output);
    CHECK((report["errors"] == 0 && report["warnings"] == 1 && report["fixed"].empty()));
    const Json& finding = report["findings"][0];
    CHECK((finding["id"] == "group-without-members" && finding["severity"] == "warning" && finding["mends"] == false));
    CHECK(finding["object"] == "group 'billing' of topic 'trades'");
    CHECK(finding["command"] == "ringmain -d " + broker.directory().string() + " group delete billing -t trades");
    CHECK(finding["since_ns"].get<std::int64_t>() > 0);
    REQUIRE(broker.run({"group", "delete", "billing"}).exit_code == 0);
    CHECK(broker.run({"doctor"}).exit_code == 0);
}

TEST_CASE("The doctor says what its fix did, and whether there is room for a plan") {
    const CliBroker broker;
    broker.create_topic("t");
    std::ofstream(broker.directory() / ".making-1") << "x";
    CliResult result = broker.run({"doctor", "--fix", "--quick"});
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.output, contains("done     1 leftover removed\n") &&
                                  (contains("nothing is wrong") || contains("0 errors, 0 warnings")));
    result = broker.run({"doctor", "--plan", "1048576G"});
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.output, contains("no-room-for-plan") && contains("1.00 PiB are planned"));
    result = broker.run({"doctor", "--plan", "x"});
    CHECK(result.exit_code == 2);
}

}  // namespace ringmain::test
