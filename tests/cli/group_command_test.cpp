// `ringmain group`, `who-blocks` and `consume -g`, as a shell sees them.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli_process.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/group_admin.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

using Json = nlohmann::json;

std::string lines(int from, int to) {
    std::string text;
    for (int i = from; i < to; ++i)
        text += std::to_string(i) + "\n";
    return text;
}

/// A small topic of two partitions.
struct Place : CliBroker {
    explicit Place(const std::vector<std::string>& extra = {}) { create("t", extra); }
    void create(const std::string& name, const std::vector<std::string>& extra = {}) const {
        std::vector<std::string> options = {"--partitions", "2", "--records", "64", "--payload", "0", "--producers", "2"};
        options.insert(options.end(), extra.begin(), extra.end());
        create_topic(name, options);
    }
    void produce(const std::string& partition, int from, int to, const std::string& topic = "t") const {
        REQUIRE(run({"produce", topic, "-p", partition}, lines(from, to)).exit_code == 0);
    }
    /// Reads the group to the end.
    [[nodiscard]] CliResult catch_up(const std::vector<std::string>& extra = {}) const {
        std::vector<std::string> arguments = {"consume", "t", "-g", "g", "-e"};
        arguments.insert(arguments.end(), extra.begin(), extra.end());
        CliResult result = run(arguments);
        REQUIRE(result.exit_code == 0);
        return result;
    }
    [[nodiscard]] Json json(std::vector<std::string> arguments) const {
        arguments.push_back("--json");
        const CliResult result = run(arguments);
        INFO(result.errors);
        REQUIRE(result.exit_code == 0);
        return Json::parse(result.output);
    }
    [[nodiscard]] Json lag() const { return json({"group", "lag", "g", "-t", "t"}); }
};

/// A member in this process that reads all there is, and commits it.
struct Member {
    explicit Member(const Place& place, const std::string& static_name = {})
        : consumer(Broker(place.directory()), GroupOptions{.name = "g", .static_name = static_name}) {
        consumer.subscribe("t");
        bool dry = false;
        for (int i = 0; i < 1000 && !(dry && consumer.assignment().size() == 2); ++i)
            dry = consumer.poll(100, std::chrono::milliseconds(10)).records.empty();
        REQUIRE(consumer.assignment().size() == 2);
        REQUIRE(consumer.commit().status == Status::ok);
    }
    Consumer consumer;
};

}  // namespace

TEST_CASE("B08 A group that has read everything has the next offset committed, no lag, and gets nothing again") {
    const Place place;
    place.produce("0", 0, 10);
    CHECK(place.catch_up().output == lines(0, 10));
    CHECK(place.catch_up().output == "");
    const Json lag = place.lag();
    CHECK((lag[0]["committed"] == 10 && lag[0]["lag"] == 0 && lag[0]["lag_bytes"] == 0 && lag[0]["lag_ms"].is_null()));
    place.produce("0", 10, 12);
    CHECK(place.catch_up({"-c", "1"}).output == lines(10, 11));
    CHECK(place.lag()[0]["committed"] == 11);
    CHECK(place.catch_up().output == lines(11, 12));
    const CliResult text = place.run({"group", "describe", "g"});
    CHECK_THAT(text.output, contains("COMMITTED(NEXT)") && contains(" 12 ") && contains("state             empty"));
}

TEST_CASE("B13 Without a commit text shows a dash and JSON null") {
    const Place place;
    place.produce("1", 0, 29);
    Consumer consumer(Broker(place.directory()), GroupOptions{.name = "g"});
    consumer.subscribe("t");
    const Json lag = place.lag();
    REQUIRE(lag.size() == 2);
    for (const Json& partition : lag) {
        CHECK(partition["committed"].is_null());
        CHECK(partition["lag"].get<int>() <= partition["end"].get<int>() - partition["start"].get<int>());
    }
    CHECK((lag[1]["topic"] == "t" && lag[1]["group"] == "g" && lag[1]["partition"] == 1 && lag[1]["end"] == 29 && lag[1]["lag"] == 29));
    CHECK(lag[1]["lag_bytes"] == 10 + 19 * 2);
    CHECK(lag[1]["lag_bytes_estimated"] == false);
    CHECK(lag[1]["lag_ms"].get<std::int64_t>() >= 0);
    CHECK(place.json({"group", "lag", "g", "--sample", "3"})[1]["lag_bytes_estimated"] == true);
    CHECK(place.json({"group", "lag", "g", "--sample", "0"})[1]["lag_bytes"].is_null());
    const CliResult text = place.run({"group", "lag", "g"});
    CHECK_THAT(text.output, contains(" - ") && !contains("-1"));
}

