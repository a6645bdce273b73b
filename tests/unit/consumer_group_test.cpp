// Members of a group: who reads what, where a successor goes on, and what the three kinds of delivery commit.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "support/group_place.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace std::chrono_literals;

namespace {

using Offsets = std::vector<std::uint64_t>;
using Calls = std::vector<std::string>;

GroupOptions with(Delivery delivery) {
    GroupOptions options = group();
    options.delivery = delivery;
    return options;
}

std::set<std::pair<std::string, std::uint32_t>> read_by(const Consumer& consumer) {
    std::set<std::pair<std::string, std::uint32_t>> all;
    for (const TopicPartition& one : consumer.assignment()) all.emplace(one.topic, one.partition);
    return all;
}

}  // namespace

TEST_CASE("A lone member gets all partitions of all its topics") {
    GroupPlace place(2);
    place.make("u", 3);
    place.publish_everywhere(2, 2);
    place.publish_everywhere(2, 3, "u");
    Consumer consumer(place.broker, group());
    consumer.subscribe("t");
    consumer.subscribe("u");
    consumer.subscribe("u");  // again: nothing changes
    CHECK(consumer.assignment().empty());  // partitions come with polls
    CHECK(consumer.poll().records.size() == 10);
    CHECK(read_by(consumer).size() == 5);
}

TEST_CASE("Every group gets every record, and within a group each record goes to one member") {
    GroupPlace place(4);
    Consumer a(place.broker, group("g"));
    Consumer b(place.broker, group("g"));
    Consumer other(place.broker, group("other"));
    for (Consumer* one : {&a, &b, &other}) one->subscribe("t");
    settle({&a, &b}, 4);
    settle({&other}, 4);
    CHECK(a.assignment().size() == 2);
    CHECK(b.assignment().size() == 2);
    place.publish_everywhere(5, 4);
    std::map<std::pair<std::uint32_t, std::uint64_t>, int> seen;
    for (Consumer* one : {&a, &b}) {
        for (const ConsumerRecord& record : one->poll().records) ++seen[{record.partition, record.offset}];
    }
    CHECK(seen.size() == 20);
    CHECK(std::all_of(seen.begin(), seen.end(), [](const auto& one) { return one.second == 1; }));
    CHECK(other.poll().records.size() == 20);
}

TEST_CASE("Of more members than partitions some have nothing, and take over when another leaves") {
    GroupPlace place(1);
    place.publish(3);
    Consumer a(place.broker, group());
    std::optional<Consumer> b(std::in_place, place.broker, group());
    a.subscribe("t");
    b->subscribe("t");
    settle({&a, &*b}, 1);
    Consumer& reader = a.assignment().empty() ? *b : a;
    const bool b_reads = &reader == &*b;
    CHECK(reader.poll().records.size() == 3);
    CHECK(commit_at(reader, 2).status == Status::ok);
    if (b_reads) {
        b.reset();
    } else {
        (void)a.close();
    }
    Consumer& successor = b_reads ? a : *b;
    const PollResult result = successor.poll(16, 10s);
    CHECK(offsets_of(result) == (b_reads ? Offsets{2} : Offsets{}));  // close commits what was delivered, the destructor does not
    CHECK(successor.committed("t", 0) == std::optional<std::uint64_t>(b_reads ? 2 : 3));
}

TEST_CASE("A partition is handed over with what was delivered by the polls before") {
    GroupPlace place(2);
    place.publish_everywhere(10, 2);
    Told told_a;
    GroupOptions options = group();
    options.listener = told_a.listener();
    Consumer a(place.broker, options);
    a.subscribe("t");
    CHECK(a.poll(8).records.size() == 8);
    CHECK(told_a.take() == Calls{"assigned t/0 t/1"});
    const std::uint64_t at[2] = {a.position("t", 0), a.position("t", 1)};
    Told told_b;
    options.listener = told_b.listener();
    Consumer b(place.broker, options);
    b.subscribe("t");
    settle({&a, &b}, 2);
    REQUIRE(b.assignment().size() == 1);
    const std::uint32_t moved = b.assignment()[0].partition;
    CHECK(told_a.take() == Calls{"revoked t/" + std::to_string(moved)});
    CHECK(told_b.take() == Calls{"assigned t/" + std::to_string(moved)});
    CHECK(b.position("t", moved) == at[moved]);
    CHECK(b.committed("t", moved) == at[moved]);
    CHECK(a.position("t", 1 - moved) == at[1 - moved]);          // what stays does not pause
    CHECK(a.committed("t", 1 - moved) == std::nullopt);          // and is not committed by the way
}

TEST_CASE("Who dies or goes without close leaves everything that it has not committed to be repeated") {
    const Delivery delivery = GENERATE(Delivery::at_least_once, Delivery::manual);
    GroupPlace place;
    place.publish(10);
    {
        Consumer consumer(place.broker, with(delivery));
        consumer.subscribe("t");
        CHECK(consumer.poll(4).records.size() == 4);
        CHECK(consumer.poll(4).records.size() == 4);
    }
    Consumer next(place.broker, with(delivery));
    next.subscribe("t");
    CHECK(next.poll(1).records[0].offset == 0);
    CHECK(next.committed("t", 0) == std::nullopt);
}

