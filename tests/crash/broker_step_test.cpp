// What changes a broker as a whole, killed after each effect (effects.hpp): its making, the start of a keeper, topics
// with every option, limits and rights that are changed, records that are deleted, retention of files.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "crash/keeper_stage.hpp"
#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "topic_paths.hpp"

using namespace ringmain;
using namespace ringmain::crash;
using namespace std::chrono_literals;

namespace {

TopicOptions with_everything() {
    TopicOptions options = small();
    options.partitions = 3;
    options.records = 128;
    options.cell_bytes = 128;
    options.groups = 2;
    options.members = 2;
    options.when_full = WhenFull::overwrite;
    options.value_type = {"order", 16, 8};
    options.first_offset = 1'000;
    options.retention = {1h, 100, 1 << 20};
    options.access = {::getuid(), ::getgid(), 0640};
    return options;
}

void publish(const Broker& broker, int records) {
    Producer producer(broker, kTopic);
    ProducerRecord record;
    record.value = as_bytes("0123456789");
    for (int i = 0; i < records; ++i)
        REQUIRE(producer.try_publish(record).status == Status::ok);
}

std::uint64_t log_start(const Broker& broker) { return broker.describe_topic(kTopic).partitions.at(0).log_start; }

unsigned mode_of(const std::filesystem::path& path) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status.st_mode & 07777U;
}

/// Without the gate that the block policy would want.
TopicOptions overwriting() {
    TopicOptions options = small();
    options.when_full = WhenFull::overwrite;
    return options;
}

struct OverwritingStage : KeeperStage {
    OverwritingStage() {
        broker.delete_topic(kTopic);
        broker.create_topic(kTopic, overwriting());
    }
};

}  // namespace

TEST_CASE("step_kill: the maker of a broker directory killed anywhere is followed by one that completes it") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    const auto kill = [](const Way& way) {
        const test::ScratchDirectory scratch;
        Way made = kill_on_way(way, [&] {
            begin_here();
            const Broker own(scratch.broker(), Broker::Mode::open_or_create);
        });
        Broker broker(scratch.broker(), Broker::Mode::open_or_create);
        broker.create_topic(kTopic, small());
        Keeper keeper(broker);
        for (int i = 1; i <= 5; ++i)
            (void)keeper.do_work(i * 1s);
        CHECK(broker.verify().damage.empty());
        for (const auto& entry : std::filesystem::directory_iterator(scratch.broker())) {
            CHECK_FALSE(entry.path().filename().string().starts_with(".making-"));
        }
        return made;
    };
    CHECK(kill_everywhere(kill) > 10);
}

TEST_CASE("step_kill: a keeper killed anywhere while it starts, stops or takes over is followed by another one") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    const auto kill = [](const Way& way) {
        KeeperStage place;
        test::Child first([&] {
            Keeper keeper(place.broker);
            (void)keeper.do_work(1s);
            ::raise(SIGKILL);
            return 0;
        });
        REQUIRE(first.wait() == 128 + SIGKILL);
        Way made = kill_on_way(way, [&] {
            begin_here();
            const Broker own(place.scratch.broker());
            Keeper keeper(own);
            for (int i = 1; i <= 3; ++i)
                (void)keeper.do_work(i * 1s);
        });
        CHECK(place.keep_and_judge() == "");
        CHECK(place.publishes(kTopic));
        return made;
    };
    CHECK(kill_everywhere(kill) > 3);
}

TEST_CASE("step_kill: a creator of a topic with every option, killed anywhere, leaves it with all of them or none") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    std::uint64_t whole = 0;
    const auto kill = [&](const Way& way) {
        KeeperStage place;
        Way made = kill_on_way(way, [&] {
            Broker own(place.scratch.broker());
            begin_here();
            own.create_topic("new", with_everything());
        });
        CHECK(place.keep_and_judge() == "");
        const std::filesystem::path topic = topics_path(place.scratch.broker()) / "new";
        if (std::filesystem::exists(topic))
            ++whole;
        CHECK(place.broker.ensure_topic("new", with_everything()).partitions.size() == 3);
        CHECK(mode_of(meta_path(topic)) == 0640);
        CHECK(mode_of(topic) == 0750);
        return made;
    };
    const std::uint64_t kills = kill_everywhere(kill);
    CHECK(whole > 0);
    CHECK(whole < kills);
}

