// Resets and deletions by an administrator.
#include <optional>

#include "group_table/reset.hpp"
#include "platform/clock.hpp"
#include "ringmain/group_admin.hpp"
#include "ringmain/keeper.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/group_topic.hpp"
#include "support/test_broker.hpp"

using namespace ringmain;
using test::group_at;
using test::GroupTopic;
using test::GroupTopicMember;
using test::thrown_by;

namespace {

using Offsets = std::vector<std::uint64_t>;

TopicOptions small(WhenFull policy) {
    TopicOptions options;
    options.partitions = 2;
    options.records = 64;
    options.producer_slots = 2;
    options.payload_bytes = 0;
    options.groups = 4;
    options.members = 4;
    options.when_full = policy;
    return options;
}

/// Topic t with 20 and 10 records, whose first 5 and 0 are gone; group g at 8 and 3.
struct Place : test::TestBroker {
    explicit Place(WhenFull policy = WhenFull::overwrite, const group_table::GroupOptions& options = {}) {
        broker.create_topic("t", small(policy));
        topic.emplace(broker, "t");
        admin.emplace(broker);
        topic->publish(0, 20);
        topic->publish(1, 10);
        (void)partition_log::raise(topic->log(0).control->log_start, 5, std::memory_order_release);
        (void)partition_log::raise(topic->log(0).control->gate_floor, 5, std::memory_order_release);
        group = group_at(*topic, "g", {8, 3}, options);
    }
    [[nodiscard]] Offsets targets(const ResetTarget& target) {
        Offsets offsets;
        for (const PartitionReset& reset : admin->plan("t", "g", target).partitions) offsets.push_back(reset.target);
        return offsets;
    }
    [[nodiscard]] Offsets committed() {
        Offsets offsets;
        for (const GroupLag& lag : admin->lag("t", "g")) offsets.push_back(lag.committed.value_or(UINT64_MAX));
        return offsets;
    }
    std::optional<GroupTopic> topic;
    std::optional<GroupAdmin> admin;
    group_table::GroupRef group;
};

}  // namespace

TEST_CASE("A plan has absolute targets within the log, says where it clamped, and changes nothing") {
    Place place;
    CHECK(place.targets(ResetTarget::earliest()) == Offsets{5, 0});
    CHECK(place.targets(ResetTarget::latest()) == Offsets{20, 10});
    CHECK(place.targets(ResetTarget::at(7)) == Offsets{7, 7});
    CHECK(place.targets(ResetTarget::shifted(+2)) == Offsets{10, 5});
    CHECK(place.targets(ResetTarget::shifted(-2)) == Offsets{6, 1});
    CHECK(place.targets(ResetTarget::shifted(-5)) == Offsets{5, 0});
    CHECK(place.targets(ResetTarget::shifted(INT64_MIN)) == Offsets{5, 0});
    CHECK(place.targets(ResetTarget::shifted(INT64_MAX)) == Offsets{20, 10});
    const ResetPlan plan = place.admin->plan("t", "g", ResetTarget::at(2));
    REQUIRE(plan.partitions.size() == 2);
    CHECK((plan.partitions[0].target == 5 && plan.partitions[0].clamp == ResetClamp::log_start));
    CHECK((plan.partitions[1].target == 2 && plan.partitions[1].clamp == ResetClamp::none));
    CHECK((plan.partitions[0].committed == 8 && plan.partitions[0].log_start == 5 && plan.partitions[0].log_end == 20));
    const ResetPlan beyond = place.admin->plan("t", "g", ResetTarget::at(15));
    CHECK((beyond.partitions[1].target == 10 && beyond.partitions[1].clamp == ResetClamp::log_end));
    CHECK(place.admin->plan("t", "g", ResetTarget::shifted(-9)).partitions[1].clamp == ResetClamp::log_start);
    CHECK(thrown_by([&] { return place.admin->plan("t", "g", ResetTarget::at(kOffsetMax + 1)); }).code ==
          ErrorCode::invalid_argument);
    CHECK(place.committed() == Offsets{8, 3});
}

