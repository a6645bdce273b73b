// The checkers on histories made by hand: one that is good, and for every kind of fault one that has it and nothing
// else.
#include <map>

#include "check.hpp"
#include "ringmain/queue.hpp"
#include "support/catch.hpp"

using namespace ringmain;
using namespace ringmain::nemesis;

namespace {

using Kind = Event::Kind;

constexpr std::uint8_t kStream = 0;
constexpr std::uint8_t kQueueTopic = 1;
constexpr std::uint8_t kOverwritten = 2;  // a stream that overwrites
constexpr std::uint64_t kLock = 1'000'000'000;

/// Lives by number; every event happens a little later than the one before it.
class Story {
public:
    Story() { begin().ends(kStream, 0, 0).ends(kQueueTopic, 0, 0).ends(kOverwritten, 0, 0); }

    Story& tell(std::uint32_t life, Role role, Event event) {
        auto& one = lives_[life];
        one.role = role;
        event.time = clock_ += 1'000;
        one.events.push_back(event);
        return *this;
    }
    Story& wait(std::uint64_t ns) {
        clock_ += ns;
        return *this;
    }
    Story& send(std::uint64_t id, std::uint8_t topic = kStream, std::uint32_t stamp = 0) {
        return tell(life_of(id), Role::producer, {.kind = Kind::invoked, .topic = topic, .aux = stamp, .id = id});
    }
    Story& answer(std::uint64_t id, std::uint64_t offset, std::uint8_t topic = kStream) {
        return tell(life_of(id), Role::producer,
                    {.kind = Kind::acknowledged, .topic = topic, .id = id, .offset = offset});
    }
    Story& publish(std::uint64_t id, std::uint64_t offset, std::uint8_t topic = kStream) {
        return send(id, topic).answer(id, offset, topic);
    }
    Story& read(std::uint32_t life, Role role, std::uint64_t id, std::uint64_t offset, std::uint8_t topic = kStream) {
        return tell(life, role, {.kind = Kind::delivered, .topic = topic, .id = id, .offset = offset});
    }
    Story& audit(std::uint64_t id, std::uint64_t offset, std::uint8_t topic = kStream) {
        return read(kAuditor, Role::auditor, id, offset, topic);
    }
    Story& member(std::uint32_t life, Kind kind, std::uint64_t offset, std::uint32_t generation = 0) {
        return tell(life, Role::member, {.kind = kind, .aux = generation, .offset = offset});
    }
    Story& acquire(std::uint32_t life, std::uint64_t id, std::uint64_t offset) {
        return tell(life, Role::worker, {.kind = Kind::acquiring})
            .tell(life, Role::worker,
                  {.kind = Kind::acquired, .topic = kQueueTopic, .extra = 1, .aux = 1, .id = id, .offset = offset});
    }
    Story& settle(std::uint32_t life, std::uint64_t offset, Operation operation, Settled answer) {
        const auto extra = static_cast<std::uint8_t>(operation);
        return tell(life, Role::worker,
                    {.kind = Kind::settling, .topic = kQueueTopic, .extra = extra, .aux = 1, .offset = offset})
            .tell(life, Role::worker,
                  {.kind = Kind::settled,
                   .topic = kQueueTopic,
                   .extra = extra,
                   .aux = 1,
                   .id = static_cast<std::uint64_t>(answer),
                   .offset = offset});
    }
    Story& ack(std::uint32_t life, std::uint64_t offset, Settled answer = Settled::done) {
        return settle(life, offset, Operation::ack, answer);
    }
    Story& letter(std::uint64_t id, std::uint64_t offset) {
        return tell(kAuditor, Role::auditor, {.kind = Kind::letter, .topic = kQueueTopic, .id = id, .offset = offset});
    }
    Story& ends(std::uint8_t topic, std::uint64_t log_start, std::uint64_t log_end) {
        ends_[topic] = {log_start, log_end, log_end};
        return *this;
    }
    Story& committed(std::uint8_t topic, std::uint64_t offset) {
        ends_[topic].committed = offset;
        return *this;
    }

