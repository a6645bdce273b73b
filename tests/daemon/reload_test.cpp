// SIGHUP: what is applied, what is refused, and what needs a restart.
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "logged_daemon.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::contains;
using test::LoggedDaemon;

namespace {

const std::string kSmall = "records = 64\nproducers = 2\npayload = 0\ngroups = 2\nmembers = 2\n";

std::string topic(const std::string& name, const std::string& more = "") {
    return "[topics." + name + "]\n" + kSmall + more;
}

}  // namespace

TEST_CASE("The topics of the configuration are made at start, with all their options") {
    LoggedDaemon daemon(topic("a",
                              "partitions = 3\nwhen_full = \"block\"\nretention_age = \"7d\"\nretention_records = "
                              "10\nmode = \"0600\"\n") +
                        topic("b"));
    Broker broker(daemon.broker());
    CHECK(broker.list_topics() == std::vector<std::string>{"a", "b"});
    const TopicOptions a = broker.describe_topic("a").options;
    CHECK(a.partitions == 3);
    CHECK(a.records == 64);
    CHECK(a.when_full == WhenFull::block);
    CHECK(a.retention.age == 168h);
    CHECK(a.retention.records == 10);
    CHECK(a.access.mode == 0600U);
    CHECK(daemon.lines("topic_created").size() == 2);
    CHECK(daemon.end() == 0);
}

TEST_CASE("A topic that exists with other fixed options is an error with found and wanted, and is left alone") {
    LoggedDaemon daemon(topic("a"));
    Broker broker(daemon.broker());
    Producer producer(broker, "a");
    REQUIRE(producer.publish({.value = as_bytes("kept")}).status == Status::ok);
    const TopicId before = broker.describe_topic("a").id;
    CHECK_THAT(
        daemon.reload(
            "[topics.a]\nrecords = 128\nproducers = 2\npayload = 0\ngroups = 2\nmembers = 3\nretention_records = 7\n"),
        contains("the configuration was read again"));
    const auto lines = daemon.lines("topic_mismatch");
    REQUIRE(lines.size() == 1);
    CHECK(lines[0]["level"] == "error");
    const std::string message = lines[0]["message"];
    CHECK_THAT(message, contains("topic 'a' exists with records 64, wanted 128; members 2, wanted 3") &&
                            contains("ringmain topic delete a"));
    CHECK(broker.describe_topic("a").id == before);
    CHECK(broker.describe_topic("a").options.retention.records == 7);  // what can be changed is
    Consumer consumer(broker);
    consumer.assign("a");
    CHECK(consumer.poll().records.size() == 1);
    CHECK(daemon.end() == 0);
    daemon.start();  // it is said anew, and no reason not to run
    CHECK(daemon.lines("topic_mismatch").size() == 2);
    CHECK(daemon.end() == 0);
}

TEST_CASE("A configuration with errors changes nothing, and all of them are logged with file and line") {
    LoggedDaemon daemon(topic("a"));
    CHECK_THAT(daemon.reload(topic("b") + "colour = 1\n[quotas]\ntopics = -3\n"),
               contains("the configuration that was in force stays so: 2 errors in " + daemon.file().string()));
    const auto lines = daemon.lines("configuration_refused");
    REQUIRE(lines.size() == 2);
    CHECK(lines[0]["line"] == 7);
    CHECK(lines[0]["key"] == "topics.b.colour");
    CHECK(lines[1]["message"] == daemon.file().string() + ":9:10: quotas.topics: -3 is less than 0");
    CHECK(Broker(daemon.broker()).list_topics() == std::vector<std::string>{"a"});
    std::filesystem::remove(daemon.file());
    daemon.forget();
    daemon.process().signal(SIGHUP);
    CHECK_THAT(daemon.message_of_next("configuration_refused"), contains("cannot be read: No such file or directory"));
    CHECK_THAT(daemon.reload(topic("a") + topic("b")), contains("read again"));
    CHECK(Broker(daemon.broker()).list_topics() == std::vector<std::string>{"a", "b"});
    CHECK(daemon.end() == 0);
}

TEST_CASE("Retention and access are changed without touching records, and topics that vanish from the file stay") {
    LoggedDaemon daemon(topic("a") + topic("b"));
    Broker broker(daemon.broker());
    Producer producer(broker, "a");
    REQUIRE(producer.publish({.value = as_bytes("one")}).status == Status::ok);
    const TopicId before = broker.describe_topic("a").id;
    CHECK_THAT(daemon.reload(topic("a", "retention_bytes = \"1 MiB\"\nmode = \"0640\"\n")), contains("read again"));
    const TopicDescription a = broker.describe_topic("a");
    CHECK(a.id == before);
    CHECK(a.options.retention.bytes == 1U << 20);
    CHECK(a.options.access.mode == 0640U);
    CHECK(producer.publish({.value = as_bytes("two")}).status == Status::ok);
    CHECK_THAT(daemon.message_of_next("retention_changed"),
               contains("topic 'a' has the retention bytes 1 MiB now, it was no limit"));
    CHECK_THAT(daemon.message_of_next("access_changed"), contains("topic 'a' has mode 0640 now"));
    CHECK_THAT(daemon.message_of_next("topic_left_alone"), contains("topic 'b' is not in the configuration any more"));
    CHECK(broker.list_topics() == std::vector<std::string>{"a", "b"});
    daemon.forget();
    CHECK(daemon.reload(topic("a", "retention_bytes = \"1 MiB\"\nmode = \"0640\"\n")) ==
          "the configuration was read again");
    CHECK(daemon.lines("retention_changed").size() == 1);  // what is as wanted is not touched
    CHECK(daemon.lines("topic_left_alone").size() == 1);
    CHECK(daemon.end() == 0);
}

