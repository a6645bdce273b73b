// Commits: every answer, all or nothing over partitions and topics, and moving the group on purpose.
#include <array>
#include <optional>

#include "support/group_place.hpp"

using namespace ringmain;
using namespace ringmain::test;

namespace {

struct Reading : GroupPlace {
    explicit Reading(std::uint32_t partitions = 1) : GroupPlace(partitions), consumer(broker, options()) {
        publish_everywhere(10, partitions);
        consumer.subscribe("t");
    }
    static GroupOptions options() {
        GroupOptions manual = group();
        manual.delivery = Delivery::manual;
        return manual;
    }
    Consumer consumer;
};

}  // namespace

TEST_CASE("commit() commits what was delivered, in all partitions, and may be repeated") {
    Reading at(2);
    CHECK(at.consumer.commit().status == Status::ok);  // nothing is held yet
    CHECK(at.consumer.poll().records.size() == 20);
    for (int i = 0; i < 2; ++i) {
        const CommitResult result = at.consumer.commit();
        CHECK(result.status == Status::ok);
        REQUIRE(result.partitions.size() == 2);
        for (const PartitionCommit& one : result.partitions) {
            CHECK(one.topic == "t");
            CHECK(one.outcome == CommitOutcome::committed);
            CHECK(one.offset == 10);
            CHECK(one.committed == 10);
            CHECK(one.generation == one.current_generation);
        }
    }
    CHECK(at.view().partitions[0].commits == 2);  // the same offset again counts, and so does its time
}

TEST_CASE("Committing records commits the offset after the highest of each partition, in whatever order they come") {
    Reading at(2);
    const PollResult result = at.consumer.poll();
    REQUIRE(result.records.size() == 20);
    std::vector<ConsumerRecord> some;
    for (const ConsumerRecord& record : result.records) {
        if (record.partition == 0 ? record.offset <= 6 : record.offset == 2) some.insert(some.begin(), record);
    }
    const CommitResult committed = at.consumer.commit(some);
    CHECK(committed.status == Status::ok);
    CHECK(committed.partitions.size() == 2);
    CHECK(at.consumer.committed("t", 0) == 7);
    CHECK(at.consumer.committed("t", 1) == 3);
    CHECK(at.consumer.commit(std::span<const ConsumerRecord>()).status == Status::ok);
}

TEST_CASE("A lower commit is stale and changes nothing") {
    Reading at;
    (void)at.consumer.poll();
    CHECK(commit_at(at.consumer, 8).status == Status::ok);
    const CommitResult result = commit_at(at.consumer, 5);
    CHECK(result.status == Status::commit_refused);
    CHECK(outcome(result) == CommitOutcome::stale);
    CHECK(result.partitions[0].offset == 5);
    CHECK(result.partitions[0].committed == 8);
    CHECK(at.consumer.committed("t", 0) == 8);
}

TEST_CASE("A commit beyond what was handed out is refused until somebody seeks there") {
    Reading at;
    CHECK(at.consumer.poll(4).records.size() == 4);
    CHECK(outcome(commit_at(at.consumer, 5)) == CommitOutcome::beyond_position);
    CHECK(outcome(commit_at(at.consumer, 11)) == CommitOutcome::beyond_position);
    CHECK(outcome(commit_at(at.consumer, UINT64_MAX)) == CommitOutcome::beyond_position);
    CHECK(at.consumer.committed("t", 0) == std::nullopt);
    at.consumer.seek("t", 0, Position::at(9));
    CHECK(outcome(commit_at(at.consumer, 9)) == CommitOutcome::committed);
}

TEST_CASE("A partition that is another member's, or nobody's here, is not_assigned") {
    Reading at(2);
    (void)at.consumer.poll();
    CHECK(outcome(commit_at(at.consumer, 1, 7)) == CommitOutcome::not_assigned);
    CHECK(outcome(commit_at(at.consumer, 1, 0, "u")) == CommitOutcome::not_assigned);
    Consumer other(at.broker, Reading::options());
    other.subscribe("t");
    settle({&at.consumer, &other}, 2);
    REQUIRE(other.assignment().size() == 1);
    const std::uint32_t moved = other.assignment()[0].partition;
    const CommitResult result = commit_at(at.consumer, 1, moved);
    CHECK(result.status == Status::commit_refused);
    CHECK(outcome(result) == CommitOutcome::not_assigned);
    CHECK(at.view().partitions[moved].word.committed == 0);
}