    [[nodiscard]] Verdict verdict() const {
        Run run;
        for (const auto& [life, one] : lives_)
            run.histories.push_back({life, one.role, life, one.events});
        run.topics = {{TopicUse::stream, 1, true}, {TopicUse::queue, 1, true}, {TopicUse::stream, 1, false}};
        for (const auto& [topic, end] : ends_)
            run.ends.push_back({end});
        run.lock_ns = kLock;
        return check(run);
    }
    /// What is wrong, by name; empty if nothing is.
    [[nodiscard]] std::string faults() const {
        std::string all;
        const Verdict found = verdict();
        for (int i = 0; i < static_cast<int>(Fault::count_); ++i) {
            if (found.count(static_cast<Fault>(i)) > 0)
                all += std::string(all.empty() ? "" : ", ") + to_string(static_cast<Fault>(i));
        }
        return all;
    }

    static constexpr std::uint32_t kAuditor = 90;

private:
    Story& begin() {
        for (const std::uint8_t topic : {kStream, kQueueTopic, kOverwritten})
            tell(kAuditor, Role::auditor, {.kind = Kind::began, .topic = topic});
        return *this;
    }
    struct Told {
        Role role{};
        std::vector<Event> events;
    };
    std::map<std::uint32_t, Told> lives_;
    std::map<std::uint8_t, PartitionEnd> ends_;
    std::uint64_t clock_ = 1'000;
};

constexpr std::uint64_t kA = make_id(1, 1), kB = make_id(1, 2), kC = make_id(2, 1);

/// Three records in the stream, all read by the auditor.
Story stream() {
    return Story().publish(kA, 0).publish(kB, 1).publish(kC, 2).audit(kA, 0).audit(kB, 1).audit(kC, 2).ends(kStream, 0,
                                                                                                            3);
}

/// The same, read and committed by a member of the group.
Story grouped() {
    return stream()
        .member(10, Kind::assigned, 0, 7)
        .read(10, Role::member, kA, 0)
        .read(10, Role::member, kB, 1)
        .read(10, Role::member, kC, 2)
        .member(10, Kind::committing, 3)
        .member(10, Kind::committed, 3);
}

/// A record in the queue.
Story queued() { return Story().publish(kA, 0, kQueueTopic).audit(kA, 0, kQueueTopic).ends(kQueueTopic, 0, 1); }

}  // namespace

TEST_CASE("the checkers find nothing wrong with good histories") {
    CHECK(Story().faults().empty());
    CHECK(grouped().faults().empty());
    CHECK(queued().acquire(20, kA, 0).ack(20, 0).faults().empty());
    CHECK(grouped().send(make_id(1, 3)).faults().empty());  // killed inside: it may be there or not
    CHECK(queued().acquire(20, kA, 0).settle(20, 0, Operation::reject, Settled::done).letter(kA, 0).faults().empty());
}

TEST_CASE("the checkers find lost records") {
    CHECK(grouped().publish(make_id(1, 3), 3).ends(kStream, 0, 3).faults() == "lost");
    // a member that commits before it processes, and dies
    CHECK(stream()
              .member(10, Kind::assigned, 0, 7)
              .read(10, Role::member, kA, 0)
              .member(10, Kind::committing, 3)
              .member(11, Kind::assigned, 3, 8)
              .faults() == "lost");
    CHECK(grouped().committed(kStream, 2).faults() == "lost, commit backwards");
    CHECK(queued().faults() == "lost");
    CHECK(queued().acquire(20, kA, 0).ack(20, 0, Settled::lock_lost).faults() == "lost");
    // on the topic that overwrites it is no fault when somebody says so, and one when nobody does
    Story overwritten;
    overwritten.publish(kA, 0, kOverwritten).publish(kB, 1, kOverwritten).ends(kOverwritten, 2, 2);
    overwritten.tell(10, Role::member, {.kind = Kind::assigned, .topic = kOverwritten, .aux = 3})
        .tell(10, Role::member, {.kind = Kind::gap, .topic = kOverwritten, .id = 2})
        .tell(10, Role::member, {.kind = Kind::committing, .topic = kOverwritten, .offset = 2});
    CHECK(overwritten.faults() == "lost");
    overwritten.tell(Story::kAuditor, Role::auditor, {.kind = Kind::gap, .topic = kOverwritten, .id = 2});
    CHECK(overwritten.faults().empty());
    CHECK(overwritten.verdict().reported_lost == 2);
    CHECK(stream()
              .tell(Story::kAuditor, Role::auditor, {.kind = Kind::gap, .id = 4, .offset = 3})
              .member(10, Kind::assigned, 0, 7)
              .read(10, Role::member, kA, 0)
              .read(10, Role::member, kB, 1)
              .read(10, Role::member, kC, 2)
              .member(10, Kind::committing, 3)
              .faults() == "lost");  // a gate holds the topic
}

