// `ringmain dlq`, as a shell sees it. Letters are published by hand: whatever wrote them, they are records with
// headers.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli_process.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

using Json = nlohmann::json;

struct Place : CliBroker {
    Place() {
        create("orders", "1M");
        create("orders.dlq", "2M");
    }
    void create(const std::string& name, const std::string& payload) const {
        create_topic(name, {"--partitions", "2", "--records", "64", "--payload", payload, "--producers", "4"});
    }

    [[nodiscard]] std::string id_of(const std::string& topic) const { return json({"topic", "describe", topic})["id"]; }

    struct Letter {
        std::string value;
        std::string partition = "0";
        std::string group = "billing";
        std::string error = "no account";
        std::string reason = "limit";
        std::string key = "";
    };
    void send(const Letter& letter) const {
        std::vector<std::string> arguments = {"produce", "orders.dlq", "-p", letter.partition};
        if (!letter.key.empty())
            arguments.insert(arguments.end(), {"-k", letter.key});
        const std::string prefix = "ringmain-dlq-";
        for (const std::string& header :
             {prefix + "topic=orders", prefix + "topic-id=" + id_of("orders"), prefix + "partition=" + letter.partition,
              prefix + "offset=7", prefix + "timestamp-ns=77", prefix + "attempts=5", prefix + "group=" + letter.group,
              prefix + "reason=" + letter.reason, prefix + "last-error=" + letter.error, std::string("trace=1")})
            arguments.insert(arguments.end(), {"-H", header});
        const CliResult result = run(arguments, letter.value + "\n");
        INFO(result.errors);
        REQUIRE(result.exit_code == 0);
    }

    [[nodiscard]] Json json(std::vector<std::string> arguments, int exit_code = 0) const {
        arguments.emplace_back("--json");
        const CliResult result = run(arguments);
        INFO(result.errors);
        REQUIRE(result.exit_code == exit_code);
        return Json::parse(result.output);
    }
    /// Values of the letters that are shown.
    [[nodiscard]] std::vector<std::string> shown(std::vector<std::string> options = {}) const {
        std::vector<std::string> arguments = {"dlq", "show", "orders", "--json"};
        arguments.insert(arguments.end(), options.begin(), options.end());
        const CliResult result = run(arguments);
        INFO(result.errors);
        REQUIRE(result.exit_code == 0);
        std::vector<std::string> values;
        for (std::size_t at = 0; at < result.output.size();) {
            const std::size_t end = result.output.find('\n', at);
            values.push_back(Json::parse(result.output.substr(at, end - at))["payload"]);
            at = end + 1;
        }
        return values;
    }
};

using Values = std::vector<std::string>;

}  // namespace

TEST_CASE("dlq list counts letters by topic and group, as text and as JSON") {
    const Place place;
    place.send({.value = "a"});
    place.send({.value = "b", .partition = "1", .reason = "expired"});
    place.send({.value = "c", .group = "mailing"});
    const CliResult text = place.run({"dlq", "list", "orders"});
    CHECK(text.exit_code == 0);
    CHECK_THAT(text.output, contains("orders.dlq") && contains("billing") && contains("mailing"));

    const Json list = place.json({"dlq", "list", "orders"});
    REQUIRE(list.size() == 1);
    CHECK(list[0]["dead_letter_topic"] == "orders.dlq");
    CHECK(list[0]["letters"] == 3);
    CHECK(list[0]["others"] == 0);
    CHECK(list[0]["groups"][0]["group"] == "billing");
    CHECK(list[0]["groups"][0]["letters"] == 2);
    CHECK(list[0]["groups"][0]["by_reason"]["expired"] == 1);
    CHECK(list[0]["groups"][0]["oldest_ns"] > 0);
    CHECK(list[0]["groups"][1]["group"] == "mailing");

    CHECK(place.run({"dlq", "purge", "orders", "--yes"}).exit_code == 0);
    CHECK(place.json({"dlq", "list"})[0]["letters"] == 0);
    CHECK_THAT(place.run({"dlq", "list"}).output, contains("orders.dlq"));
}