TEST_CASE("A commit after another member has taken the partition is fenced, with both generations") {
    Reading at;
    CHECK(at.consumer.poll(6).records.size() == 6);
    const auto view = at.view();
    const TopicFiles files = at.files();
    REQUIRE(group_table::evict(files.groups(), view.group.slot, view.set, view.set.live));  // as if it had been silent
    Consumer other(at.broker, Reading::options());
    other.subscribe("t");
    CHECK(other.poll(3).records.size() == 3);
    CHECK(other.commit().status == Status::ok);
    const CommitResult result = commit_at(at.consumer, 5);
    CHECK(result.status == Status::commit_refused);
    CHECK(outcome(result) == CommitOutcome::fenced);
    CHECK(result.partitions[0].committed == 3);
    CHECK(result.partitions[0].generation != result.partitions[0].current_generation);
    CHECK(result.partitions[0].current_generation == at.view().partitions[0].word.generation);
    CHECK(other.committed("t", 0) == 3);
    CHECK(at.consumer.poll().status == Status::evicted);
    CHECK(outcome(commit_at(at.consumer, 5)) == CommitOutcome::not_assigned);
}

TEST_CASE("An evicted member's commit still lands while nobody has taken the partition") {
    Reading at;
    CHECK(at.consumer.poll(6).records.size() == 6);
    const auto view = at.view();
    REQUIRE(group_table::evict(at.files().groups(), view.group.slot, view.set, view.set.live));
    CHECK(outcome(commit_at(at.consumer, 5)) == CommitOutcome::committed);
    CHECK(at.consumer.poll().status == Status::evicted);
    CHECK(offsets_of(at.consumer.poll(1)) == std::vector<std::uint64_t>{5});
}

TEST_CASE("Over two topics either all is committed or nothing, as far as can be known before") {
    Reading at;
    at.make("u");
    at.publish(10, 0, "u");
    at.consumer.subscribe("u");
    CHECK(at.consumer.poll().records.size() == 20);
    const std::array<PartitionOffset, 2> bad{{{"t", 0, 4}, {"u", 0, 99}}};
    const CommitResult result = at.consumer.commit(bad);
    CHECK(result.status == Status::commit_refused);
    REQUIRE(result.partitions.size() == 2);
    CHECK(result.partitions[0].topic == "t");
    CHECK(result.partitions[0].outcome == CommitOutcome::not_applied);
    CHECK(result.partitions[1].topic == "u");
    CHECK(result.partitions[1].outcome == CommitOutcome::beyond_position);
    CHECK(at.consumer.committed("t", 0) == std::nullopt);
    CHECK(at.consumer.committed("u", 0) == std::nullopt);
    const std::array<PartitionOffset, 2> good{{{"t", 0, 4}, {"u", 0, 9}}};
    CHECK(at.consumer.commit(good).status == Status::ok);
    CHECK(at.consumer.committed("t", 0) == 4);
    CHECK(at.consumer.committed("u", 0) == 9);
    const std::array<PartitionOffset, 2> unknown{{{"t", 0, 5}, {"nowhere", 0, 1}}};
    CHECK(at.consumer.commit(unknown).status == Status::commit_refused);
    CHECK(at.consumer.committed("t", 0) == 4);
}

TEST_CASE("A partition that is named twice in a commit gets the higher offset") {
    Reading at;
    (void)at.consumer.poll();
    const std::array<PartitionOffset, 3> twice{{{"t", 0, 3}, {"t", 0, 7}, {"t", 0, 5}}};
    const CommitResult result = at.consumer.commit(twice);
    CHECK(result.status == Status::ok);
    CHECK(outcome(result) == CommitOutcome::committed);
    CHECK(at.consumer.committed("t", 0) == 7);
}

TEST_CASE("close commits what can be committed, and says what cannot") {
    GroupPlace place(2);
    place.publish_everywhere(10, 2);
    Consumer consumer(place.broker, group());
    consumer.subscribe("t");
    CHECK(consumer.poll(20).records.size() == 20);
    place.reset(1, 3);
    const CommitResult result = consumer.close();
    CHECK(result.status == Status::commit_refused);
    REQUIRE(result.partitions.size() == 2);
    CHECK(result.partitions[0].outcome == CommitOutcome::committed);
    CHECK(result.partitions[1].outcome == CommitOutcome::fenced);
    CHECK(place.view().partitions[0].word.committed == 10);
    CHECK(place.view().partitions[1].word.committed == 3);
}

TEST_CASE("A reset fences the owner, who is told and goes on at the target") {
    GroupPlace place;
    place.publish(10);
    Told told;
    GroupOptions options = group();
    options.listener = told.listener();
    Consumer consumer(place.broker, options);
    consumer.subscribe("t");
    CHECK(consumer.poll(8).records.size() == 8);
    place.reset(0, 2);
    CHECK(outcome(consumer.commit()) == CommitOutcome::fenced);
    CHECK(offsets_of(consumer.poll(1)) == std::vector<std::uint64_t>{2});
    CHECK(told.take() == std::vector<std::string>{"assigned t/0", "lost t/0", "assigned t/0"});
}