TEST_CASE("close commits with at_least_once alone, and says what it has committed") {
    GroupPlace place;
    place.publish(10);
    const bool committed = GENERATE(false, true);
    Consumer consumer(place.broker, with(committed ? Delivery::at_least_once : Delivery::manual));
    consumer.subscribe("t");
    CHECK(consumer.poll(4).records.size() == 4);
    const CommitResult result = consumer.close();
    CHECK(result.status == Status::ok);
    REQUIRE(result.partitions.size() == (committed ? 1 : 0));
    if (committed) CHECK(result.partitions[0].committed == 4);
    CHECK(place.view().partitions[0].word.committed == (committed ? 4 : 0));
    CHECK(place.view().partitions[0].word.touched == committed);
    CHECK(place.view().set.members() == 0);
    CHECK(consumer.assignment().empty());
    CHECK(consumer.poll().status == Status::ok);
    consumer.subscribe("t");  // and it may come back
    CHECK(consumer.poll(1).records[0].offset == (committed ? 4 : 0));
}

TEST_CASE("manual: a hand-over commits nothing") {
    GroupPlace place(2);
    place.publish_everywhere(10, 2);
    Consumer a(place.broker, with(Delivery::manual));
    a.subscribe("t");
    CHECK(a.poll(10).records.size() == 10);
    Consumer b(place.broker, with(Delivery::manual));
    b.subscribe("t");
    settle({&a, &b}, 2);
    REQUIRE(b.assignment().size() == 1);
    CHECK(b.position("t", b.assignment()[0].partition) == 0);
}

TEST_CASE("at_most_once: a poll commits what it returns, and nothing is repeated") {
    GroupPlace place;
    place.publish(10);
    {
        Consumer consumer(place.broker, with(Delivery::at_most_once));
        consumer.subscribe("t");
        CHECK(consumer.poll(4).records.size() == 4);
        CHECK(consumer.committed("t", 0) == 4);
        CHECK(consumer.poll(3).records.size() == 3);
    }
    Consumer next(place.broker, with(Delivery::at_most_once));
    next.subscribe("t");
    CHECK(next.poll(1).records[0].offset == 7);
}

TEST_CASE("A visit counts with at_least_once when the next call begins, with at_most_once before the handler runs") {
    const Delivery delivery = GENERATE(Delivery::at_least_once, Delivery::at_most_once);
    GroupPlace place;
    place.publish(10);
    Consumer consumer(place.broker, with(delivery));
    consumer.subscribe("t");
    for (std::uint64_t i = 0; i < 3; ++i) {
        const VisitStatus status = consumer.visit([&](const ConsumerRecord& record) {
            CHECK(record.offset == i);
            const auto word = place.view().partitions[0].word;
            CHECK(word.committed == (delivery == Delivery::at_most_once ? i + 1 : 0));
        });
        CHECK(status == VisitStatus::valid);
    }
    CHECK(consumer.commit().status == Status::ok);
    CHECK(consumer.committed("t", 0) == 3);
    for (int i = 0; i < 7; ++i) CHECK(consumer.visit([](const ConsumerRecord&) {}) == VisitStatus::valid);
    CHECK(consumer.visit([](const ConsumerRecord&) {}) == VisitStatus::empty);
}

TEST_CASE("A listener commits and seeks; everything else answers misuse or busy, and changes nothing") {
    GroupPlace place(2);
    place.make("u");
    place.publish_everywhere(10, 2);
    Consumer* self = nullptr;
    int calls = 0;
    GroupOptions options = with(Delivery::manual);
    options.listener.assigned = [&](auto partitions) {
        for (const TopicPartition& one : partitions) self->seek(one.topic, one.partition, Position::at(3));
        CHECK(self->assignment().size() == 2);
        CHECK(self->position("t", 1) == 3);
        CHECK(self->poll().status == Status::misuse);
        CHECK(self->visit([](const ConsumerRecord&) {}) == VisitStatus::stopped);
        CHECK(self->close().status == Status::misuse);
        CHECK(thrown_by([&] { self->subscribe("u"); return 0; }).code == ErrorCode::busy);
        CHECK(thrown_by([&] { self->unsubscribe("t"); return 0; }).code == ErrorCode::busy);
        CHECK(thrown_by([&] { self->assign("u"); return 0; }).code == ErrorCode::busy);
        CHECK(thrown_by([&] { self->unassign("t", 0); return 0; }).code == ErrorCode::busy);
        CHECK(thrown_by([&] { return self->replay("t", 0, Position::earliest()); }).code == ErrorCode::busy);
        ++calls;
    };
    options.listener.revoked = [&](auto) {
        CHECK(self->commit().status == Status::ok);
        ++calls;
    };
    Consumer a(place.broker, options);
    self = &a;
    a.subscribe("t");
    CHECK(a.poll(1).records[0].offset == 3);
    CHECK(calls == 1);
    const std::uint64_t at[2] = {a.position("t", 0), a.position("t", 1)};
    Consumer b(place.broker, with(Delivery::manual));
    b.subscribe("t");
    settle({&a, &b}, 2);
    REQUIRE(b.assignment().size() == 1);
    const std::uint32_t moved = b.assignment()[0].partition;
    CHECK(b.position("t", moved) == at[moved]);
    CHECK(calls == 2);
}