TEST_CASE("J05 A reset to a time: between, before, after, empty") {
    test::TestBroker place;
    TopicOptions options = small(WhenFull::overwrite);
    place.broker.create_topic("t", options);
    const GroupTopic topic(place.broker, "t");
    topic.create("g");
    for (const std::int64_t time_ns : {10, 20, 30}) topic.publish(0, 1, "x", time_ns);
    GroupAdmin admin(place.broker);
    const auto target = [&](std::int64_t time_ns) {
        const ResetPlan plan = admin.plan("t", "g", ResetTarget::since(time_ns));
        CHECK(plan.partitions.at(1).target == 0);  // empty: the end
        return plan.partitions.at(0).target;
    };
    CHECK(target(0) == 0);
    CHECK(target(10) == 0);
    CHECK(target(15) == 1);
    CHECK(target(20) == 1);
    CHECK(target(30) == 2);
    CHECK(target(31) == 3);
    CHECK(target(INT64_MIN) == 0);
    CHECK(target(INT64_MAX) == 3);
    const std::int64_t now_ns = platform::realtime_ns();
    topic.publish(0, 1, "x", now_ns - std::chrono::nanoseconds(std::chrono::hours(1)).count());
    CHECK(admin.plan("t", "g", ResetTarget::back(std::chrono::hours(2))).partitions[0].target == 3);
    CHECK(admin.plan("t", "g", ResetTarget::back(std::chrono::minutes(30))).partitions[0].target == 4);
    CHECK(admin.plan("t", "g", ResetTarget::back(std::chrono::nanoseconds::max())).partitions[0].target == 0);
}

TEST_CASE("B18 A reset moves back where a commit may not, refuses while there are members, and fences them if it is forced") {
    Place place;
    GroupTopicMember member(*place.topic, place.group, "worker");
    member.take(0);
    CHECK(member.commit(0, 10) == group_table::CommitStatus::committed);
    CHECK(member.commit(0, 9) == group_table::CommitStatus::stale);
    const ResetPlan plan = place.admin->plan("t", "g", ResetTarget::at(6));
    const test::Thrown refused = thrown_by([&] { return place.admin->execute(plan); });
    CHECK(refused.code == ErrorCode::busy);
    CHECK_THAT(refused.text, test::contains("'worker'") && test::contains("pid") && test::contains("'g'") && test::contains("'t'"));
    CHECK(place.committed() == Offsets{10, 3});
    CHECK(member.commit(0, 11) == group_table::CommitStatus::committed);

    const auto done = place.admin->execute(plan, true);
    REQUIRE(done.size() == 2);
    CHECK((done[0].committed == 6 && done[0].generation != member.generation(0)));
    CHECK(place.committed() == Offsets{6, 6});
    CHECK(member.commit(0, 12) == group_table::CommitStatus::fenced);
    CHECK(place.committed() == Offsets{6, 6});
    CHECK(member.look() == group_table::LookStatus::member);
}

TEST_CASE("A group without members is reset without force, also one whose only member was killed") {
    Place place;
    const int code = test::Child([&] {
                         const Broker broker(place.scratch.broker());
                         const GroupTopic topic(broker, "t");
                         GroupTopicMember member(topic, place.group);
                         member.take(0);
                         ::_exit(0);
                         return 0;
                     }).wait();
    CHECK(code == 0);
    place.admin->execute(place.admin->plan("t", "g", ResetTarget::latest()));
    CHECK(place.committed() == Offsets{20, 10});
}

TEST_CASE("R1 A reset that was killed half-way is finished by running the same plan again, and running it once more changes nothing") {
    Place place;
    const ResetPlan plan = place.admin->plan("t", "g", ResetTarget::shifted(-2));
    const group_table::GroupReset<platform::HostMemory> half(place.topic->groups(), place.group);
    group_table::SetWord set;
    REQUIRE(place.topic->groups().set_of(place.group, set));
    REQUIRE(half.begin(set, false) == group_table::ResetStatus::begun);
    half.set(0, plan.partitions[0].target, place.topic->log(0).control->gate_floor);  // and dies here
    CHECK(place.committed() == Offsets{6, 3});
    for (int i = 0; i < 3; ++i) {
        place.admin->execute(plan);
        CHECK(place.committed() == Offsets{6, 1});
    }
}

TEST_CASE("A plan is refused when somebody was at work since it was made, unless it is forced") {
    Place place;
    const ResetPlan plan = place.admin->plan("t", "g", ResetTarget::earliest());
    {
        GroupTopicMember member(*place.topic, place.group);
        member.take(1);
        CHECK(member.commit(1, 9) == group_table::CommitStatus::committed);
        member.leave();
    }
    const test::Thrown refused = thrown_by([&] { return place.admin->execute(plan); });
    CHECK(refused.code == ErrorCode::busy);
    CHECK_THAT(refused.text, test::contains("partition 1 was at 3 and is at 9"));
    CHECK(place.committed() == Offsets{8, 9});
    place.admin->execute(plan, true);
    CHECK(place.committed() == Offsets{5, 0});
}

TEST_CASE("A plan for a group or a topic that was deleted and created again is refused") {
    Place place;
    const ResetPlan plan = place.admin->plan("t", "g", ResetTarget::earliest());
    place.admin->remove("t", "g");
    CHECK(thrown_by([&] { return place.admin->execute(plan); }).code == ErrorCode::mismatch);
    group_at(*place.topic, "g", {8, 3});
    CHECK(thrown_by([&] { return place.admin->execute(plan, true); }).code == ErrorCode::mismatch);
    CHECK(place.committed() == Offsets{8, 3});
    place.broker.delete_topic("t");
    CHECK(thrown_by([&] { return place.admin->execute(plan); }).code == ErrorCode::not_found);
    place.broker.create_topic("t", small(WhenFull::overwrite));
    CHECK(thrown_by([&] { return place.admin->execute(plan); }).code == ErrorCode::mismatch);
}