TEST_CASE("dlq show shows letters, all or some, and what is none") {
    const Place place;
    place.send({.value = "a", .key = "k1"});
    place.send({.value = "b", .error = "time-out"});
    place.send({.value = "c", .partition = "1", .group = "mailing", .reason = "worker-died"});
    CHECK(place.shown() == Values{"a", "b", "c"});
    CHECK(place.shown({"-c", "2"}) == Values{"a", "b"});
    CHECK(place.shown({"--group", "mailing"}) == Values{"c"});
    CHECK(place.shown({"--error", "account"}) == Values{"a", "c"});
    CHECK(place.shown({"--reason", "worker-died"}) == Values{"c"});
    CHECK(place.shown({"--key", "k1"}) == Values{"a"});
    CHECK(place.shown({"-p", "0", "-o", "1"}) == Values{"b"});
    CHECK(place.shown({"--since", "2020-01-01"}).size() == 3);
    CHECK(place.shown({"--until", "2020-01-01"}).empty());

    const CliResult one = place.run({"dlq", "show", "orders", "-c", "1", "--json"});
    const Json letter = Json::parse(one.output);
    CHECK(letter["topic"] == "orders.dlq");
    CHECK(letter["letter"]["topic"] == "orders");
    CHECK(letter["letter"]["offset"] == 7);
    CHECK(letter["letter"]["ts_ns"] == 77);
    CHECK(letter["letter"]["attempts"] == 5);
    CHECK(letter["letter"]["first_error"] == nullptr);
    CHECK(letter["letter"]["last_error"] == "no account");

    const CliResult text = place.run({"dlq", "show", "orders.dlq"});
    CHECK_THAT(text.output,
               contains("orders/0/7") && contains("worker-died") && contains("no account") && contains("k1"));

    REQUIRE(place.run({"produce", "orders.dlq", "-p", "0"}, "foreign\n").exit_code == 0);
    CHECK_THAT(place.run({"dlq", "show", "orders.dlq"}).output,
               contains("no letter") && contains("has no header 'ringmain-dlq-topic'"));
    CHECK(place.shown().size() == 3);  // of that topic's records
    CHECK_THAT(place.run({"dlq", "show", "orders.dlq", "--json"}).output, contains("\"problem\":\"has no header"));
}

TEST_CASE("dlq replay publishes letters once more, each once, and says what stays") {
    const Place place;
    for (const char* value : {"a", "b", "c"})
        place.send({.value = value, .group = value[0] == 'b' ? "mailing" : "billing"});
    const CliResult would = place.run({"dlq", "replay", "orders", "--dry-run"});
    CHECK(would.exit_code == 0);
    CHECK_THAT(would.output, contains("3 of 3 letters would be replayed"));
    CHECK(place.consume("orders").empty());

    const Json some = place.json({"dlq", "replay", "orders", "--group", "billing"});
    CHECK(some["matched"] == 2);
    CHECK(some["replayed"] == 2);
    CHECK(some["dry_run"] == false);
    CHECK(some["why"] == nullptr);
    CHECK(place.shown() == Values{"b"});
    CHECK(place.consume("orders", {"-p", "0"}) == "a\nc\n");
    const CliResult rest = place.run({"dlq", "replay", "orders.dlq"});
    CHECK_THAT(rest.output, contains("orders.dlq: 1 of 1 letter replayed"));
    CHECK_THAT(place.run({"dlq", "replay", "orders"}).output, contains("0 of 0 letters replayed"));
    CHECK(place.consume("orders", {"-p", "0"}) == "a\nc\nb\n");
    CHECK_THAT(place.consume("orders", {"-p", "0", "--json"}), contains("ringmain-replayed-from") &&
                                                                   contains("orders/0/7") && contains("trace") &&
                                                                   !contains("ringmain-dlq"));
}

TEST_CASE("queue redrive replays what one queue gave up") {
    const Place place;
    for (const char* value : {"a", "b", "c"})
        place.send({.value = value, .group = value[0] == 'b' ? "mailing" : "billing"});
    CHECK_THAT(place.run({"queue", "redrive", "mailing", "-t", "orders", "--dry-run"}).output, contains("1 of 1 letter would be replayed"));
    CHECK_THAT(place.run({"queue", "redrive", "mailing", "-t", "orders"}).output, contains("1 of 1 letter replayed"));
    CHECK(place.shown() == Values{"a", "c"});
    const CliResult mistyped = place.run({"queue", "redrive", "mailng", "-t", "orders"});
    CHECK(mistyped.exit_code == 1);
    CHECK_THAT(mistyped.errors, contains("topic 'orders' has no queue 'mailng', and no dead letters of one"));
    CHECK(place.run({"queue", "create", "idle", "-t", "orders"}).exit_code == 0);
    CHECK(place.run({"queue", "redrive", "idle", "-t", "orders"}).exit_code == 0);
    CHECK(place.run({"queue", "redrive", "mailing"}).exit_code == 2);
    CHECK_THAT(place.run({"queue", "redrive", "mailing", "-t", "nowhere"}).errors, contains("nowhere"));
}

