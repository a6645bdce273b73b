// The API on the daemon's socket: every kind of request, and how each of them is refused.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "ringmain/consumer.hpp"
#include "ringmain/producer.hpp"
#include "ringmain/queue.hpp"
#include "running_daemon.hpp"
#include "support/catch.hpp"

using namespace ringmain;
using test::ApiReply;
using test::contains;
using test::RunningDaemon;
using test::ScratchDirectory;

namespace {

const std::string kSmall = R"({"records":64,"producer_slots":2,"payload_bytes":0,"groups":2,"members":2)";

struct Place {
    ScratchDirectory scratch;
    RunningDaemon daemon{scratch.broker()};
    Broker broker{scratch.broker()};
};

void check_refused(const ApiReply& reply, int status, const std::string& code, const std::string& part) {
    INFO(reply.body);
    CHECK(reply.status == status);
    CHECK(reply.code() == code);
    CHECK_THAT(reply.message(), contains(part));
    CHECK(reply.json().contains("object"));
}

}  // namespace

TEST_CASE("A health request is answered with the daemon's pid and directory") {
    Place place;
    const ApiReply reply = place.daemon.ask("GET", "/v1/health");
    CHECK(reply.status == 200);
    CHECK(reply.json()["status"] == "ok");
    CHECK(reply.json()["pid"] == place.daemon.process().pid());
    CHECK(reply.json()["directory"] == place.scratch.broker().string());
}

TEST_CASE("A topic is created, listed, described and deleted over the socket") {
    Place place;
    const ApiReply made =
        place.daemon.ask("PUT", "/v1/topics/trades", kSmall + R"(,"partitions":3,"when_full":"block"})");
    INFO(made.body);
    REQUIRE(made.status == 201);
    CHECK(made.json()["name"] == "trades");
    CHECK(made.json()["options"]["partitions"] == 3);
    const TopicDescription topic = place.broker.describe_topic("trades");
    CHECK(topic.options.when_full == WhenFull::block);
    CHECK(to_string(topic.id) == made.json()["id"]);

    const ApiReply list = place.daemon.ask("GET", "/v1/topics");
    CHECK(list.status == 200);
    CHECK(list.json().size() == 1);
    CHECK(list.json()[0]["name"] == "trades");
    const ApiReply described = place.daemon.ask("GET", "/v1/topics/trades");
    CHECK(described.status == 200);
    CHECK(described.json()["id"] == made.json()["id"]);
    CHECK(described.json()["partitions"].size() == 3);

    CHECK(place.daemon.ask("DELETE", "/v1/topics/trades").status == 200);
    CHECK(place.broker.list_topics().empty());
    check_refused(place.daemon.ask("DELETE", "/v1/topics/trades"), 404, "not_found", "trades");
    check_refused(place.daemon.ask("GET", "/v1/topics/trades"), 404, "not_found", "trades");
}

TEST_CASE("A creation without a body makes a topic of the default options") {
    Place place;
    REQUIRE(place.daemon.ask("PUT", "/v1/topics/plain").status == 201);
    TopicOptions expected;
    TopicOptions found = place.broker.describe_topic("plain").options;
    found.access = expected.access;
    CHECK(found == expected);
}