TEST_CASE("B11 Lost records are shown beside the lag, and a group that waits for a seek says what to do") {
    const Place place;
    place.produce("0", 0, 3);
    REQUIRE(place.catch_up().output == lines(0, 3));
    place.produce("0", 3, 203);
    const Json lag = place.lag()[0];
    CHECK(lag["committed"] == 3);
    CHECK(lag["lost"].get<int>() == lag["start"].get<int>() - 3);
    CHECK(lag["lag"].get<int>() == 203 - lag["start"].get<int>());
    const CliResult stuck = place.run({"consume", "t", "-g", "g", "-e"});
    CHECK(stuck.exit_code == 1);
    CHECK_THAT(stuck.errors, contains("position_lost") && contains("group reset") && contains("gap: t[0] 3.."));
    REQUIRE(place.run({"group", "reset", "g", "--to", "earliest", "--execute"}).exit_code == 0);
    CHECK(place.catch_up().output == lines(lag["start"].get<int>(), 203));
}

TEST_CASE("Groups are listed, described with their members, and shown with their topic") {
    const Place place;
    place.produce("0", 0, 4);
    const Member member(place, "worker");
    const Json list = place.json({"group", "list"});
    REQUIRE(list.size() == 1);
    CHECK((list[0]["topic"] == "t" && list[0]["group"] == "g" && list[0]["state"] == "stable" && list[0]["members"] == 1));
    CHECK_THAT(place.run({"group", "list", "-t", "t"}).output, contains("stable") && contains("GROUP"));
    const Json group = place.json({"group", "describe", "g"})[0];
    CHECK((group["gating"] == false && group["on_loss"] == "error" && group["start"] == "earliest"));
    REQUIRE(group["members"].size() == 1);
    const Json& shown = group["members"][0];
    CHECK((shown["static_name"] == "worker" && shown["in_group"] == true && shown["session_timeout_ms"] == 45'000));
    CHECK((shown["client"]["alive"] == true && shown["client"]["pid"] == ::getpid()));
    CHECK(shown["partitions"] == Json::array({0, 1}));
    CHECK((group["partitions"][0]["owner"] == shown["slot"] && group["partitions"][0]["generation"].get<int>() > 0));
    CHECK_THAT(place.run({"group", "describe", "g"}).output, contains("worker: client") && contains("alive") && contains("partitions 0 1"));
    const Json topic = place.json({"topic", "describe", "t"});
    REQUIRE(topic["groups"].size() == 1);
    CHECK((topic["groups"][0]["name"] == "g" && topic["groups"][0]["lag"] == 0 && topic["groups"][0]["members"] == 1));
    CHECK(topic["groups"][0]["records_until_loss"].get<int>() > 0);
    CHECK_THAT(place.run({"topic", "describe", "t"}).output,
               contains("group 'g': stable, 1 member, 0 records behind, 0 lost, at least ") && contains("until it loses some"));
}

TEST_CASE("B18 Reset shows, then does; refuses while there are members, and fences them by force") {
    const Place place;
    place.produce("0", 0, 100);
    std::optional<Member> member(std::in_place, place);
    const auto start = place.lag()[0]["start"].get<std::uint64_t>();
    const CliResult shown = place.run({"group", "reset", "g", "--to", std::to_string(start + 1)});
    CHECK(shown.exit_code == 0);
    CHECK_THAT(shown.errors, contains("nothing was changed; --execute does it"));
    CHECK_THAT(shown.output, contains("TARGET") && contains(std::to_string(start + 1)) && contains("lowered to the log end"));
    CHECK(place.lag()[0]["committed"] == 100);
    const CliResult refused = place.run({"group", "reset", "g", "--to", std::to_string(start + 1), "--execute"});
    CHECK(refused.exit_code == 1);
    CHECK_THAT(refused.errors, contains("ringmain: group 'g' of topic 't' has members: client ") && contains("--force"));
    CHECK(place.lag()[0]["committed"] == 100);
    CHECK(place.run({"group", "reset", "g", "--to", std::to_string(start + 1), "--execute", "--force"}).exit_code == 0);
    CHECK(place.lag()[0]["committed"] == start + 1);
    CHECK(member->consumer.commit().status == Status::commit_refused);
    CHECK(place.lag()[0]["committed"] == start + 1);
    member.reset();
    CHECK(place.run({"group", "reset", "g", "--to", "-1000", "--execute"}).exit_code == 0);
    CHECK(place.lag()[0]["committed"] == start);
}

TEST_CASE("R1 A saved plan finishes a reset, however often it is run, and only for its group") {
    const Place place;
    place.produce("0", 0, 20);
    (void)place.catch_up();
    const std::string plan = (place.directory() / "plan.json").string();
    const Json shown = place.json({"group", "reset", "g", "--to", "-5", "--save-plan", plan});
    CHECK(shown["plans"][0]["partitions"][0]["target"] == 15);
    CHECK((shown["plans"][0]["partitions"][1]["target"] == 0 && shown["plans"][0]["partitions"][1]["clamp"] == "log_start"));
    for (int i = 0; i < 2; ++i) {
        CHECK(place.run({"group", "reset", "g", "--from-file", plan, "--execute"}).exit_code == 0);
        CHECK(place.lag()[0]["committed"] == 15);
    }
    CHECK(place.catch_up().output == lines(15, 20));
    const CliResult moved = place.run({"group", "reset", "g", "--from-file", plan, "--execute"});
    CHECK(moved.exit_code == 1);
    CHECK_THAT(moved.errors, contains("not as it was planned") && contains("partition 0"));
    const CliResult other = place.run({"group", "reset", "h", "--from-file", plan, "--execute"});
    CHECK(other.exit_code == 1);
    CHECK_THAT(other.errors, contains("plan.json") && contains("'g', not 'h'"));
    CHECK(place.run({"group", "reset", "g", "--from-file", plan, "-t", "u"}).exit_code == 1);
}

TEST_CASE("B15 B16 A group of several topics is addressed as a whole or in one, and only deletion ends it") {
    const Place place;
    place.create("u");
    for (const std::string topic : {"t", "u"}) {
        place.produce("0", 0, topic == "t" ? 3 : 7, topic);
        REQUIRE(place.run({"consume", topic, "-g", "g", "-e"}).exit_code == 0);
    }
    const Json lag = place.json({"group", "lag", "g"});
    REQUIRE(lag.size() == 4);
    CHECK((lag[0]["topic"] == "t" && lag[0]["committed"] == 3 && lag[2]["topic"] == "u" && lag[2]["committed"] == 7));
    CHECK_THAT(place.run({"group", "describe", "g"}).output, contains("expires           never"));
    CHECK(place.run({"group", "delete", "g", "-t", "t"}).output == "deleted group g of topic t\n");
    CHECK(place.json({"group", "list"}).size() == 1);
    CHECK(place.run({"group", "delete", "g"}).output == "deleted group g of topic u\n");
    CHECK(place.json({"group", "list"}).empty());
}

TEST_CASE("A group with members is deleted by force only, and its consumer says what became of it") {
    const Place place;
    place.produce("0", 0, 2);
    CliProcess consumer(place.in_directory({"consume", "t", "-g", "g", "--static-name", "worker"}));
    REQUIRE(consumer.wait_for_output("1\n"));
    const CliResult refused = place.run({"group", "delete", "g"});
    CHECK(refused.exit_code == 1);
    CHECK_THAT(refused.errors, contains("ringmain: group 'g' of topic 't' has members: 'worker'") && contains("pid") && contains("--force"));
    CHECK(place.run({"group", "delete", "g", "--force"}).exit_code == 0);
    CHECK(consumer.wait_for_errors("group_deleted"));
    CHECK(consumer.finish().exit_code == 1);
}

TEST_CASE("A member that is stopped by a signal has committed what it printed, and leaves at once") {
    const Place place;
    place.produce("0", 0, 5);
    for (const int number : {SIGINT, SIGTERM}) {
        CliProcess consumer(place.in_directory({"consume", "t", "-g", "g"}));
        place.produce("0", 5, 6);
        REQUIRE(consumer.wait_for_output("5\n"));
        consumer.send_signal(number);
        const CliResult result = consumer.finish();
        CHECK(result.exit_code == 0);
        CHECK_THAT(result.errors, contains("consumed from t"));
        CHECK(place.json({"group", "list"})[0]["members"] == 0);
        CHECK(place.lag()[0]["lag"] == 0);
    }
}

TEST_CASE("Two members of a group share the partitions, and -e ends with what is one's own") {
    const Place place;
    place.produce("0", 0, 50);
    place.produce("1", 50, 100);
    CliProcess first(place.in_directory({"consume", "t", "-g", "g"}));
    CliProcess second(place.in_directory({"consume", "t", "-g", "g"}));
    Json group;
    for (int i = 0; i < 600; ++i) {
        const CliResult seen = place.run({"group", "describe", "g", "--json"});
        if (seen.exit_code != 0)
            continue;  // nobody has made the group yet
        group = Json::parse(seen.output)[0];
        if (group["members"].size() == 2 && group["state"] == "stable" && group["members"][0]["partitions"].size() == 1)
            break;
    }
    REQUIRE(group["members"].size() == 2);
    CHECK(group["members"][0]["partitions"].size() == 1);
    CHECK(group["members"][1]["partitions"].size() == 1);
    first.send_signal(SIGINT);
    second.send_signal(SIGINT);
    const std::string both = first.finish().output + second.finish().output;
    std::string rest = place.catch_up().output;
    for (const int i : {0, 49, 50, 99})
        CHECK_THAT("\n" + both + rest, contains("\n" + std::to_string(i) + "\n"));
    CHECK(std::count(both.begin(), both.end(), '\n') + std::count(rest.begin(), rest.end(), '\n') >= 100);
    CHECK(place.lag()[1]["lag"] == 0);
}

TEST_CASE("C12 who-blocks names the group that holds a full topic, and the producer goes on when it is deleted") {
    const Place place({"--when-full", "block"});
    CHECK_THAT(place.run({"who-blocks"}).errors, contains("nothing holds a log start back"));
    CHECK(place.json({"who-blocks"}).empty());
    place.produce("0", 0, 5);
    REQUIRE(place.catch_up({"--gating"}).output == lines(0, 5));
    CliProcess producer(place.in_directory({"produce", "t", "-p", "0"}));
    producer.write_input(lines(5, 205));
    REQUIRE(producer.wait_for_errors("waiting for"));
    const Json holders = place.json({"who-blocks", "-t", "t"});
    REQUIRE(holders.size() == 2);
    const Json& holder = holders[0];
    CHECK((holder["topic"] == "t" && holder["partition"] == 0 && holder["kind"] == "group" && holder["name"] == "g"));
    CHECK((holder["offset"] == 5 && holder["room_records"] == 0 && holder["client"].is_null() && holder["holds"] == true));
    CHECK(holder["lag"].get<int>() > 0);
    CHECK(holder["lag_ms"].get<std::int64_t>() >= 0);
    CHECK(holder["since_ns"].get<std::int64_t>() > 0);
    CHECK_THAT(place.run({"who-blocks"}).output, contains("group g ") && contains("no member owns it"));
    REQUIRE(place.run({"group", "delete", "g"}).exit_code == 0);
    CHECK(producer.finish().exit_code == 0);
}

TEST_CASE("who-blocks --all shows those that are further ahead, gates of readers among them") {
    const Place place({"--when-full", "block"});
    place.produce("0", 0, 5);
    Consumer reader{Broker(place.directory())};
    reader.assign("t", 0);
    reader.hold_gates("archiver");
    REQUIRE(place.catch_up({"--gating"}).output == lines(0, 5));
    CHECK(place.json({"who-blocks"}).size() == 2);
    const Json all = place.json({"who-blocks", "--all"});
    REQUIRE(all.size() == 3);
    CHECK((all[0]["name"] == "archiver" && all[0]["kind"] == "gate" && all[0]["client"]["pid"] == ::getpid() && all[1]["name"] == "g"));
    CHECK(all[1]["holds"] == false);
    CHECK_THAT(place.run({"who-blocks"}).output, contains("archiver") && contains("alive"));
}

TEST_CASE("Wrong command lines of groups exit with 2, what is not there with 1, and both name it") {
    const Place place;
    struct Row {
        std::vector<std::string> arguments;
        int code;
        std::string part;
    };
    for (const Row& row : std::vector<Row>{
             {{"group"}, 2, "subcommand"},
             {{"group", "lag"}, 2, "GROUP"},
             {{"group", "lag", "nope"}, 1, "no topic has a consumer group 'nope'"},
             {{"group", "lag", "nope", "-t", "t"}, 1, "topic 't' has no consumer group 'nope'"},
             {{"group", "list", "-t", "nope"}, 1, "topic 'nope' not found"},
             {{"group", "lag", "g", "--sample", "x"}, 2, "--sample"},
             {{"group", "reset", "g"}, 2, "--to"},
             {{"group", "reset", "g", "--to", "x"}, 2, "'x' is none of"},
             {{"group", "reset", "g", "--to", "1", "--from-file", "f"}, 2, "--from-file"},
             {{"group", "reset", "g", "--from-file", "/nonexistent/f"}, 1, "/nonexistent/f"},
             {{"group", "delete", "nope", "--force"}, 1, "'nope'"},
             {{"who-blocks", "-t", "nope"}, 1, "topic 'nope' not found"},
             {{"consume", "t", "-g", ""}, 2, "group ''"},
             {{"consume", "t", "-g", std::string(201, 'g')}, 2, "1 to 200"},
             {{"consume", "t", "-g", "g", "--static-name", std::string(65, 's')}, 2, "static name"},
             {{"consume", "t", "-g", "g", "--start", "-5"}, 2, "--start"},
             {{"consume", "t", "-g", "g", "--on-loss", "x"}, 2, "--on-loss"},
             {{"consume", "t", "-g", "g", "-o", "1"}, 2, "-o"},
             {{"consume", "t", "--gating"}, 2, "--gating"},
         }) {
        const CliResult result = place.run(row.arguments);
        INFO(result.errors);
        CHECK(result.exit_code == row.code);
        CHECK_THAT(result.errors, contains("ringmain: ") && contains(row.part));
    }
    CHECK(place.json({"group", "list"}).empty());
}

TEST_CASE("A topic that is damaged does not hide the groups of the others") {
    const Place place;
    place.create("damaged");
    (void)place.catch_up();
    std::filesystem::resize_file(place.directory() / "topics" / "damaged" / "groups", 4096);
    const CliResult listed = place.run({"group", "list", "--json"});
    CHECK(listed.exit_code == 1);
    CHECK(Json::parse(listed.output).size() == 1);
    CHECK_THAT(listed.errors, contains("damaged"));
    const std::string name = Json::parse(listed.output)[0]["group"];
    for (std::vector<std::string> command : {std::vector<std::string>{"describe"}, {"lag"}, {"reset", "--to", "earliest"}, {"delete"}}) {
        command.insert(command.begin(), "group");
        command.push_back(name);
        const CliResult result = place.run(command);
        CHECK(result.exit_code == 0);
        CHECK_THAT(result.errors, contains("damaged"));  // which may have the group, too
    }
}

}  // namespace ringmain::test