TEST_CASE("dlq replay to another topic, and letters that cannot go anywhere") {
    const Place place;
    place.create("repaired", "1M");
    place.send({.value = "a"});
    place.send({.value = "b"});
    CHECK(place.json({"dlq", "replay", "orders", "--to", "repaired", "-o", "0"})["replayed"] == 1);
    REQUIRE(place.run({"topic", "delete", "orders"}).exit_code == 0);
    const CliResult stays = place.run({"dlq", "replay", "orders.dlq"});
    CHECK(stays.exit_code == 1);
    CHECK_THAT(stays.output, contains("0 of 1 letter replayed") && contains("1 stay because their topic is gone"));
    CHECK_THAT(stays.errors, contains("offset 1 of topic 'orders.dlq' partition 0") && contains("'orders' not found"));
    CHECK(place.run({"dlq", "replay", "orders.dlq", "--to", "repaired"}).exit_code == 0);
    CHECK(place.consume("repaired", {"-p", "0"}) == "a\nb\n");
    CHECK(place.run({"dlq", "replay", "orders.dlq", "--to", "orders.dlq"}).exit_code == 1);
    CHECK(place.run({"dlq", "replay", "orders.dlq", "--to", "nowhere"}).exit_code == 1);
}

TEST_CASE("dlq purge shows what it would drop, and drops it with --yes") {
    const Place place;
    for (const char* value : {"a", "b", "c"})
        place.send({.value = value, .reason = value[0] == 'b' ? "expired" : "limit"});
    const CliResult would = place.run({"dlq", "purge", "orders", "--reason", "expired"});
    CHECK(would.exit_code == 0);
    CHECK_THAT(would.output, contains("1 letter would be purged"));
    CHECK_THAT(would.errors, contains("--yes does it"));
    CHECK(place.shown().size() == 3);
    CHECK(place.json({"dlq", "purge", "orders", "--yes", "--dry-run"})["purged"] == 0);
    CHECK(place.json({"dlq", "purge", "orders", "--reason", "expired", "--yes"})["purged"] == 1);
    CHECK(place.shown() == Values{"a", "c"});
    CHECK_THAT(place.run({"dlq", "purge", "orders", "--yes"}).output, contains("2 letters purged"));
    CHECK(place.shown().empty());
}

TEST_CASE("doctor finds dead letters, from as many on as it is told") {
    const Place place;
    place.send({.value = "a"});
    place.send({.value = "b", .group = "mailing"});
    REQUIRE(place.run({"dlq", "purge", "orders", "--reason", "expired", "--yes"}).exit_code == 0);  // the topic keeps letters from now on
    const CliResult found = place.run({"doctor", "--quick"});
    CHECK(found.exit_code == 1);
    CHECK_THAT(found.output, contains("dead-letters") && contains("2 dead letters") && contains("1 of group 'mailing' of topic 'orders'") &&
                                 contains("dlq show orders.dlq"));
    CHECK_THAT(found.output, !contains("group-without-members"));
    CHECK_THAT(place.run({"doctor", "--quick", "--dead-letters", "3"}).output, !contains("dead-letters"));
    CHECK(place.run({"doctor", "--dead-letters", "0"}).exit_code == 2);
    REQUIRE(place.run({"dlq", "replay", "orders"}).exit_code == 0);
    CHECK_THAT(place.run({"doctor", "--quick"}).output, !contains("dead-letters"));
}

TEST_CASE("dlq refuses what cannot be, with the option, the value and what is possible") {
    const Place place;
    place.create("plain", "1M");
    CHECK(place.run({"dlq"}).exit_code == 2);
    const CliResult reason = place.run({"dlq", "show", "orders", "--reason", "bad luck"});
    CHECK(reason.exit_code == 2);
    CHECK_THAT(reason.errors, contains("--reason") && contains("'bad luck'") && contains("worker-died"));
    CHECK(place.run({"dlq", "show", "orders", "--since", "soon"}).exit_code == 2);
    CHECK(place.run({"dlq", "show", "orders", "-p", "1024"}).exit_code == 2);
    CHECK(place.run({"dlq", "show", "orders", "-c", "0"}).exit_code == 2);
    const CliResult none = place.run({"dlq", "show", "plain"});
    CHECK(none.exit_code == 1);
    CHECK_THAT(none.errors, contains("topic 'plain' has no dead letters"));
    CHECK(place.run({"dlq", "show", "nowhere"}).exit_code == 1);
    CHECK(place.run({"dlq", "list", "nowhere"}).exit_code == 1);
    CHECK(place.run({"dlq", "list"}).exit_code == 0);
}

}  // namespace ringmain::test