TEST_CASE("the checkers find doubled and invented records, and torn ones") {
    CHECK(grouped().audit(kA, 3).faults() == "duplicated");
    CHECK(grouped().send(make_id(3, 1)).answer(make_id(3, 1), 2).audit(make_id(3, 1), 2).faults() ==
          "duplicated, reordered");
    CHECK(grouped().audit(make_id(3, 1), 3).faults() == "phantom");
    CHECK(grouped()
              .send(make_id(3, 1))
              .tell(3, Role::producer, {.kind = Kind::refused, .id = make_id(3, 1)})
              .audit(make_id(3, 1), 3)
              .faults() == "phantom");
    CHECK(grouped().tell(Story::kAuditor, Role::auditor, {.kind = Kind::torn, .offset = 3}).faults() == "torn");
}

TEST_CASE("the checkers find records out of order") {
    const auto all = [](Story story) {
        return story.ends(kStream, 0, 2).member(10, Kind::assigned, 0, 7).member(10, Kind::committing, 2);
    };
    const auto both = [&](std::uint64_t first, std::uint64_t second) {
        return all(Story().publish(first, 1).publish(second, 0).audit(second, 0).audit(first, 1))
            .read(10, Role::member, second, 0)
            .read(10, Role::member, first, 1)
            .faults();
    };
    CHECK(both(kA, kB) == "reordered");  // one producer
    CHECK(both(kA, kC) == "reordered");  // two, one after the other
    // two at the same time may lie as they like
    CHECK(all(Story().send(kA).send(kC).answer(kA, 1).answer(kC, 0).audit(kC, 0).audit(kA, 1))
              .read(10, Role::member, kC, 0)
              .read(10, Role::member, kA, 1)
              .faults()
              .empty());
    CHECK(grouped()
              .tell(30, Role::reader, {.kind = Kind::began, .offset = 1})
              .read(30, Role::reader, kB, 1)
              .read(30, Role::reader, kA, 0)
              .faults() == "reordered");
}

TEST_CASE("the checkers find gaps that nobody reported") {
    const auto reader = [] { return grouped().tell(30, Role::reader, {.kind = Kind::began}); };
    CHECK(reader().read(30, Role::reader, kA, 0).read(30, Role::reader, kC, 2).faults() == "unreported gap");
    CHECK(reader().tell(30, Role::reader, {.kind = Kind::gap, .id = 2}).read(30, Role::reader, kC, 2).faults().empty());
    CHECK(reader().tell(30, Role::reader, {.kind = Kind::gap, .id = 1}).read(30, Role::reader, kC, 2).faults() ==
          "unreported gap");
    CHECK(reader().tell(30, Role::reader, {.kind = Kind::gap, .id = 2, .offset = 1}).faults() == "unreported gap");
    // offset 3 is a closed ticket
    CHECK(grouped()
              .publish(make_id(1, 4), 4)
              .audit(make_id(1, 4), 4)
              .ends(kStream, 0, 5)
              .read(10, Role::member, make_id(1, 4), 4)
              .member(10, Kind::committing, 5)
              .faults()
              .empty());
}