TEST_CASE("step_kill: a deleter killed anywhere leaves handles that work, or that hear of the deletion") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    std::uint64_t deleted = 0;
    const auto kill = [&](const Way& way) {
        KeeperStage place;
        Producer producer(place.broker, kTopic);
        GroupOptions group;
        group.name = "group";
        Consumer member(place.broker, group);
        member.subscribe(kTopic);
        (void)member.poll(1, 0ms);
        Way made = kill_on_way(way, [&] {
            Broker own(place.scratch.broker());
            begin_here();
            own.delete_topic(kTopic);
        });
        Keeper keeper(place.broker);
        for (int i = 1; i <= 5; ++i)
            (void)keeper.do_work(i * 1s);
        ProducerRecord record;
        record.value = as_bytes("still");
        const Status status = producer.try_publish(record).status;
        if (place.broker.list_topics().empty()) {
            ++deleted;
            CHECK(status == Status::topic_deleted);
            CHECK(member.poll(1, 0ms).status != Status::ok);
        } else {
            CHECK(status == Status::ok);
            CHECK(member.poll(1, 5s).records.size() == 1);
        }
        return made;
    };
    const std::uint64_t kills = kill_everywhere(kill);
    CHECK(deleted > 0);
    CHECK(deleted < kills);
}

TEST_CASE("step_kill: a change of limits or rights killed anywhere leaves each as it was or as it is to be") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    const Retention wanted{1h, 40, 4'096};
    const auto kill = [&](const Way& way) {
        KeeperStage place;
        const std::filesystem::path meta = meta_path(topics_path(place.scratch.broker()) / kTopic);
        const unsigned before = mode_of(meta);
        Way made = kill_on_way(way, [&] {
            Broker own(place.scratch.broker());
            begin_here();
            own.set_retention(kTopic, wanted);
            own.set_access(kTopic, {{}, {}, 0600});
        });
        const Retention found = place.broker.describe_topic(kTopic).options.retention;
        CHECK((found.age == wanted.age || found.age.count() == 0));
        CHECK((found.records == wanted.records || found.records == 0));
        CHECK((found.bytes == wanted.bytes || found.bytes == 0));
        const unsigned mode = mode_of(meta);
        CHECK((mode == before || mode == 0600U));
        CHECK(place.keep_and_judge() == "");
        place.broker.set_access(kTopic, {{}, {}, 0600});
        CHECK(mode_of(meta) == 0600U);
        CHECK(place.publishes(kTopic));
        return made;
    };
    CHECK(kill_everywhere(kill) > 3);
}

TEST_CASE(
    "step_kill: a keeper killed anywhere in retention, and a user who deletes records, leave the log start where it "
    "was or is to be") {
    if (const auto refused = stepping_refused())
        SKIP(*refused);
    const auto kill = [](const Way& way) {
        OverwritingStage place;
        publish(place.broker, 40);
        place.broker.set_retention(kTopic, {0ms, 20, 0});
        Way made = kill_on_way(way, [&] {
            Broker own(place.scratch.broker());
            Keeper keeper(own);
            begin_here();
            for (int i = 1; i <= 2; ++i)
                (void)keeper.do_work(i * 1s);
            own.delete_records(kTopic, 0, 30);
        });
        const std::uint64_t start = log_start(place.broker);
        CHECK((start == 0 || start == 20 || start == 30));
        CHECK(place.keep_and_judge() == "");
        CHECK(log_start(place.broker) == std::max<std::uint64_t>(start, 20));
        CHECK(place.broker.delete_records(kTopic, 0, 35).to == 35);
        publish(place.broker, 10);
        return made;
    };
    CHECK(kill_everywhere(kill) > 2);
}
