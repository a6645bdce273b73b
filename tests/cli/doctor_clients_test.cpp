// What the doctor finds of clients and keepers, each situation made real, and mended by the command that was given.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cases/open_ticket.hpp"
#include "cli/doctor_fix.hpp"
#include "doctor_situation.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/keeper.hpp"
#include "support/stopped_child.hpp"

namespace ringmain::test {

namespace {

using namespace std::chrono_literals;
using cli::Finding;
using cli::Severity;

void stay() {
    for (;;)
        ::pause();
}

/// True once it holds; at most ten seconds.
template <class Condition>
bool comes_true(const Condition& condition) {
    for (int i = 0; i < 1000; ++i) {
        if (condition())
            return true;
        std::this_thread::sleep_for(10ms);
    }
    return false;
}

void leave_socket(const std::string& path) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(path.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    REQUIRE(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(socket, 1) == 0);
    ::close(socket);
}

}  // namespace

TEST_CASE("The doctor finds nothing wrong with a broker that is well") {
    Situation place;
    place.broker.create_topic("t", Situation::small());
    const GroupTopic topic(place.broker, "t");
    topic.publish(0, 5);
    group_at(topic, "g", {5});
    for (const Finding& finding : place.findings()) {
        INFO(finding.id << ": " << finding.text);
        CHECK(finding.severity == Severity::note);
    }
}

TEST_CASE("Doctor: a killed producer waits for a keeper until one pass is run") {
    Situation place;
    place.broker.create_topic("t", Situation::small());
    const MappedLog mapped(place.broker.directory(), "t");
    Child child([&] { return take_tickets_and_stay(place.broker.directory(), "t", 1); });
    REQUIRE(wait_for_end(mapped, 1));
    CHECK_FALSE(place.has("no-keeper"));
    child.kill();
    CHECK(partition_log::close_ticket(mapped.log, 0) == partition_log::Decision::closed);
    const Finding finding = place.finding("no-keeper");
    CHECK(finding.severity == Severity::warning);
    CHECK_THAT(finding.text,
               contains("1 slot of dead producers") && contains("1 quarantined cell") && contains("ringmaind"));
    CHECK(finding.command == place.ringmain("doctor --fix"));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK_FALSE(place.has("no-keeper"));
}

TEST_CASE("Doctor: gates and places in groups of the dead wait for a keeper, too, and no longer when one runs") {
    Situation place;
    place.broker.create_topic("t", Situation::small(WhenFull::block));
    StoppedChild child([&](const auto& stop) {
        const Broker broker(place.broker.directory());
        Consumer consumer(broker);
        consumer.assign("t");
        consumer.hold_gates("by hand");
        GroupOptions options;
        options.name = "g";
        Consumer member(broker, options);
        member.subscribe("t");
        (void)member.poll(0);
        stop();
    });
    child.kill();
    const Finding finding = place.finding("no-keeper");
    CHECK_THAT(finding.text, contains("1 gate of dead readers") && contains("1 place of dead members of groups"));
    {
        Keeper keeper(place.broker);
        CHECK_FALSE(place.has("no-keeper"));
        (void)keeper.do_work(1s);
    }
    CHECK_FALSE(place.has("no-keeper"));
}

TEST_CASE("Doctor: leftovers of a killed creation are swept by the fix, which says so") {
    Situation place;
    Child maker([&] {
        const Broker broker(place.broker.directory());
        const layout::ClientId me = broker.impl()->client();
        const std::string name = std::to_string(me.slot) + "-" + std::to_string(me.incarnation) + "-0";
        std::filesystem::create_directory(broker.directory() / "staging" / name);
        return 0;
    });
    CHECK(maker.wait() == 0);
    const Finding finding = place.finding("leftovers");
    CHECK_THAT(finding.text, contains("1 leftover of killed"));
    CHECK(finding.command == place.ringmain("doctor --fix"));
    CHECK(cli::fix(place.broker) == std::vector<std::string>{"1 leftover removed"});
    CHECK_FALSE(place.has("leftovers"));
    CHECK(cli::fix(place.broker) == std::vector<std::string>{"a keeper's pass found nothing to do"});
}

TEST_CASE("Doctor: the fix leaves everything to a keeper that runs") {
    Situation place;
    leave_socket(place.broker.directory().string() + "/keeper.sock");
    const Keeper keeper(place.broker);
    const auto done = cli::fix(place.broker);
    REQUIRE(done.size() == 1);
    CHECK_THAT(done[0],
               contains("nothing: ") && contains("another keeper runs") && contains(std::to_string(::getpid())));
    CHECK(std::filesystem::exists(place.broker.directory() / "keeper.sock"));
}

TEST_CASE("Doctor: the socket of a daemon that is gone is removed by the fix") {
    Situation place;
    leave_socket(place.broker.directory().string() + "/keeper.sock");
    const Finding finding = place.finding("stale-socket");
    CHECK(finding.object == place.broker.directory().string() + "/keeper.sock");
    CHECK(finding.command == place.ringmain("doctor --fix"));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK_FALSE(place.has("stale-socket"));
    CHECK_FALSE(std::filesystem::exists(place.broker.directory() / "keeper.sock"));
}

TEST_CASE("Doctor: limits that only a keeper keeps are named while none runs") {
    Situation place;
    place.broker.create_topic("t", Situation::small(WhenFull::block));
    const GroupTopic topic(place.broker, "t");
    topic.create("g", {.gating = true, .lag_ms_max = 1000});
    TopicOptions kept = Situation::small();
    kept.retention.records = 10;
    place.broker.create_topic("u", kept);
    const Finding finding = place.finding("retention-without-keeper");
    CHECK_THAT(finding.text, contains("topics t, u"));
    CHECK(finding.command == "ringmaind -d " + place.broker.directory().string());
    const Keeper keeper(place.broker);
    CHECK_FALSE(place.has("retention-without-keeper"));
}

TEST_CASE("Doctor: a keeper that is stopped keeps others from being the keeper") {
    Situation place;
    StoppedChild child([&](const auto& stop) {
        const Broker broker(place.broker.directory());
        const Keeper keeper(broker);
        stop();
        stay();
    });
    const Finding finding = place.finding("keeper-stopped");
    CHECK(finding.severity == Severity::error);
    CHECK(finding.object == "the keeper (pid " + std::to_string(child.pid()) + ")");
    CHECK(finding.command == "kill -CONT " + std::to_string(child.pid()));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK(comes_true([&] { return !place.has("keeper-stopped"); }));
}

TEST_CASE("Doctor: a process that is stopped is named with its pid and what it holds, until it goes on") {
    Situation place;
    place.broker.create_topic("t", Situation::small());
    place.broker.create_topic("u", Situation::small(WhenFull::block));
    StoppedChild child([&](const auto& stop) {
        const Broker broker(place.broker.directory());
        Producer producer(broker, "t", {.exclusive = true});
        producer.attach(0);
        Consumer consumer(broker);
        consumer.assign("u");
        consumer.hold_gates("by hand");
        GroupOptions options;
        options.name = "g";
        Consumer member(broker, options);
        member.subscribe("u");
        while (member.assignment().empty())
            (void)member.poll(0);
        stop();
        stay();
    });
    const Finding finding = place.finding("stopped-client");
    CHECK(finding.severity == Severity::error);
    CHECK_THAT(finding.object, contains("(pid " + std::to_string(child.pid()) + ")"));
    CHECK_THAT(finding.text,
               contains("is stopped") && contains("the exclusive lease of topic 't' partition 0") &&
                   contains("gate 'by hand' of topic 'u' partition 0, which keeps everything from offset 0 on") &&
                   contains("partitions 0 of group 'g' of topic 'u'"));
    CHECK(finding.command == "kill -CONT " + std::to_string(child.pid()));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK(comes_true([&] { return !place.has("stopped-client"); }));
}

TEST_CASE("Doctor: a stopped producer inside publish keeps a cell in quarantine, and a keeper cannot help") {
    Situation place;
    place.broker.create_topic("t", Situation::small());
    const MappedLog mapped(place.broker.directory(), "t");
    const Child child([&] { return take_tickets_and_stay(place.broker.directory(), "t", 1); });
    REQUIRE(wait_for_end(mapped, 1));
    child.signal(SIGSTOP);
    REQUIRE(comes_true([&] { return place.has("stopped-client"); }));
    CHECK(place.finding("stopped-client").severity == Severity::warning);
    CHECK_THAT(place.finding("stopped-client").text, contains("an open ticket of topic 't' partition 0"));
    CHECK(partition_log::close_ticket(mapped.log, 0) == partition_log::Decision::closed);
    (void)cli::fix(place.broker);
    const Finding finding = place.finding("stopped-client");
    CHECK(finding.severity == Severity::error);
    CHECK_THAT(finding.text, contains("1 quarantined cell of topic 't' partition 0"));
    CHECK_FALSE(place.has("no-keeper"));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK(comes_true([&] { return !place.has("stopped-client"); }));
}

TEST_CASE("Doctor: who is stopped and holds nothing is worth a note") {
    Situation place;
    StoppedChild child([&](const auto& stop) {
        const Broker broker(place.broker.directory());
        (void)broker.impl()->client();
        stop();
    });
    const Finding finding = place.finding("stopped-client");
    CHECK(finding.severity == Severity::note);
    CHECK_THAT(finding.text, contains("nothing that others wait for"));
    CHECK(child.finish() == 0);
    CHECK_FALSE(place.has("stopped-client"));
}

TEST_CASE("Doctor: processes whose files were removed by hand are named, until they end") {
    Situation place;
    place.broker.create_topic("t", Situation::small());
    place.broker.create_topic("deleted", Situation::small());
    StoppedChild child([&](const auto& stop) {
        const Broker broker(place.broker.directory());
        Producer producer(broker, "t");
        producer.attach(0);
        Producer other(broker, "deleted");
        other.attach(0);
        stop();
    });
    place.broker.delete_topic("deleted");  // as it should be: the producer finds out
    CHECK_FALSE(place.has("files-removed"));
    std::filesystem::remove(std::filesystem::path(place.topic_path("t")) / "0.log");
    const Finding finding = place.finding("files-removed");
    CHECK(finding.object == "pid " + std::to_string(child.pid()));
    CHECK_THAT(finding.text, contains(place.topic_path("t") + "/0.log"));
    CHECK(finding.command == "kill " + std::to_string(child.pid()));
    child.kill();
    CHECK_FALSE(place.has("files-removed"));
}

TEST_CASE("Doctor: a keeper that may not write a topic is named with the file, its owner and its mode") {
    if (::geteuid() != 0)
        SKIP("needs root, to give files to other users");
    Situation place;
    place.broker.create_topic("t", Situation::small());
    CHECK_FALSE(place.has("keeper-cannot-write"));
    const std::string lock = place.broker.directory().string() + "/keeper.lock";
    REQUIRE(::chown(lock.c_str(), 1234, 1234) == 0);
    const Finding finding = place.finding("keeper-cannot-write");
    CHECK_THAT(finding.text,
               contains("uid 1234") && contains("3 files") && contains("0.log' (owner uid 0, gid 0, mode 0644)"));
    CHECK(finding.command == "chown -R 1234 " + place.topic_path("t"));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK_FALSE(place.has("keeper-cannot-write"));
}

TEST_CASE("Doctor: a shared directory whose group may not read a topic") {
    Situation place;
    place.broker.create_topic("t", Situation::small());
    const std::string log = place.topic_path("t") + "/0.log";
    REQUIRE(::chmod(log.c_str(), 0600) == 0);
    CHECK_FALSE(place.has("consumers-cannot-read"));  // nobody said that it is shared
    REQUIRE(::chmod(place.broker.directory().c_str(), 02750) == 0);
    const Finding finding = place.finding("consumers-cannot-read");
    CHECK_THAT(finding.text,
               contains("group id " + std::to_string(::getegid())) && contains("1 file of the topic") && contains(log));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK_FALSE(place.has("consumers-cannot-read"));
}

}  // namespace ringmain::test
