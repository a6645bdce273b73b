// Help, version, exit codes, and the broker directory.
#include <filesystem>
#include <fstream>
#include <string>

#include "cli_process.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

void check_usage_error(const CliResult& result, const std::string& part) {
    CHECK(result.exit_code == 2);
    CHECK(result.output == "");
    CHECK_THAT(result.errors, Catch::Matchers::StartsWith("ringmain: "));
    CHECK_THAT(result.errors, contains(part));
}

}  // namespace

TEST_CASE("The command without arguments prints help and fails as a usage error") {
    const CliResult result = run_cli({});
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.errors,
               contains("produce") && contains("consume") && contains("verify") && contains("Examples:"));
}

TEST_CASE("Help goes to standard output, with examples for each command") {
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{{},
                                                                                         {"topic"},
                                                                                         {"topic", "create"},
                                                                                         {"topic", "list"},
                                                                                         {"topic", "describe"},
                                                                                         {"topic", "alter"},
                                                                                         {"topic", "trim"},
                                                                                         {"topic", "delete"},
                                                                                         {"produce"},
                                                                                         {"consume"},
                                                                                         {"verify"},
                                                                                         {"stats"},
                                                                                         {"top"},
                                                                                         {"doctor"},
                                                                                         {"dump"}}) {
        std::vector<std::string> arguments = command;
        arguments.push_back("--help");
        const CliResult result = run_cli(arguments);
        INFO(result.output);
        CHECK(result.exit_code == 0);
        CHECK(result.errors == "");
        CHECK_THAT(result.output, contains("Example") && contains("ringmain "));
    }
}

TEST_CASE("The version is one line") {
    const CliResult result = run_cli({"--version"});
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.output, Catch::Matchers::StartsWith("ringmain ") && contains("."));
    CHECK(result.output.find('\n') == result.output.size() - 1);
}

TEST_CASE("A wrong command line exits with 2 and names what is wrong") {
    const CliBroker broker;
    check_usage_error(broker.run({"unknown"}), "unknown");
    check_usage_error(broker.run({"topic", "rename"}), "rename");
    check_usage_error(broker.run({"topic", "list", "x", "y", "z"}), "x y z");
    check_usage_error(broker.run({"consume", "t", "--", "x", "y", "z"}), "x y z");
    check_usage_error(broker.run({"bogus", "--help"}), "'bogus'");
    check_usage_error(broker.run({"topic", "bogus", "--help"}), "'bogus'");
    check_usage_error(broker.run({"bogus", "--version"}), "'bogus'");
    check_usage_error(broker.run({"topic"}), "ringmain topic --help");
    check_usage_error(broker.run({"consume"}), "TOPIC");
    check_usage_error(broker.run({"consume", "t", "--colour"}), "--colour");
    check_usage_error(broker.run({"consume", "t", "-c", "0"}), "-c: '0'");
    check_usage_error(broker.run({"consume", "t", "-c", "ten"}), "-c: 'ten'");
    check_usage_error(broker.run({"consume", "t", "-p", "1024"}), "from 0 to 1023");
    check_usage_error(broker.run({"consume", "t", "-p", "-1"}), "-p: '-1'");
    check_usage_error(broker.run({"consume", "t", "-o", "@tomorrow"}), "'tomorrow'");
    check_usage_error(broker.run({"consume", "t", "-o", "middle"}), "'middle'");
    check_usage_error(broker.run({"consume", "t", "-o", "4611686018427387904"}), "from 0 to 4611686018427387903");
    check_usage_error(broker.run({"consume", "t", "-o", "18446744073709551616"}), "from 0 to 4611686018427387903");
    check_usage_error(broker.run({"consume", "t", "-f", "%q"}), "'%q'");
    check_usage_error(broker.run({"consume", "t", "-f", "%s", "--json"}), "--json");
    check_usage_error(broker.run({"produce", "t", "-K", ""}), "-K");
    check_usage_error(broker.run({"produce", "t", "-k", "a", "-K", ","}), "--key-delimiter");
    check_usage_error(broker.run({"produce", "t", "-H", "=x"}), "-H");
    check_usage_error(broker.run({"dump", "t"}), "--offset");
    check_usage_error(run_cli({"-d", "", "topic", "list"}), "-d");
    CHECK(std::filesystem::is_empty(broker.directory()));
}

TEST_CASE("The broker directory is -d before or after the command, or RINGMAIN_DIR") {
    const CliBroker broker;
    const std::string directory = broker.directory().string();
    broker.create_topic("here");
    CHECK(run_cli({"-d", directory, "topic", "list"}).output == "here\n");
    CHECK(run_cli({"topic", "list", "-d", directory}).output == "here\n");
    CHECK(run_cli({"topic", "list"}, {{"RINGMAIN_DIR", directory}}).output == "here\n");
    const CliBroker other;
    other.create_topic("there");
    CHECK(run_cli({"-d", other.directory().string(), "topic", "list"}, {{"RINGMAIN_DIR", directory}}).output ==
          "there\n");
}

TEST_CASE("K07 no command but topic create makes a broker or a topic") {
    const CliBroker broker;
    for (const std::vector<std::string>& command :
         std::vector<std::vector<std::string>>{{"consume", "orders", "-e"},
                                               {"produce", "orders"},
                                               {"topic", "list"},
                                               {"topic", "describe", "orders"},
                                               {"topic", "alter", "orders", "--retention-age", "1h"},
                                               {"topic", "trim", "orders", "--before", "end"},
                                               {"topic", "delete", "orders"},
                                               {"verify"},
                                               {"dump", "orders", "-o", "0"}}) {
        const CliResult result = broker.run(command, "buy\n");
        INFO(command.front() << ": " << result.errors);
        CHECK(result.exit_code == 1);
        CHECK(result.output == "");
        CHECK_THAT(result.errors, contains("ringmain: ") && contains(broker.directory().string()));
    }
    CHECK(std::filesystem::is_empty(broker.directory()));

    broker.create_topic("other");
    for (const std::vector<std::string>& command :
         std::vector<std::vector<std::string>>{{"consume", "orders", "-e"},
                                               {"produce", "orders"},
                                               {"topic", "describe", "orders"},
                                               {"topic", "alter", "orders", "--retention-age", "1h"},
                                               {"topic", "trim", "orders", "--before", "end"},
                                               {"topic", "delete", "orders"},
                                               {"verify", "orders"},
                                               {"dump", "orders", "-o", "0"}}) {
        const CliResult result = broker.run(command, "buy\n");
        INFO(command.front() << ": " << result.errors);
        CHECK(result.exit_code == 1);
        CHECK_THAT(result.errors, contains("orders"));
    }
    CHECK(broker.run({"topic", "list"}).output == "other\n");
}

TEST_CASE("A broker directory that does not exist is named") {
    const CliBroker broker;
    const std::string missing = (broker.directory() / "missing").string();
    const CliResult result = run_cli({"-d", missing, "consume", "t"});
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.errors, contains(missing));
    CHECK_FALSE(std::filesystem::exists(missing));
}

}  // namespace ringmain::test
