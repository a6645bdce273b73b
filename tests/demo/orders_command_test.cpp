// Whole runs of `ringmain demo`, the story of the orders: its counts, that a wrong one is noticed, and what it leaves
// behind.
#include <signal.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "demo_run.hpp"
#include "support/catch.hpp"

using namespace ringmain::test;
using Json = nlohmann::json;

namespace {

/// The one check whose name has this in it.
bool is_good(const Json& report, const std::string& part) {
    for (const Json& check : report.at("checks")) {
        if (check.at("name").get<std::string>().find(part) != std::string::npos)
            return check.at("ok").get<bool>();
    }
    FAIL("no check is called " << part);
    return false;
}

}  // namespace

TEST_CASE("The orders are handled by every group, and only the killed and the stopped member's are repeated") {
    const TestDirectory directory;
    const Json report = report_of(run_demo({"-d", directory.path(), "demo", "--seconds", "3", "--json"}));
    CHECK(directory.empty());
    CHECK(report.at("scenario") == "orders");
    CHECK(report.at("events") == 4 * report.at("orders").get<std::uint64_t>());
    REQUIRE(report.at("groups").size() == 3);
    for (const Json& group : report.at("groups")) {
        INFO(group.dump());
        CHECK(group.at("orders") == report.at("orders"));
        CHECK(group.at("distinct") == report.at("events"));
        CHECK(group.at("lag") == 0);
    }
    const Json& email = report.at("groups").at(0);
    CHECK(email.at("handovers").get<std::uint64_t>() >=
          4);  // two partitions of the killed one, two or more of the stopped one
    CHECK(report.at("kill").at("partitions").get<std::uint64_t>() >= 1);
    CHECK(report.at("kill").at("repeated").get<std::uint64_t>() >= 1);
    CHECK(report.at("kill").at("all_again_ns").is_number());
    CHECK(report.at("stop").at("partitions").get<std::uint64_t>() >= 1);
    CHECK(report.at("stop").at("repeated").get<std::uint64_t>() >= 1);
    CHECK(report.at("stop").at("finished_afterwards") == report.at("stop").at("in_hand"));
    CHECK(report.at("stop").at("commits_fenced").get<std::uint64_t>() >= 1);
    CHECK(report.at("stop").at("told_after_ns").is_number());
    CHECK(report.at("stop").at("handed_out_afterwards") == 0);
}

TEST_CASE(
    "The labels of all orders are printed by a queue, of which a worker is killed; the poison order is replayed, the "
    "flaky one repeated") {
    const Json report = report_of(run_demo({"demo", "--seconds", "3", "--json"}));
    const Json& queue = report.at("queue");
    INFO(queue.dump(2));
    CHECK(queue.at("workers") == 5);
    CHECK(queue.at("partitions") == 3);
    CHECK(queue.at("distinct") == report.at("orders"));
    CHECK(queue.at("lag") == 0);
    CHECK(queue.at("expired") == 0);
    const Json& kill = queue.at("kill");
    CHECK(kill.at("printed").get<std::uint64_t>() >= 1);
    CHECK(kill.at("held").get<std::uint64_t>() > kill.at("printed").get<std::uint64_t>());
    CHECK(kill.at("delivered_again") == kill.at("held"));
    CHECK(kill.at("all_again_ns").is_number());
    CHECK(queue.at("returned") == kill.at("held"));
    CHECK(queue.at("repeated") == kill.at("printed"));
    CHECK(queue.at("printed") == report.at("orders").get<std::uint64_t>() + kill.at("printed").get<std::uint64_t>());
    CHECK(queue.at("dead_lettered") == 1);
    CHECK(queue.at("poison").at("failed") == 5);
    CHECK(queue.at("poison").at("letters") == 1);
    CHECK(queue.at("poison").at("replayed") == 1);
    CHECK(queue.at("poison").at("replayed_again") == 0);
    CHECK(queue.at("poison").at("printed_at_attempt") == 1);
    CHECK(queue.at("flaky").at("failed") == 2);
    CHECK(queue.at("flaky").at("printed_at_attempt") == 3);
}

TEST_CASE("A label that a printer acknowledges and does not print makes the demo fail and say what is wrong") {
    const ProgramResult result = run_demo({"demo", "--seconds", "3", "--json", "--plant", "forget"});
    INFO(result.errors << result.output);
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.errors, contains("wrong count: labels: the label of every order was printed"));
    const Json report = Json::parse(result.output);
    CHECK(report.at("queue").at("missing") == 1);
    CHECK_FALSE(is_good(report, "labels: the label of every order"));
    CHECK(is_good(report, "labels: every delivery"));
    CHECK(is_good(report, "inventory: every event of every order"));
}

