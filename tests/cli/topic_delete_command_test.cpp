// `ringmain topic delete` of topics that dead letters are in, or are to go to; and the group that keeps letters.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli_process.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

using Json = nlohmann::json;

/// Topic t with queue q, one of whose two records was rejected.
struct Place : CliBroker {
    Place() {
        create_topic("t", {"--records", "64", "--payload", "0", "--producers", "2"});
        REQUIRE(run({"produce", "t"}, "a\nb\n").exit_code == 0);
        REQUIRE(run({"queue", "create", "q", "-t", "t"}).exit_code == 0);
        REQUIRE(run({"consume", "t", "-q", "q", "--ack", "manual", "-c", "1"}, "reject 0:0 no account\n").exit_code == 0);
    }
};

}  // namespace

TEST_CASE("A topic that dead letters are in, or are to go to, is deleted by force only, and what is lost is said") {
    const Place place;
    const auto refused = [&] {
        const CliResult result = place.run({"topic", "delete", "t.dlq"});
        CHECK(result.exit_code == 1);
        CHECK(result.output == "");
        return result.errors;
    };
    CHECK_THAT(refused(), contains("topic 't.dlq' holds 1 dead letter that was neither replayed nor purged") &&
                              contains("the dead letters of queue 'q' of topic 't' go") && contains("--force deletes it all the same"));
    REQUIRE(place.run({"dlq", "replay", "t"}).exit_code == 0);
    CHECK_THAT(refused(), !contains("holds") && contains("the dead letters of queue 'q' of topic 't' go"));
    CHECK(place.run({"topic", "delete", "t.dlq", "--force"}).output == "deleted topic t.dlq\n");
    REQUIRE(place.run({"dlq", "relink", "t", "--group", "q"}).exit_code == 0);
    REQUIRE(place.run({"queue", "delete", "q"}).exit_code == 0);
    CHECK(place.run({"topic", "delete", "t.dlq"}).output == "deleted topic t.dlq\n");
    CHECK(place.run({"topic", "delete", "t"}).output == "deleted topic t\n");
}

TEST_CASE("Letters whose queue is gone are still counted before their topic is deleted") {
    const Place place;
    REQUIRE(place.run({"queue", "delete", "q"}).exit_code == 0);
    CHECK_THAT(place.run({"topic", "delete", "t.dlq"}).errors, contains("holds 1 dead letter") && !contains("queue 'q'"));
    REQUIRE(place.run({"dlq", "purge", "t", "--yes"}).exit_code == 0);
    CHECK(place.run({"topic", "delete", "t.dlq"}).exit_code == 0);
}

TEST_CASE("The group that keeps dead letters is deleted by nobody, and who-blocks says what to do") {
    const Place place;
    for (const std::vector<std::string>& force : {std::vector<std::string>{}, std::vector<std::string>{"--force"}}) {
        std::vector<std::string> arguments = {"group", "delete", "ringmain.dlq", "-t", "t.dlq"};
        arguments.insert(arguments.end(), force.begin(), force.end());
        const CliResult result = place.run(arguments);
        CHECK(result.exit_code == 1);
        CHECK_THAT(result.errors, contains("keeps the topic's dead letters") && contains("'ringmain dlq purge'"));
    }
    CHECK_THAT(place.run({"who-blocks", "-t", "t.dlq"}).output,
               contains("dead letters hold it; see 'ringmain dlq list t.dlq', then replay or purge"));
    const CliResult json = place.run({"who-blocks", "-t", "t.dlq", "--json"});
    CHECK(Json::parse(json.output)[0]["letters"] == true);
}

TEST_CASE("A partition of a dead-letter topic that there is not is an error, with the limit") {
    const Place place;
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"show"}, std::vector<std::string>{"replay", "--dry-run"}, std::vector<std::string>{"purge"}}) {
        std::vector<std::string> arguments = {"dlq", command[0], "t", "-p", "9"};
        arguments.insert(arguments.end(), command.begin() + 1, command.end());
        const CliResult result = place.run(arguments);
        CHECK(result.exit_code == 1);
        CHECK(result.output == "");
        CHECK_THAT(result.errors, contains("topic 't.dlq' has no partition 9 (partitions: 1)"));
    }
}

TEST_CASE("A name that is not there acts on no terminal") {
    const Place place;
    const std::string name = "x\x1b[2J\ny";
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"group", "describe", name, "-t", "t"}, std::vector<std::string>{"queue", "delete", name, "-t", "t"},
          std::vector<std::string>{"consume", "t", "-q", "q", "--ack", "manual", "-c", "1"}}) {
        const CliResult result = place.run(arguments, "ack " + name + "\n");
        CHECK(result.errors.find('\x1b') == std::string::npos);
        CHECK_THAT(result.errors, contains("x\\x1b[2J"));
    }
}

}  // namespace ringmain::test