TEST_CASE("the checkers find commits that go back or too far, and tenures that do not follow each other") {
    CHECK(grouped().member(10, Kind::committed, 2).committed(kStream, 2).faults() == "lost, commit backwards");
    CHECK(grouped()
              .member(11, Kind::assigned, 2, 8)
              .read(11, Role::member, kC, 2)
              .member(11, Kind::committed, 3)
              .faults() == "commit backwards");
    CHECK(stream()
              .member(10, Kind::assigned, 0, 7)
              .read(10, Role::member, kA, 0)
              .member(10, Kind::committed, 3)
              .member(11, Kind::assigned, 3, 8)
              .faults() == "lost, commit beyond end");
    CHECK(grouped().member(11, Kind::assigned, 3, 7).faults() == "handed over wrong");
    CHECK(grouped().member(10, Kind::lost, 0).read(10, Role::member, kC, 2).faults() == "handed over wrong");
    CHECK(grouped()
              .tell(50, Role::admin, {.kind = Kind::reset, .aux = 8, .offset = 1})
              .member(11, Kind::assigned, 1, 9)
              .read(11, Role::member, kB, 1)
              .read(11, Role::member, kC, 2)
              .member(11, Kind::committed, 3)
              .faults()
              .empty());
    const auto seen = [](std::uint64_t offset, std::uint32_t generation) {
        return grouped()
            .tell(50, Role::admin, {.kind = Kind::sampled, .aux = 7, .id = 3, .offset = 3})
            .tell(50, Role::admin, {.kind = Kind::sampled, .aux = generation, .id = 3, .offset = offset});
    };
    CHECK(seen(3, 8).faults().empty());
    CHECK(seen(2, 8).faults() == "commit backwards");
    CHECK(seen(4, 8).faults() == "commit beyond end");
}

TEST_CASE("the checkers find repetitions by a group that had no reason") {
    const auto again = [](const auto& between) {
        Story story =
            stream().member(10, Kind::assigned, 0, 7).read(10, Role::member, kA, 0).member(10, Kind::committed, 0);
        between(story);
        return story.member(11, Kind::assigned, 0, 8)
            .read(11, Role::member, kA, 0)
            .read(11, Role::member, kB, 1)
            .read(11, Role::member, kC, 2)
            .member(11, Kind::committed, 3)
            .faults();
    };
    CHECK(again([](Story& story) { story.member(10, Kind::left, 0); }) == "repeated");
    CHECK(again([](Story& story) { story.member(10, Kind::lost, 0); }).empty());
    CHECK(again([](Story& story) { story.tell(99, Role::nemesis, {.kind = Kind::killed, .aux = 10}); }).empty());
}

TEST_CASE("the checkers find records of a queue that two finish, late acks, and hand-outs without a reason") {
    const auto given_up = [] {
        return queued().acquire(20, kA, 0).settle(20, 0, Operation::nack, Settled::done).acquire(21, kA, 0);
    };
    CHECK(given_up().ack(21, 0).faults().empty());
    CHECK(queued().acquire(20, kA, 0).acquire(21, kA, 0).ack(21, 0).faults() == "repeated");
    CHECK(queued()
              .acquire(20, kA, 0)
              .wait(kLock)
              .acquire(21, kA, 0)
              .ack(21, 0)
              .ack(20, 0, Settled::lock_lost)
              .faults()
              .empty());
    CHECK(queued()
              .acquire(20, kA, 0)
              .tell(99, Role::nemesis, {.kind = Kind::killed, .aux = 20})
              .acquire(21, kA, 0)
              .ack(21, 0)
              .faults()
              .empty());
    CHECK(queued().acquire(20, kA, 0).wait(kLock).acquire(21, kA, 0).ack(20, 0).faults() == "late ack");
    CHECK(queued().acquire(20, kA, 0).wait(kLock).acquire(21, kA, 0).ack(21, 0).ack(20, 0).faults() ==
          "two acks, late ack");
    // stopped inside of acquire until its lock was over: it hears of the record after the one that took it
    const auto overtaken = [](std::uint64_t stopped) {
        return queued()
            .tell(20, Role::worker, {.kind = Kind::acquiring})
            .wait(stopped)
            .acquire(21, kA, 0)
            .ack(21, 0)
            .tell(20, Role::worker,
                  {.kind = Kind::acquired, .topic = kQueueTopic, .extra = 1, .aux = 1, .id = kA, .offset = 0})
            .faults();
    };
    // stopped inside of acquire until the queue was reset: what it takes then nobody has any more
    const auto reset_meanwhile = [](std::uint32_t generation) {
        return queued()
            .tell(20, Role::worker, {.kind = Kind::acquiring})
            .acquire(21, kA, 0)
            .tell(50, Role::admin, {.kind = Kind::reset, .topic = kQueueTopic, .aux = generation, .id = 1})
            .tell(20, Role::worker,
                  {.kind = Kind::acquired, .topic = kQueueTopic, .extra = 1, .aux = 1, .id = kA, .offset = 0})
            .ack(20, 0, Settled::reset)
            .letter(kA, 0)
            .faults();
    };
    CHECK(reset_meanwhile(2).empty());
    CHECK(reset_meanwhile(1) == "repeated");  // the reset before
    CHECK(overtaken(kLock).empty());
    CHECK(overtaken(kLock / 2) == "repeated");
    CHECK(queued().acquire(20, kA, 0).ack(20, 0).wait(kLock).acquire(21, kA, 0).faults() == "repeated");
    CHECK(queued().acquire(20, kA, 0).ack(20, 0).letter(kA, 0).faults() == "two acks");
    CHECK(queued().acquire(20, kA, 0).letter(kA, 0).letter(kA, 0).faults() == "duplicated");
    CHECK(queued().acquire(20, kA, 0).letter(kB, 0).faults() == "phantom");
    CHECK(queued().ack(20, 0).acquire(21, kA, 0).ack(21, 0).faults() == "two acks");
    CHECK(queued()
              .acquire(20, kA, 0)
              .ack(20, 0)
              .tell(50, Role::admin, {.kind = Kind::reset, .topic = kQueueTopic, .aux = 2, .id = 1})
              .letter(kA, 0)
              .faults()
              .empty());  // it came twice by order
}