TEST_CASE("close and unsubscribe tell the listener, whose commits still count") {
    GroupPlace place;
    place.publish(10);
    const bool unsubscribes = GENERATE(false, true);
    Consumer* self = nullptr;
    Told told;
    GroupOptions options = with(Delivery::manual);
    options.listener = told.listener();
    options.listener.revoked = [&](auto partitions) {
        told.note("revoked", partitions);
        CHECK(commit_at(*self, 2).status == Status::ok);
    };
    Consumer consumer(place.broker, options);
    self = &consumer;
    consumer.subscribe("t");
    CHECK(consumer.poll(5).records.size() == 5);
    if (unsubscribes) {
        consumer.unsubscribe("t");
    } else {
        CHECK(consumer.close().status == Status::ok);
    }
    CHECK(told.take() == Calls{"assigned t/0", "revoked t/0"});
    CHECK(place.view().partitions[0].word.committed == 2);
    CHECK(place.view().set.members() == 0);
    CHECK(thrown_by([&] { consumer.unsubscribe("t"); return 0; }).code == ErrorCode::not_found);
}

TEST_CASE("Unsubscribing from one topic leaves the others as they are") {
    GroupPlace place;
    place.make("u");
    place.publish(3);
    place.publish(3, 0, "u");
    Consumer consumer(place.broker, group());
    consumer.subscribe("t");
    consumer.subscribe("u");
    CHECK(consumer.poll().records.size() == 6);
    consumer.unsubscribe("t");
    CHECK(read_by(consumer) == std::set<std::pair<std::string, std::uint32_t>>{{"u", 0}});
    CHECK(place.view("g", "t").partitions[0].word.committed == 3);
    CHECK(place.view("g", "u").partitions[0].word.committed == 0);
    place.publish(1, 0, "u");
    CHECK(offsets_of(consumer.poll()) == Offsets{3});
}

TEST_CASE("A consumer reads as a member or by hand, and says which when it is asked for the other") {
    GroupPlace place(2);
    place.make("u", 1, WhenFull::block);
    Consumer plain(place.broker);
    CHECK(thrown_by([&] { plain.subscribe("t"); return 0; }).code == ErrorCode::invalid_argument);
    CHECK(plain.commit().status == Status::no_group);
    CHECK(plain.close().status == Status::ok);
    plain.assign("t");
    CHECK(thrown_by([&] { return plain.seek("t", 0, Position::committed()); }).code == ErrorCode::invalid_argument);
    CHECK(thrown_by([&] { return plain.committed("t", 0); }).code == ErrorCode::not_found);
    CHECK(plain.assignment().size() == 2);

    Consumer member(place.broker, group());
    member.subscribe("t");
    (void)member.poll();
    CHECK(thrown_by([&] { member.assign("u"); return 0; }).code == ErrorCode::invalid_argument);
    CHECK(thrown_by([&] { member.unassign("t", 0); return 0; }).code == ErrorCode::invalid_argument);
    CHECK(thrown_by([&] { member.hold_gates("g"); return 0; }).code == ErrorCode::invalid_argument);
    CHECK(member.assignment().size() == 2);
    member.unsubscribe("t");
    member.assign("u");  // nothing is subscribed any more
    CHECK(thrown_by([&] { member.subscribe("t"); return 0; }).code == ErrorCode::invalid_argument);
    CHECK(thrown_by([&] { member.unsubscribe("u"); return 0; }).code == ErrorCode::not_found);
    member.unassign("u", 0);
    member.subscribe("t");  // nothing is assigned by hand any more
    CHECK_FALSE(thrown_by([&] { return member.poll(0); }).code);
    CHECK(member.assignment().size() == 2);
}

TEST_CASE("A blocked poll of the successor wakes up at the hand-over") {
    GroupPlace place;
    place.publish(5);
    Consumer a(place.broker, group());
    a.subscribe("t");
    CHECK(a.poll(2).records.size() == 2);
    Offsets got;
    std::thread successor([&] {
        Consumer b(place.broker, group());
        b.subscribe("t");
        for (int i = 0; i < 3 && got.empty(); ++i) got = offsets_of(b.poll(16, 20s));
    });
    while (place.view().set.members() < 2) std::this_thread::sleep_for(1ms);
    (void)a.close();
    successor.join();
    CHECK(got == Offsets{2, 3, 4});
}

TEST_CASE("poll(0) keeps a member in its group and takes what is its share, but no records") {
    GroupPlace place;
    place.publish(3);
    Consumer consumer(place.broker, group());
    consumer.subscribe("t");
    CHECK(consumer.poll(0).records.empty());
    CHECK(consumer.assignment().size() == 1);
    CHECK(consumer.position("t", 0) == 0);
}