TEST_CASE("What only a restart changes is said by name, and everything else of the file is applied") {
    LoggedDaemon daemon;
    CHECK_THAT(daemon.reload("interval = \"20ms\"\n[metrics]\nlisten = \"127.0.0.1:0\"\n[log]\nlevel = "
                             "\"debug\"\nwindow = \"1s\"\n[quotas]\ntopics = 1\n"),
               contains("changed: interval, log.level, log.window, quotas"));
    const auto lines = daemon.lines("restart_needed");
    REQUIRE(lines.size() == 1);
    REQUIRE(lines[0].contains("key"));
    CHECK(lines[0]["message"] ==
          "metrics.listen stays nothing until the daemon is restarted; the configuration says 127.0.0.1:0");
    CHECK_THAT(daemon.reload("[log]\nlevel = \"info\"\n[quotas]\ntopics = 1\n" + topic("a")),
               contains("changed: interval, log.level, log.window"));
    CHECK(Broker(daemon.broker()).list_topics() == std::vector<std::string>{"a"});
    CHECK(daemon.end() == 0);
}

TEST_CASE("Quotas are checked when a topic is made, with what is used, needed and allowed") {
    LoggedDaemon daemon("[quotas]\ntopics = 2\n" + topic("a"));
    Broker broker(daemon.broker());
    TopicOptions options;
    options.records = 64;
    options.producer_slots = 2;
    options.payload_bytes = 0;
    broker.create_topic("by_hand", options);
    daemon.forget();
    CHECK_THAT(daemon.reload("[quotas]\ntopics = 2\n" + topic("a") + topic("b")), contains("read again"));
    CHECK(daemon.message_of_next("topic_not_applied") ==
          "topic 'b' is not created: there are 2 topics, and quotas.topics is 2");
    CHECK_THAT(daemon.reload("[quotas]\nbytes = \"200 KiB\"\n" + topic("a") + topic("b")), contains("read again"));
    CHECK_THAT(daemon.message_of_next("topic_not_applied"),
               contains("topic 'b' is not created: it takes ") && contains(" already, and quotas.bytes is 204800"));
    CHECK_THAT(daemon.reload("[quotas]\ntopics = 3\n" + topic("a") + topic("b")), contains("read again"));
    CHECK(broker.list_topics() == std::vector<std::string>{"a", "b", "by_hand"});
    CHECK(daemon.end() == 0);
}

TEST_CASE("A topic that cannot be made does not stop the others, nor the daemon") {
    LoggedDaemon daemon(topic("a") + "[topics.huge]\nrecords = \"256M\"\ncell = 256\npartitions = 1024\n" + topic("z"));
    CHECK(Broker(daemon.broker()).list_topics() == std::vector<std::string>{"a", "z"});
    const auto lines = daemon.lines("topic_not_applied");
    REQUIRE(lines.size() == 1);
    CHECK(lines[0]["topic"] == "huge");
    CHECK(lines[0]["code"] == "no_space");
    CHECK(daemon.end() == 0);
}

TEST_CASE("K04 The broker directory and what the broker has in it get the configured owner, group and mode") {
    if (::geteuid() != 0)
        SKIP("needs root, to give files away");
    LoggedDaemon daemon("umask = \"0077\"\n[access]\nowner = 4321\ngroup = 4322\nmode = \"2770\"\n" +
                        topic("a", "group = 4323\nmode = \"0660\"\n"));
    const auto rights = [](const std::filesystem::path& path) {
        struct stat status {};
        REQUIRE(::stat(path.c_str(), &status) == 0);
        char text[64];
        std::snprintf(text, sizeof text, "%u %u %04o", status.st_uid, status.st_gid,
                      static_cast<unsigned>(status.st_mode & 07777U));
        return std::string(text);
    };
    const auto check_rights = [&](const std::string& directories, const std::string& locks) {
        for (const char* const name : {"", "topics", "staging", "trash"})
            CHECK(rights(daemon.broker() / name) == directories);
        for (const char* const name : {"clients", "keeper.lock", "topics.lock"})
            CHECK(rights(daemon.broker() / name) == locks);
    };
    check_rights("4321 4322 2770", "4321 4322 0660");
    CHECK(rights(daemon.broker() / "topics" / "a" / "0.log") == "0 4323 0660");
    CHECK_THAT(daemon.reload("[access]\ngroup = 4324\nmode = \"2750\"\n"), contains("changed: access"));
    check_rights("4321 4324 2750", "4321 4324 0600");
    CHECK(daemon.end() == 0);
}
