// What the doctor finds of topics and groups, each situation made real, and mended by the command that was given.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "doctor_situation.hpp"
#include "layout/file_header.hpp"
#include "platform/clock.hpp"
#include "ringmain/consumer.hpp"
#include "support/child.hpp"
#include "support/stopped_child.hpp"

namespace ringmain::test {

namespace {

using cli::Finding;
using cli::Severity;

void overwrite_bytes(const std::string& path, std::uint64_t at, std::uint32_t word) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    REQUIRE(file >= 0);
    CHECK(::pwrite(file, &word, sizeof word, static_cast<off_t>(at)) == sizeof word);
    ::close(file);
}

/// Publishes until the partition is full.
std::uint64_t fill(const Broker& broker, const std::string& topic) {
    Producer producer(broker, topic);
    ProducerRecord record;
    record.value = as_bytes("x");
    std::uint64_t count = 0;
    while (producer.try_publish(record).status == Status::ok)
        ++count;
    return count;
}

}  // namespace

TEST_CASE("Doctor: a group whose next records are gone waits to be moved") {
    Situation place;
    place.broker.create_topic("t", Situation::small(WhenFull::overwrite, 2));
    const GroupTopic topic(place.broker, "t");
    group_at(topic, "g", {1, 0});
    topic.publish(0, 200);
    const Finding finding = place.finding("position-lost");
    CHECK(finding.severity == Severity::error);
    CHECK(finding.object == "group 'g' of topic 't'");
    CHECK_THAT(finding.text, contains("records went before the group read them, in partitions 0;") &&
                                 contains("until somebody moves it"));
    CHECK(finding.since_ns == 2'000'000'000);  // the last commit
    CHECK(finding.command == place.ringmain("group reset g -t t --to +0 --execute"));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK_FALSE(place.has("position-lost"));
}

TEST_CASE("Doctor: a group that goes on behind a loss is a warning") {
    Situation place;
    place.broker.create_topic("t", Situation::small());
    const GroupTopic topic(place.broker, "t");
    group_at(topic, "g", {1}, {.loss_policy = static_cast<std::uint8_t>(OnLoss::earliest)});
    topic.publish(0, 200);
    CHECK(place.finding("position-lost").severity == Severity::warning);
    CHECK_THAT(place.finding("position-lost").text, contains("goes on behind them"));
}

TEST_CASE("Doctor: a group that is about to lose records") {
    Situation place;
    place.broker.create_topic("t", Situation::small());
    const GroupTopic topic(place.broker, "t");
    group_at(topic, "g", {0});
    topic.publish(0, 30);
    CHECK_FALSE(place.has("loss-near"));
    topic.publish(0, 30);
    const Finding finding = place.finding("loss-near");
    CHECK(finding.severity == Severity::warning);
    CHECK_THAT(finding.text, contains("is 60 records behind in partition 0, and loses the first of them after 3 more"));
    CHECK(finding.command == place.ringmain("group lag g -t t"));
    CHECK_FALSE(finding.mends);
    CHECK(run_in_shell(finding.command) == 0);
}

TEST_CASE("Doctor: a group without members that is behind is to be started or deleted") {
    Situation place;
    place.broker.create_topic("t", Situation::small());
    const GroupTopic topic(place.broker, "t");
    group_at(topic, "it's", {0});
    CHECK_FALSE(place.has("group-without-members"));
    topic.publish(0, 3);
    const Finding finding = place.finding("group-without-members");
    CHECK_THAT(finding.text, contains("is 3 records behind, and has no members"));
    CHECK(finding.since_ns == 2'000'000'000);
    CHECK(finding.command == place.ringmain("group delete 'it'\\''s' -t t"));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK_FALSE(place.has("group-without-members"));
}

TEST_CASE("Doctor: a full topic names the group that it waits for, and how to go on") {
    Situation place;
    place.broker.create_topic("t", Situation::small(WhenFull::block));
    const GroupTopic topic(place.broker, "t");
    group_at(topic, "g", {0}, {.gating = true});
    topic.publish(0, place.broker.describe_topic("t").retained_records - 2);
    const Finding near = place.finding("nearly-blocked");
    CHECK(near.severity == Severity::warning);
    CHECK_THAT(near.text, contains("has room for 2 records, held back by group 'g'"));
    const std::uint64_t more = fill(place.broker, "t");
    const Finding finding = place.finding("blocked");
    CHECK_FALSE(place.has("nearly-blocked"));
    CHECK(finding.severity == Severity::error);
    CHECK(finding.object == "topic 't' partition 0");
    CHECK_THAT(finding.text, contains("is full: producers wait for group 'g', which has no member there") &&
                                 contains(std::to_string(place.broker.describe_topic("t").retained_records - 2 + more) +
                                          " records behind"));
    CHECK(finding.command == place.ringmain("group reset g -t t --to latest --execute"));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK_FALSE(place.has("blocked"));
}

TEST_CASE("Doctor: a full topic that waits for a stopped reader names its pid") {
    Situation place;
    place.broker.create_topic("t", Situation::small(WhenFull::block));
    StoppedChild child([&](const auto& stop) {
        const Broker broker(place.broker.directory());
        Consumer consumer(broker);
        consumer.assign("t", 0, Position::earliest());
        consumer.hold_gates("by hand");
        stop();
    });
    (void)fill(place.broker, "t");
    const Finding finding = place.finding("blocked");
    CHECK_THAT(finding.text, contains("gate 'by hand' of process ") &&
                                 contains("(pid " + std::to_string(child.pid()) + "), which is stopped"));
    CHECK(finding.command == "kill -CONT " + std::to_string(child.pid()));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK(child.finish() == 0);
    CHECK_FALSE(place.has("blocked"));
}

TEST_CASE("Doctor: a full topic that waits for a dead reader is mended by a keeper's pass") {
    Situation place;
    place.broker.create_topic("t", Situation::small(WhenFull::block));
    StoppedChild child([&](const auto& stop) {
        const Broker broker(place.broker.directory());
        Consumer consumer(broker);
        consumer.assign("t", 0, Position::earliest());
        consumer.hold_gates("by hand");
        stop();
    });
    (void)fill(place.broker, "t");
    child.kill();
    const Finding finding = place.finding("blocked");
    CHECK(finding.command == place.ringmain("doctor --fix"));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK_FALSE(place.has("blocked"));
}

TEST_CASE("Doctor: a member that does not poll is named with its pid and what it holds") {
    Situation place;
    place.broker.create_topic("t", Situation::small());
    Child child([&]() -> int {
        ::signal(SIGTERM, SIG_DFL);  // the test's program says more about it
        const GroupTopic topic(Broker(place.broker.directory()), "t");
        GroupTopicMember member(topic, topic.create("g"));
        member.take(0);
        member.poll(static_cast<std::uint64_t>(platform::realtime_ns()) - 300'000'000'000);
        for (;;)
            ::pause();
    });
    for (int i = 0; i < 1000 && !place.has("member-silent"); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const Finding finding = place.finding("member-silent");
    CHECK_THAT(finding.object, contains("(pid " + std::to_string(child.pid()) + ")"));
    CHECK_THAT(
        finding.text,
        contains("has not polled for 5 min (its time-out: 45 s), and holds partitions 0 of group 'g' of topic 't'"));
    CHECK(finding.since_ns > 0);
    CHECK(finding.command == "kill " + std::to_string(child.pid()));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK(child.wait() == 128 + SIGTERM);
    CHECK_FALSE(place.has("member-silent"));
}

TEST_CASE("Doctor: a log that contradicts itself is damaged, and goes with its topic") {
    Situation place;
    place.broker.create_topic("t", Situation::small());
    {
        const GroupTopic topic(place.broker, "t");
        topic.publish(0, 4);
        topic.log(0).control->log_start.store(9, std::memory_order_relaxed);
    }
    const Finding finding = place.finding("damaged");
    CHECK(finding.severity == Severity::error);
    CHECK_THAT(finding.text, contains("0.log: log start 9 is outside [0, 4]"));
    CHECK(finding.command == place.ringmain("topic delete t"));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK_FALSE(place.has("damaged"));
}

TEST_CASE("Doctor: a file that is missing is damage, whether the topic can be opened or not") {
    Situation place;
    place.broker.create_topic("t", Situation::small(WhenFull::overwrite, 2));
    std::filesystem::remove(place.topic_path("t") + "/1.log");
    Finding finding = place.finding("damaged");
    CHECK_THAT(finding.text, contains("1.log' is missing"));
    CHECK(finding.command == place.ringmain("topic delete t"));
    std::filesystem::remove(place.topic_path("t") + "/readers");
    finding = place.finding("damaged");
    CHECK_THAT(finding.text, contains("readers' is missing"));
    CHECK(finding.command == "rm -r " + place.topic_path("t"));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK_FALSE(place.has("damaged"));
}

TEST_CASE("Doctor: damage inside of records is found by walking them, and not when that is not asked for") {
    Situation place;
    place.broker.create_topic("t", Situation::small());
    const GroupTopic topic(place.broker, "t");
    topic.publish(0, 4);
    topic.log(0).cell(2).shape.store(~std::uint64_t{0}, std::memory_order_relaxed);
    CHECK_THAT(place.finding("damaged").text, contains("offset 2 holds a damaged record"));
    for (const Finding& finding : cli::examine(cli::look_at(place.broker, false)))
        CHECK(finding.id != "damaged");
}

TEST_CASE("Doctor: files of another layout are named with both versions") {
    Situation place;
    place.broker.create_topic("t", Situation::small());
    overwrite_bytes(place.topic_path("t") + "/topic.meta", offsetof(layout::FileHeader, layout_version), 999);
    const Finding finding = place.finding("other-version");
    CHECK(finding.severity == Severity::error);
    CHECK_THAT(finding.text, contains("has layout version 999") &&
                                 contains("this library has layout version " + std::to_string(layout::kLayoutVersion)));
    CHECK(finding.command == "rm -r " + place.topic_path("t"));
    CHECK(run_in_shell(finding.command) == 0);
    CHECK(place.findings("other-version").empty());
}

TEST_CASE("Doctor: tables of a topic that are full") {
    Situation place;
    TopicOptions options = Situation::small();
    options.groups = 2;
    options.members = 1;
    options.producer_slots = 2;
    place.broker.create_topic("t", options);
    const GroupTopic topic(place.broker, "t");
    const auto group = topic.create("a");
    const GroupTopicMember member(topic, group);
    CHECK_FALSE(place.has("groups-full"));
    CHECK_THAT(place.finding("members-full").text, contains("1 of 1 possible places of members are taken"));
    topic.create("b");
    const Finding full = place.finding("groups-full");
    CHECK(full.severity == Severity::warning);
    CHECK_THAT(full.text, contains("2 of 2 possible consumer groups are taken"));
    CHECK(full.command == place.ringmain("group delete b -t t"));
    CHECK(run_in_shell(full.command) == 0);
    CHECK_FALSE(place.has("groups-full"));

    Producer one(place.broker, "t");
    one.attach(0);
    CHECK_FALSE(place.has("producers-full"));
    StoppedChild other([&](const auto& stop) {
        Producer two(Broker(place.broker.directory()), "t");
        two.attach(0);
        stop();
    });
    CHECK_FALSE(place.finding("producers-full").mends);
    other.kill();
    const Finding dead = place.finding("producers-full");
    CHECK_THAT(dead.text, contains("2 of 2 possible producer slots are taken"));
    CHECK(dead.command == place.ringmain("doctor --fix"));
    (void)run_in_shell(dead.command);
    CHECK_FALSE(place.has("producers-full"));
}

}  // namespace ringmain::test