TEST_CASE("the checkers find wrong last sequences of named producers, and exits that may not be") {
    // Life 5 is the successor of life 1: histories of one index.
    const auto named = [](std::uint64_t told) {
        std::vector<Event> first{{.kind = Kind::invoked, .aux = 1, .time = 1, .id = kA},
                                 {.kind = Kind::acknowledged, .time = 2, .id = kA},
                                 {.kind = Kind::invoked, .aux = 2, .time = 3, .id = kB}};
        std::vector<Event> second{{.kind = Kind::resumed, .time = 9, .offset = told}};
        std::vector<Event> auditor{{.kind = Kind::began, .time = 1},
                                   {.kind = Kind::delivered, .aux = 1, .time = 5, .id = kA},
                                   {.kind = Kind::delivered, .aux = 2, .time = 6, .id = kB, .offset = 1}};
        std::vector<Event> member = auditor;
        member[0] = {.kind = Kind::assigned, .aux = 1, .time = 1};
        member.push_back({.kind = Kind::committed, .time = 7, .offset = 2});
        Run run;
        run.histories = {{1, Role::producer, 0, first},
                         {2, Role::auditor, 0, auditor},
                         {3, Role::member, 0, member},
                         {5, Role::producer, 0, second}};
        run.topics = {{TopicUse::stream, 1, true}};
        run.ends = {{{0, 2, 2}}};
        return check(run).count(Fault::misnamed);
    };
    CHECK(named(2) == 0);
    CHECK(named(1) == 1);
    CHECK(named(3) == 1);
    CHECK(grouped().tell(99, Role::nemesis, {.kind = Kind::exited, .extra = 99, .aux = 10}).faults() == "failed");
    CHECK(grouped().tell(10, Role::member, {.kind = Kind::failed}).faults() == "failed");
}

TEST_CASE("a report tells both records of the first violation, and what their processes did") {
    std::vector<Event> first{{.kind = Kind::invoked, .time = 1, .id = kA},
                             {.kind = Kind::acknowledged, .time = 2, .id = kA, .offset = 1}};
    Verdict one;
    one.say(Fault::reordered, "one behind the other", {{0, 1}});
    const std::string text = report(one, {{1, Role::producer, 4, first}});
    CHECK_THAT(text, test::contains("reordered: one behind the other"));
    CHECK_THAT(text, test::contains("producer 4 life 1 #1"));
    CHECK_THAT(text, test::contains("invoked"));
    CHECK(report(Verdict(), {}).empty());
}