TEST_CASE(
    "An event that a member skips, handles twice or handles too early makes the demo fail and say what is wrong") {
    struct Planted {
        const char* defect;
        const char* check;
    };
    for (const Planted& planted : {Planted{"skip", "inventory: every event of every order"},
                                   Planted{"repeat", "inventory: nothing was handled twice"},
                                   Planted{"swap", "inventory: the events of every order"}}) {
        const ProgramResult result = run_demo({"demo", "--seconds", "3", "--json", "--plant", planted.defect});
        INFO(planted.defect << "\n" << result.errors << result.output);
        CHECK(result.exit_code == 1);
        CHECK_THAT(result.errors, contains("wrong count: inventory"));
        const Json report = Json::parse(result.output);
        CHECK_FALSE(report.at("ok").get<bool>());
        CHECK_FALSE(is_good(report, planted.check));
        CHECK(is_good(report, "email: every event of every order"));
    }
}

TEST_CASE("The orders work with one producer and with eight") {
    for (const char* producers : {"1", "8"})
        report_of(run_demo({"demo", "orders", "--seconds", "3", "--producers", producers, "--json"}));
}

TEST_CASE("The orders are told in plain lines where there is no terminal, and end with a table for people") {
    const ProgramResult result = run_demo({"demo", "--seconds", "3"});
    INFO(result.output);
    REQUIRE(result.exit_code == 0);
    CHECK(result.errors.empty());
    for (const char* part :
         {"email (3 members, 2 partitions each)", "email-2 killed with SIGKILL", "are taken over by",
          "email-3 stopped with SIGSTOP", "was told that it is evicted", "longest pause",
          "queue 'printers' of topic 'labels': 5 workers on 3 partitions",
          "order-000050, whose paper jams, is printed by", "printer-2 killed with SIGKILL while it holds",
          "order-000040 failed 5 times (\"no such town: Atlantis\") and is the only letter of labels.dlq",
          "the map is mended and 1 letter replayed", "  ok    labels: every delivery is accounted for",
          "the kill of email-2", "the stop of email-3",
          "  ok    email: only what killed and evicted members had not committed was repeated"}) {
        CHECK_THAT(result.output, contains(part));
    }
    CHECK(result.output.find('\r') == std::string::npos);
    CHECK(result.output.find("WRONG") == std::string::npos);
}

TEST_CASE("The orders refuse options out of range") {
    CHECK(run_demo({"demo", "--seconds", "2"}).exit_code == 2);
    CHECK(run_demo({"demo", "--seconds", "61"}).exit_code == 2);
    CHECK(run_demo({"demo", "--producers", "9"}).exit_code == 2);
    const ProgramResult defect = run_demo({"demo", "--plant", "lose"});
    CHECK(defect.exit_code == 2);
    CHECK_THAT(defect.errors, contains("'lose' is none of skip, repeat, swap, forget"));
}

TEST_CASE("Interrupted orders end all members, also the stopped one, and leave nothing behind") {
    const TestDirectory directory;
    for (const char* moment : {"producers place", "stopped with SIGSTOP"}) {
        for (const int number : {SIGINT, SIGTERM}) {
            Program demo({RINGMAIN_CLI_PATH, "-d", directory.path(), "demo", "--seconds", "6"});
            REQUIRE(demo.wait_for(moment));
            demo.signal(number);
            const ProgramResult result = demo.finish();
            CHECK(result.exit_code == 1);
            CHECK_THAT(result.errors, contains("interrupted"));
            CHECK(directory.empty());
        }
    }
}

TEST_CASE("Orders that are killed leave nothing behind, also while a member is stopped") {
    const TestDirectory directory;
    for (const char* moment : {"producers place", "stopped with SIGSTOP"}) {
        Program demo({RINGMAIN_CLI_PATH, "-d", directory.path() / "made by the demo", "demo", "--seconds", "6"});
        REQUIRE(demo.wait_for(moment));
        demo.signal(SIGKILL);
        CHECK(demo.finish().exit_code == -1);
        CHECK(becomes_empty(directory));  // once the last of its processes is dead
    }
}