TEST_CASE("replay moves the group back, fences commits of the tenure before, and reads on from there") {
    Reading at;
    CHECK(at.consumer.poll(8).records.size() == 8);
    CHECK(at.consumer.commit().status == Status::ok);
    const std::uint32_t before = at.view().partitions[0].word.generation;
    CHECK(at.consumer.replay("t", 0, Position::at(2)).offset == 2);
    CHECK(at.consumer.committed("t", 0) == 2);
    CHECK(at.consumer.position("t", 0) == 2);
    CHECK(at.view().partitions[0].word.generation != before);
    CHECK(at.consumer.poll(3).records[0].offset == 2);
    CHECK(at.consumer.commit().status == Status::ok);
    CHECK(at.consumer.committed("t", 0) == 5);
    CHECK(at.consumer.replay("t", 0, Position::latest()).at_end);
    CHECK(at.consumer.committed("t", 0) == 10);
    CHECK(thrown_by([&] { return at.consumer.replay("t", 5, Position::earliest()); }).code == ErrorCode::not_found);
    CHECK(thrown_by([&] { return at.consumer.replay("u", 0, Position::earliest()); }).code == ErrorCode::invalid_argument);
    CHECK(thrown_by([&] { return at.consumer.replay("t", 0, Position::at(UINT64_MAX)); }).code == ErrorCode::invalid_argument);
    at.reset(0, 1);
    CHECK(thrown_by([&] { return at.consumer.replay("t", 0, Position::earliest()); }).code == ErrorCode::busy);
    CHECK(offsets_of(at.consumer.poll(1)) == std::vector<std::uint64_t>{1});
}

TEST_CASE("Seeking back alone moves this reader, not the group") {
    Reading at;
    CHECK(at.consumer.poll(8).records.size() == 8);
    CHECK(at.consumer.commit().status == Status::ok);
    at.consumer.seek("t", 0, Position::at(2));
    CHECK(at.consumer.poll(1).records[0].offset == 2);
    CHECK(outcome(at.consumer.commit()) == CommitOutcome::stale);
    CHECK(at.consumer.committed("t", 0) == 8);
    at.consumer.seek("t", 0, Position::committed());
    CHECK(at.consumer.position("t", 0) == 8);
}

TEST_CASE("Without a member a reader by hand begins where the group is, and commits for it; an owner's partition it cannot") {
    GroupPlace place;
    place.publish(10);
    Consumer by_hand(place.broker, group());
    by_hand.assign("t", Position::committed());
    CHECK(by_hand.committed("t", 0) == std::nullopt);
    CHECK(by_hand.poll(6).records.size() == 6);
    CHECK(outcome(by_hand.commit()) == CommitOutcome::committed);
    CHECK(outcome(commit_at(by_hand, 3)) == CommitOutcome::stale);
    CHECK(outcome(commit_at(by_hand, 7)) == CommitOutcome::beyond_position);
    CHECK(by_hand.committed("t", 0) == 6);
    Consumer member(place.broker, group());
    member.subscribe("t");
    CHECK(offsets_of(member.poll(1)) == std::vector<std::uint64_t>{6});
    CHECK(by_hand.poll(2).records.size() == 2);  // it reads what it was told to
    CHECK(outcome(by_hand.commit()) == CommitOutcome::fenced);
    CHECK(member.close().status == Status::ok);
    CHECK(outcome(by_hand.commit()) == CommitOutcome::committed);
    CHECK(place.view().partitions[0].word.committed == 8);
    by_hand.seek("t", 0, Position::committed());
    CHECK(by_hand.position("t", 0) == 8);
    place.delete_group();
    CHECK(outcome(by_hand.commit()) == CommitOutcome::fenced);
    by_hand.assign("t", Position::committed());  // begins the group anew
    CHECK(by_hand.position("t", 0) == 0);
}

TEST_CASE("A reader by hand waits without looking all the time") {
    GroupPlace place;
    Consumer by_hand(place.broker, group());
    by_hand.assign("t");
    Consumer member(place.broker, group());
    member.subscribe("t");  // counts wake-ups
    (void)member.poll();
    timespec before{}, after{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    CHECK(by_hand.poll(16, std::chrono::seconds(1)).records.empty());
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    CHECK((after.tv_sec - before.tv_sec) * 1'000'000'000 + after.tv_nsec - before.tv_nsec < 500'000'000);
}

TEST_CASE("The same partition number of two topics has two positions") {
    GroupPlace place(3);
    place.make("u", 3);
    place.publish_everywhere(30, 3);
    place.publish_everywhere(30, 3, "u");
    {
        Consumer consumer(place.broker, group());
        consumer.subscribe("t");
        consumer.subscribe("u");
        CHECK(consumer.poll().records.size() == 180);
        for (std::uint32_t p = 0; p < 3; ++p) {
            CHECK(commit_at(consumer, 10 + p, p, "t").status == Status::ok);
            CHECK(commit_at(consumer, 20 + p, p, "u").status == Status::ok);
        }
    }
    Consumer again(place.broker, group());
    again.subscribe("u");
    again.subscribe("t");
    (void)again.poll(0);
    for (std::uint32_t p = 0; p < 3; ++p) {
        CHECK(again.position("t", p) == 10 + p);
        CHECK(again.position("u", p) == 20 + p);
    }
}