TEST_CASE("A plan that cannot be is refused before anything is changed") {
    Place place;
    const ResetPlan good = place.admin->plan("t", "g", ResetTarget::earliest());
    ResetPlan plan = good;
    plan.partitions.pop_back();
    const auto refused = [&] { return thrown_by([&] { return place.admin->execute(plan, true); }); };
    CHECK_THAT(refused().text, test::contains("lacks partition 1"));
    plan.partitions.push_back(plan.partitions[0]);
    CHECK(refused().code == ErrorCode::invalid_argument);
    plan.partitions[1].partition = 2;
    CHECK(refused().code == ErrorCode::invalid_argument);
    plan = good;
    plan.partitions[0].target = 21;
    CHECK_THAT(refused().text, test::contains("21") && test::contains("log end 20"));
    plan = good;
    plan.group_slot = 4;
    CHECK(refused().code == ErrorCode::invalid_argument);
    CHECK(place.committed() == Offsets{8, 3});
}

TEST_CASE("A target that retention has passed since the plan was made becomes the log start, and is reported") {
    Place place;
    const ResetPlan plan = place.admin->plan("t", "g", ResetTarget::earliest());
    (void)partition_log::raise(place.topic->log(0).control->log_start, 7, std::memory_order_release);
    for (int i = 0; i < 2; ++i) {
        const auto done = place.admin->execute(plan);
        CHECK((done[0].target == 5 && done[0].committed == 7));
        CHECK(place.committed() == Offsets{7, 0});
    }
}

TEST_CASE("A group that gates is not reset below the floor, and gates where it is put") {
    Place place(WhenFull::block, {.gating = true});
    (void)partition_log::raise(place.topic->log(0).control->gate_floor, 7, std::memory_order_release);
    const ResetPlan plan = place.admin->plan("t", "g", ResetTarget::at(6));
    CHECK((plan.partitions[0].target == 7 && plan.partitions[0].clamp == ResetClamp::log_start));
    place.admin->execute(plan);
    CHECK(place.committed() == Offsets{7, 6});
    for (const GroupPartitionDescription& partition : place.admin->describe("t", "g").partitions) {
        CHECK(partition.gates);
        CHECK_FALSE(partition.records_until_loss);
    }
}

TEST_CASE("B16 An idle group stays until it is deleted") {
    Place place;
    Keeper keeper(place.broker);
    for (int day = 0; day < 400; ++day) (void)keeper.do_work(std::chrono::hours(24 * day));
    CHECK(place.committed() == Offsets{8, 3});
    place.admin->remove("t", "g");
    CHECK(place.admin->list("t").empty());
    CHECK(thrown_by([&] { place.admin->remove("t", "g"); return 0; }).code == ErrorCode::not_found);
}

TEST_CASE("A group with members is deleted only by force, and its members find out") {
    Place place;
    GroupTopicMember member(*place.topic, place.group, "worker");
    member.take(0);
    const test::Thrown refused = thrown_by([&] { place.admin->remove("t", "g"); return 0; });
    CHECK(refused.code == ErrorCode::busy);
    CHECK_THAT(refused.text, test::contains("'worker'") && test::contains("delete"));
    CHECK(member.look() == group_table::LookStatus::member);
    place.admin->remove("t", "g", true);
    CHECK(member.look() == group_table::LookStatus::group_deleted);
    CHECK(member.commit(0, 9) == group_table::CommitStatus::fenced);
    CHECK(place.admin->list("t").empty());
}

TEST_CASE("Who may not write the groups reads all, and is refused to change them") {
    if (::geteuid() != 0) SKIP("needs another user's rights");
    Place place;
    test::Child child([&] {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 2;
        const Broker broker(place.scratch.broker());
        GroupAdmin admin(broker);
        if (admin.lag("t", "g").at(0).committed != 8 || admin.list().size() != 1) return 3;
        if (admin.describe("t", "g").partitions.size() != 2 || !admin.who_blocks().empty()) return 4;
        const ResetPlan plan = admin.plan("t", "g", ResetTarget::earliest());
        if (thrown_by([&] { return admin.execute(plan); }).code != ErrorCode::permission_denied) return 5;
        if (thrown_by([&] { admin.remove("t", "g"); return 0; }).code != ErrorCode::permission_denied) return 6;
        return 0;
    });
    CHECK(child.wait() == 0);
    CHECK(place.committed() == Offsets{8, 3});
}