TEST_CASE("A creation is refused with the option, its value and its range") {
    Place place;
    const auto refused = [&](const std::string& body, const std::string& part) {
        check_refused(place.daemon.ask("PUT", "/v1/topics/t", body), 400, "invalid_argument", part);
    };
    refused(R"({"partitions":0})", "partitions 0 is outside 1 to 1024");
    refused(R"({"records":1000})", "records 1000 is not a power of two");
    refused(R"({"partitions":-1})", "partitions -1 is not a whole number from 0 on");
    refused(R"({"partitions":1.5})", "partitions 1.5 is not a whole number");
    refused(R"({"partitions":"3"})", "partitions \"3\" is not a whole number");
    refused(R"({"partitions":4294967296})", "partitions 4294967296 is above 4294967295");
    refused(R"({"when_full":"drop"})", "when_full \"drop\" is neither");
    refused(R"({"partitons":3})", "has no member 'partitons'");
    refused(R"({"value_type":{"nam":"x"}})", "value_type has no member 'nam'");
    refused(R"({"retention":{"age":1}})", "retention has no member 'age'");
    refused(R"({"access":{"mode":"9"}})", "mode \"9\" is not an octal number");
    refused(R"({"access":{"mode":"0777"}})", "mode \"0777\" is not an octal number from \"0000\" to \"0666\"");
    refused(R"({"id":"12"})", "id \"12\" is not 32 hexadecimal digits");
    refused(R"([1,2])", "is not an object of JSON");
    refused(R"({"partitions":)", "is not JSON");
    refused(std::string(60'000, '['), "is not JSON");
    CHECK(place.broker.list_topics().empty());
}

TEST_CASE("A topic that exists, has no legal name, or does not fit is refused over the socket as by the library") {
    Place place;
    REQUIRE(place.daemon.ask("PUT", "/v1/topics/t", kSmall + "}").status == 201);
    check_refused(place.daemon.ask("PUT", "/v1/topics/t", kSmall + "}"), 409, "already_exists",
                  "topic 't' exists already");
    check_refused(place.daemon.ask("PUT", "/v1/topics/a%20b"), 400, "invalid_argument", "topic name 'a b'");
    check_refused(place.daemon.ask("PUT", "/v1/topics/huge", R"({"partitions":1024,"payload_bytes":68719476736})"), 507,
                  "no_space", "bytes needed");
}

TEST_CASE("A deletion that names an id deletes no other topic of that name") {
    Place place;
    REQUIRE(place.daemon.ask("PUT", "/v1/topics/t", kSmall + "}").status == 201);
    const std::string old_id = to_string(place.broker.describe_topic("t").id);
    REQUIRE(place.daemon.ask("DELETE", "/v1/topics/t?id=" + old_id).status == 200);
    REQUIRE(place.daemon.ask("PUT", "/v1/topics/t", kSmall + "}").status == 201);
    check_refused(place.daemon.ask("DELETE", "/v1/topics/t?id=" + old_id), 409, "mismatch", old_id);
    check_refused(place.daemon.ask("DELETE", "/v1/topics/t?id=xyz"), 400, "invalid_argument", "32 hexadecimal digits");
    check_refused(place.daemon.ask("DELETE", "/v1/topics/t?di=1"), 400, "invalid_argument", "no parameter 'di'");
    CHECK(place.broker.list_topics().size() == 1);
}

TEST_CASE("A creation may choose the id of its topic") {
    Place place;
    const std::string id = "00112233445566778899aabbccddeeff";
    REQUIRE(place.daemon.ask("PUT", "/v1/topics/t", kSmall + R"(,"id":")" + id + "\"}").status == 201);
    CHECK(to_string(place.broker.describe_topic("t").id) == id);
}

// How many of `askers` that want a topic each at the same time get it.
int topics_made_at_once(const RunningDaemon& daemon, int askers) {
    std::atomic<int> made{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < askers; ++i) {
        threads.emplace_back([&, i] {
            const int status = daemon.ask("PUT", "/v1/topics/t" + std::to_string(i), kSmall + "}").status;
            made += status == 201 ? 1 : 0;
        });
    }
    threads.clear();
    return made;
}

TEST_CASE("A quota refuses what would go beyond it, also of creations at the same time, with what is used and needed") {
    ScratchDirectory scratch;
    const RunningDaemon daemon(scratch.broker(), "[quotas]\ntopics = 3\nbytes = \"4 MiB\"\n");
    Broker broker(scratch.broker());
    for (int round = 0; round < 20; ++round) {  // a topic that is seen before its creation has ended must not count twice
        for (const std::string& topic : broker.list_topics())
            broker.delete_topic(topic);
        REQUIRE(topics_made_at_once(daemon, 8) == 3);
        REQUIRE(broker.list_topics().size() == 3);
    }
    check_refused(daemon.ask("PUT", "/v1/topics/more", kSmall + "}"), 429, "limit", "quotas.topics is 3");
    check_refused(daemon.ask("PUT", "/v1/topics/" + broker.list_topics().front(), kSmall + "}"), 409, "already_exists",
                  "exists already");
    broker.delete_topic(broker.list_topics().front());
    check_refused(daemon.ask("PUT", "/v1/topics/big", "{}"), 429, "limit", "quotas.bytes is 4194304");
    try {
        broker.create_topic("big");
        FAIL("beyond the quota");
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::limit);
    }
}

TEST_CASE("Groups are shown with their lag over the socket") {
    Place place;
    place.broker.create_topic("t", test::small_topic());
    Producer producer(place.broker, "t");
    REQUIRE(producer.publish({.value = as_bytes("1")}).status == Status::ok);
    Consumer consumer(place.broker, GroupOptions{.name = "g"});
    consumer.subscribe("t");
    (void)consumer.poll(1, std::chrono::seconds(1));
    const ApiReply list = place.daemon.ask("GET", "/v1/groups");
    INFO(list.body);
    REQUIRE(list.status == 200);
    REQUIRE(list.json().size() == 1);
    CHECK(list.json()[0]["group"] == "g");
    const ApiReply group = place.daemon.ask("GET", "/v1/groups/g");
    INFO(group.body);
    REQUIRE(group.status == 200);
    CHECK(group.json()[0]["partitions"][0].contains("lag"));
    CHECK(place.daemon.ask("GET", "/v1/groups/g?topic=t").status == 200);
    check_refused(place.daemon.ask("GET", "/v1/groups/none"), 404, "not_found", "no topic has a group 'none'");
}

TEST_CASE("Queues are shown with their records by state over the socket") {
    Place place;
    place.broker.create_topic("t", test::small_topic());
    place.broker.create_topic("other", test::small_topic());
    Producer producer(place.broker, "t");
    for (int i = 0; i < 3; ++i)
        REQUIRE(producer.publish({.value = as_bytes("1")}).status == Status::ok);
    CHECK(place.daemon.ask("GET", "/v1/queues").json().empty());
    QueueOptions skips;
    skips.exhausted = skips.expired = Exhausted::skip;
    QueueWorker worker(place.broker, "t", "q", skips);
    REQUIRE(worker.acquire(1).records.size() == 1);
    Consumer member(place.broker, GroupOptions{.name = "g"});
    member.subscribe("other");
    const ApiReply list = place.daemon.ask("GET", "/v1/queues");
    INFO(list.body);
    REQUIRE(list.status == 200);
    REQUIRE(list.json().size() == 1);
    CHECK((list.json()[0]["queue"] == "q" && list.json()[0]["topic"] == "t" && list.json()[0]["workers"] == 1));
    for (const char* const target : {"/v1/queues/q", "/v1/queues/q?topic=t"}) {
        const ApiReply queue = place.daemon.ask("GET", target);
        INFO(queue.body);
        REQUIRE(queue.status == 200);
        REQUIRE(queue.json().size() == 1);
        const nlohmann::json described = queue.json()[0];
        const nlohmann::json& partition = described["partitions"][0];
        CHECK((partition["acquired"] == 1 && partition["available"] == 2 && partition["lag"] == 3));
        CHECK(described["workers"].size() == 1);
    }
    check_refused(place.daemon.ask("GET", "/v1/queues/none"), 404, "not_found", "no topic has a queue 'none'");
    check_refused(place.daemon.ask("GET", "/v1/queues/g"), 404, "not_found", "no topic has a queue 'g'");
    check_refused(place.daemon.ask("GET", "/v1/queues/g?topic=other"), 409, "mismatch", "is no work queue");
    check_refused(place.daemon.ask("GET", "/v1/queues/q?topic=none"), 404, "not_found", "none");
    check_refused(place.daemon.ask("POST", "/v1/queues/q", "{}"), 404, "not_found", "nothing answers POST");
}

TEST_CASE("The keeper tells how it fares") {
    Place place;
    const ApiReply reply = place.daemon.ask("GET", "/v1/keeper");
    INFO(reply.body);
    REQUIRE(reply.status == 200);
    CHECK(reply.json()["pid"] == place.daemon.process().pid());
    CHECK(reply.json()["events"].contains("producer_reaped"));
    CHECK(test::eventually([&] { return place.daemon.ask("GET", "/v1/keeper").json()["steps"] > 0; }));
}

TEST_CASE("What nothing answers is not found, by any method") {
    Place place;
    for (const char* const target :
         {"/", "/v2/topics", "/v1", "/v1/topic", "/v1/topics/t/partitions", "/v1/topics/t/x/0/delete-records",
          "/v1/topics/..%2f..%2fetc/x", "//v1/topics", "/v1/topics/", "/v1/groups/a/b"}) {
        INFO(target);
        const ApiReply reply = place.daemon.ask("GET", target);
        CHECK((reply.status == 404 || reply.status == 400));
        CHECK_FALSE(reply.code().empty());
    }
    check_refused(place.daemon.ask("POST", "/v1/topics", "{}"), 404, "not_found", "nothing answers POST");
    check_refused(place.daemon.ask("DELETE", "/v1/topics"), 404, "not_found", "nothing answers DELETE");
    CHECK(place.daemon.ask("OPTIONS", "/v1/topics").status == 404);
}

TEST_CASE("The library creates and deletes topics through the daemon, with the same results and errors") {
    Place place;
    TopicOptions options = test::small_topic();
    options.partitions = 2;
    options.value_type = {"Tick", 16, 8};
    options.first_offset = 7;
    const TopicDescription made = place.broker.create_topic("t", options);
    CHECK(made.options.value_type == options.value_type);
    CHECK(made.options.first_offset == 7);
    CHECK_THAT(place.daemon.log(), contains("topic 't' was created for user 0"));
    CHECK(place.broker.ensure_topic("t", options).id == made.id);
    try {
        place.broker.create_topic("t", options);
        FAIL("it exists");
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::already_exists);
        CHECK(std::string(error.what()) == "topic 't' exists already in '" + place.scratch.broker().string() + "'");
    }
    place.broker.delete_topic("t");
    CHECK_THAT(place.daemon.log(), contains("topic 't' was deleted for user 0"));
    try {
        place.broker.delete_topic("t");
        FAIL("it is gone");
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::not_found);
    }
}
