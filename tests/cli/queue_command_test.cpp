// `ringmain queue`, as a shell sees it.
#include <nlohmann/json.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli_process.hpp"
#include "support/catch.hpp"
#include "support/queue_place.hpp"

namespace ringmain::test {

namespace {

using Json = nlohmann::json;

std::string lines(int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
        text += std::to_string(i) + "\n";
    return text;
}

/// Topic t of two partitions with 10 and 4 records, and queue q.
struct Place : CliBroker {
    explicit Place(const std::vector<std::string>& queue = {"--exhausted", "skip", "--expired", "skip"}) {
        create_topic("t", {"--partitions", "2", "--records", "64", "--payload", "0", "--producers", "2"});
        REQUIRE(run({"produce", "t", "-p", "0"}, lines(10)).exit_code == 0);
        REQUIRE(run({"produce", "t", "-p", "1"}, lines(4)).exit_code == 0);
        std::vector<std::string> create = {"queue", "create", "q", "-t", "t"};
        create.insert(create.end(), queue.begin(), queue.end());
        const CliResult made = run(create);
        INFO(made.errors);
        REQUIRE(made.exit_code == 0);
    }
    [[nodiscard]] Json json(std::vector<std::string> arguments) const {
        arguments.push_back("--json");
        const CliResult result = run(arguments);
        INFO(result.errors);
        REQUIRE(result.exit_code == 0);
        return Json::parse(result.output);
    }
    [[nodiscard]] Broker broker() const { return Broker(directory()); }
};

}  // namespace

TEST_CASE("queue create says what was decided, and refuses what cannot be in the words of the command line") {
    const Place place;
    const CliResult made = place.run({"queue", "create", "mail", "-t", "t", "--lock-time", "2m", "--delivery-limit", "3", "--backoff-first", "500ms",
                                      "--backoff-factor", "1.5", "--dead-letter-topic", "dead", "--window", "32", "--start", "latest"});
    CHECK(made.exit_code == 0);
    CHECK_THAT(made.output, contains("queue             mail\n") && contains("lock time         2m\n") && contains("delivery limit    3\n") &&
                                contains("back-off          500ms, growing 1.5-fold up to 1m, each 10 % longer or shorter\n") &&
                                contains("exhausted         to the dead letters, topic dead\n") && contains("window            32 offsets\n") &&
                                contains("start             latest\n"));
    const Json queue = place.json({"queue", "create", "other", "-t", "t"});
    CHECK((queue["queue"] == "other" && queue["lock_time_ms"] == 30'000 && queue["delivery_limit"] == 5 && queue["dead_letter_topic"] == "t.dlq" &&
           queue["window"] == 64 && queue["backoff"]["factor"] == 2.0 && queue["max_in_flight"].is_null() && queue["partitions"].size() == 2));
    CHECK(place.run({"queue", "create", "mail", "-t", "t"}).exit_code == 1);

    const auto refused = [&](const std::vector<std::string>& options) {
        std::vector<std::string> arguments = {"queue", "create", "x", "-t", "t"};
        arguments.insert(arguments.end(), options.begin(), options.end());
        const CliResult result = place.run(arguments);
        CHECK(result.exit_code == 2);
        CHECK(result.output == "");
        return result.errors;
    };
    CHECK_THAT(refused({"--lock-time", "5"}), contains("--lock-time: '5' is no duration"));
    CHECK_THAT(refused({"--lock-time", "13h"}), contains("--lock-time 46800000 ms is outside 10 ms to 43200000 ms"));
    CHECK_THAT(refused({"--delivery-limit", "31"}), contains("--delivery-limit"));
    CHECK_THAT(refused({"--backoff-factor", "two"}), contains("--backoff-factor: 'two' is no decimal number"));
    CHECK_THAT(refused({"--backoff-jitter", "0.6"}), contains("--backoff-jitter 0.6 is outside 0 to 0.5"));
    CHECK_THAT(refused({"--backoff-first", "2m"}),
               contains("queue 'x' of topic 't' cannot be: --backoff-first 120000 ms is longer than --backoff-max, the longest wait, which is "
                        "60000 ms"));
    CHECK_THAT(refused({"--window", "33"}), contains("--window 33 is neither 0 nor a power of two up to 64"));
    CHECK_THAT(refused({"--exhausted", "stop"}), contains("--exhausted: 'stop' is neither dead-letter nor skip"));
    CHECK_THAT(refused({"--dead-letter-topic", "t"}), contains("topic 't' itself"));
    CHECK_THAT(refused({"--gating"}), contains("cannot gate"));
    CHECK(place.run({"queue", "create", "x"}).exit_code == 2);
    CHECK(place.run({"queue", "create", "x", "-t", "nope"}).exit_code == 1);
}

TEST_CASE("queue list, describe and workers show records by state and who has them, as text and as JSON") {
    const Place place;
    TestWorker worker(place.broker(), "t", "q");
    const auto locks = worker.acquire(4);
    REQUIRE(locks.size() == 4);
    REQUIRE(worker.ack(locks[1]) == work_table::Answer::done);
    const Json list = place.json({"queue", "list"});
    REQUIRE(list.size() == 1);
    CHECK((list[0]["topic"] == "t" && list[0]["queue"] == "q" && list[0]["workers"] == 1 && list[0]["lag"] == 14 && list[0]["acquired"] == 3));
    const Json queue = place.json({"queue", "describe", "q"})[0];
    const Json& partition = queue["partitions"][0];
    CHECK((partition["available"] == 6 && partition["acquired"] == 3 && partition["finished"] == 1 && partition["lag"] == 10 && partition["lost"] == 0));
    CHECK((partition["oldest"]["offset"] == 0 && partition["oldest"]["worker"] == 0 && partition["oldest"]["due_ms"].get<int>() > 0));
    CHECK(queue["partitions"][1]["oldest"].is_null());
    CHECK((queue["workers"][0]["in_flight"] == 3 && queue["workers"][0]["client"]["pid"] == ::getpid() && queue["workers"][0]["client"]["alive"] == true));
    const Json workers = place.json({"queue", "workers", "q", "-t", "t"});
    CHECK((workers.size() == 1 && workers[0]["queue"] == "q" && workers[0]["slot"] == 0 && workers[0]["in_flight"] == 3));

    CHECK_THAT(place.run({"queue", "list", "-t", "t"}).output, contains("TOPIC  QUEUE  WORKERS  LAG  ACQUIRED") && contains("t      q            1   14"));
    const std::string text = place.run({"queue", "describe", "q"}).output;
    CHECK_THAT(text, contains("queue             q\n") && contains("OLDEST-UNFINISHED") && contains("0, delivery 1, worker 0, lock over in ") && contains("REDELIVERED"));
    CHECK_THAT(place.run({"queue", "workers", "q"}).output, contains("IN-FLIGHT") && contains("pid " + std::to_string(::getpid())));
    CHECK(place.json({"group", "list"})[0]["kind"] == "queue");
    CHECK(place.json({"group", "list"})[0]["state"] == "queue");
    CHECK_THAT(place.run({"topic", "describe", "t"}).output, contains("queue 'q': 14 records to be handled"));
    const Json stats = place.json({"stats"});
    CHECK(stats["topics"][0]["queues"][0]["partitions"][0]["acquired"] == 3);
    CHECK(stats["topics"][0]["queues"][0]["error"].is_null());
    CHECK_THAT(place.run({"stats"}).output, contains("LETTERS-REFUSED") && contains("AVAILABLE"));
}

TEST_CASE("Who begins at an offset that the log has not reached is told so, for each partition") {
    const Place place;
    const auto told = [&](const std::vector<std::string>& arguments) {
        const CliResult result = place.run(arguments);
        CHECK(result.exit_code == 0);
        CHECK_THAT(result.errors, contains("topic 't' partition 0: offset 500 is beyond the end, offset 10;") &&
                                      contains("topic 't' partition 1: offset 500 is beyond the end, offset 4;"));
    };
    told({"queue", "create", "late", "-t", "t", "--start", "500"});
    told({"consume", "t", "-q", "later", "--start", "500", "-e"});
    told({"consume", "t", "-g", "latest", "--start", "500", "-e"});
    CHECK(place.run({"queue", "create", "end", "-t", "t", "--start", "4"}).errors == "");
}

TEST_CASE("queue reset shows a plan, keeps workers from surprises, and begins anew where it is told") {
    const Place place;
    TestWorker worker(place.broker(), "t", "q");
    const auto locks = worker.acquire(2);
    CHECK_THAT(place.run({"queue", "reset", "q", "--to", "3"}).output, contains("TARGET") && contains("+3"));
    CHECK(place.json({"queue", "describe", "q"})[0]["partitions"][0]["position"] == 0);
    const CliResult busy = place.run({"queue", "reset", "q", "--to", "3", "--execute"});
    CHECK(busy.exit_code == 1);
    CHECK_THAT(busy.errors, contains("has workers: worker 0") && contains("(--force)"));
    const std::string plan = (place.directory() / "plan.json").string();
    CHECK(place.run({"queue", "reset", "q", "--to", "3", "--save-plan", plan}).exit_code == 0);
    const CliResult done = place.run({"queue", "reset", "q", "--from-file", plan, "--execute", "--force"});
    CHECK(done.exit_code == 0);
    CHECK_THAT(done.errors, contains("queue 'q' of topic 't' is reset"));
    CHECK(place.json({"queue", "describe", "q"})[0]["partitions"][0]["position"] == 3);
    CHECK(worker.ack(locks[0]) == work_table::Answer::fenced);
    CHECK_THAT(place.run({"queue", "reset", "r", "--from-file", plan}).errors, contains("is for queue 'q', not 'r'"));
    CHECK(place.run({"queue", "reset", "q"}).exit_code == 2);
    CHECK(place.run({"queue", "reset", "q", "--to", "nowhere"}).exit_code == 2);
    std::filesystem::remove(plan);
    const CliResult group = place.run({"group", "reset", "q", "--to", "earliest", "--execute"});
    CHECK(group.exit_code == 1);
    CHECK_THAT(group.errors, contains("is a work queue; see 'ringmain queue reset'"));
}

TEST_CASE("queue delete names the workers that are in the way, and takes nothing but the queue") {
    const Place place;
    TestWorker worker(place.broker(), "t", "q");
    const CliResult busy = place.run({"queue", "delete", "q"});
    CHECK(busy.exit_code == 1);
    CHECK_THAT(busy.errors, contains("worker 0 (client") && contains("(--force)"));
    CHECK(place.run({"queue", "delete", "q", "--force"}).output == "deleted queue q of topic t\n");
    CHECK(place.run({"queue", "delete", "q"}).exit_code == 1);
    CHECK_THAT(place.run({"queue", "describe", "q"}).errors, contains("no topic has a queue 'q'"));
    CHECK(place.json({"queue", "list"}).empty());
    CHECK_THAT(place.consume("t"), contains("9\n"));
    CHECK_THAT(place.run({"group", "delete", "q", "-t", "t"}).errors, contains("has no consumer group 'q'"));
}

TEST_CASE("A queue whose files are damaged hides no other one, and is deleted when that is forced") {
    const Place place;
    place.create_topic("u", {"--records", "64", "--payload", "0", "--producers", "2"});
    REQUIRE(place.run({"queue", "create", "broken", "-t", "u", "--exhausted", "skip", "--expired", "skip"}).exit_code == 0);
    for (const auto& file : std::filesystem::recursive_directory_iterator(place.directory() / "topics" / "u" / "queues")) {
        if (file.is_regular_file())
            std::filesystem::resize_file(file.path(), 100);
    }
    CHECK(place.run({"queue", "describe", "q"}).exit_code == 0);
    CHECK(place.run({"queue", "workers", "q"}).exit_code == 0);
    CHECK(place.run({"queue", "reset", "q", "--to", "+1", "--execute"}).exit_code == 0);
    CHECK(place.run({"queue", "delete", "q"}).exit_code == 0);
    CHECK(place.run({"queue", "describe", "broken"}).exit_code == 1);
    const CliResult refused = place.run({"queue", "delete", "broken"});
    CHECK(refused.exit_code == 1);
    CHECK_THAT(refused.errors, contains("has 100 bytes") && contains("--force deletes the queue all the same"));
    CHECK(place.run({"queue", "delete", "broken", "--force"}).exit_code == 0);
}

TEST_CASE("A stream group's name is no queue's, and the message says where to look") {
    const Place place;
    REQUIRE(place.run({"consume", "t", "-g", "readers", "-e"}).exit_code == 0);
    for (const std::vector<std::string>& command : {std::vector<std::string>{"describe", "readers"}, {"workers", "readers"}, {"delete", "readers"},
                                                    {"reset", "readers", "--to", "earliest"}}) {
        std::vector<std::string> arguments = {"queue"};
        arguments.insert(arguments.end(), command.begin(), command.end());
        const CliResult result = place.run(arguments);
        CHECK(result.exit_code == 1);
        CHECK_THAT(result.errors, contains("no topic has a queue 'readers'; topic 't' has a consumer group of that name: see 'ringmain group'"));
    }
}

TEST_CASE("Every help text of queue has examples, and a command that is missing is an error") {
    for (const char* command : {"create", "list", "describe", "workers", "reset", "delete"}) {
        const CliResult help = run_cli({"queue", command, "--help"});
        CHECK(help.exit_code == 0);
        CHECK_THAT(help.output, contains("Examples:") && contains(std::string("ringmain queue ") + command));
    }
    CHECK(run_cli({"queue"}).exit_code == 2);
    CHECK_THAT(run_cli({"queue", "nope"}).errors, contains("'nope' is no command or option here"));
}

}  // namespace ringmain::test
