// What is shown of a group's retries: what was decided, and what its records wait for.
#include <chrono>
#include <filesystem>
#include <optional>

#include "ringmain/group_admin.hpp"
#include "ringmain/retry.hpp"
#include "support/catch.hpp"
#include "support/retry_place.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace std::chrono_literals;

TEST_CASE("A group with retries says what was decided, and what its records wait for") {
    RetryPlace place(2);
    place.publish_many(3);
    std::optional<GroupDescription> meanwhile;
    RetryRunner runner(place.broker, "t", {.name = "g"}, after(10min, 4, RetryOrder::none));
    (void)run_all(runner, [&](const ConsumerRecord& record) {
        if (record.offset == 0)
            return Handled::failure("not yet");
        if (record.offset == 1)
            return Handled::rejected("never");
        meanwhile = GroupAdmin(place.broker).describe("t", "g");
        return Handled::success();
    });
    REQUIRE(meanwhile);
    CHECK(meanwhile->partitions.at(0).retries->in_hand == 1);
    const GroupDescription group = GroupAdmin(place.broker).describe("t", "g");
    REQUIRE(group.retries);
    CHECK((group.retries->attempts == 4 && group.retries->backoff == after(10min).backoff));
    CHECK((group.retries->exhausted == Exhausted::dead_letter && group.retries->dead_letter_topic == "t.dlq"));
    CHECK((!group.retries->dead_letters_gone && group.retries->damage.empty()));
    const RetryPartitionDescription& partition = *group.partitions.at(0).retries;
    CHECK((partition.waiting == 1 && partition.in_hand == 0 && partition.ending == 0 && partition.finished == 2));
    CHECK((partition.dead_lettered == 1 && partition.skipped == 0 && partition.lost == 0));
    CHECK(group.partitions.at(1).retries->waiting == 0);
    place.broker.delete_topic("t.dlq");
    CHECK(GroupAdmin(place.broker).describe("t", "g").retries->dead_letters_gone);
}

TEST_CASE("What a group with retries skipped or stopped at is shown, and others say nothing of retries") {
    RetryPlace place;
    place.publish_many(2);
    RetryOptions skip = at_once(1);
    skip.exhausted = Exhausted::skip;
    RetryOptions stop = at_once(1);
    stop.exhausted = Exhausted::stop;
    const auto fail = [](const ConsumerRecord&) { return Handled::failure(); };
    {
        RetryRunner skips(place.broker, "t", {.name = "skips"}, skip);
        (void)run_all(skips, fail);
        RetryRunner stops(place.broker, "t", {.name = "stops"}, stop);
        (void)run_all(stops, fail);
    }
    Consumer plain(place.broker, GroupOptions{.name = "plain"});
    plain.subscribe("t");
    GroupAdmin admin(place.broker);
    CHECK(admin.describe("t", "skips").partitions.at(0).retries->skipped == 2);
    const GroupDescription stops = admin.describe("t", "stops");
    CHECK((stops.retries->exhausted == Exhausted::stop && stops.retries->dead_letter_topic.empty()));
    CHECK(stops.partitions.at(0).retries->ending == 1);
    CHECK_FALSE(admin.describe("t", "plain").retries);
    CHECK_FALSE(admin.describe("t", "plain").partitions.at(0).retries);
}

TEST_CASE("Retries whose files are damaged are said to be, and all else of the group is shown") {
    RetryPlace place;
    place.publish_many(2);
    { const RetryRunner runner(place.broker, "t", {.name = "g"}, at_once()); }
    for (const auto& file : std::filesystem::recursive_directory_iterator(place.scratch.broker() / "topics" / "t" / "queues")) {
        if (file.is_regular_file())
            std::filesystem::resize_file(file.path(), 100);
    }
    const GroupDescription group = GroupAdmin(place.broker).describe("t", "g");
    REQUIRE(group.retries);
    CHECK_FALSE(group.retries->damage.empty());
    CHECK_FALSE(group.partitions.at(0).retries);
    CHECK(group.partitions.at(0).lag.records == 2);
}
