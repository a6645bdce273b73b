// Memberships that end: eviction, replacement, deletion, death, fork; limits; and event loops.
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <optional>

#include "support/child.hpp"
#include "support/group_place.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace std::chrono_literals;

namespace {

using Offsets = std::vector<std::uint64_t>;
using Calls = std::vector<std::string>;

GroupOptions quick(const std::string& static_name = {}) {
    GroupOptions options = group();
    options.session_timeout = 100ms;
    options.static_name = static_name;
    return options;
}

GroupOptions named(const std::string& static_name) {
    GroupOptions options = group();
    options.static_name = static_name;
    return options;
}

/// A program that joins, reads `records` without committing them, and then sits there until it is killed.
Child reader(const GroupPlace& place, const GroupOptions& options, std::size_t records) {
    return Child([&place, options, records] {
        Broker broker(place.scratch.broker());
        Consumer consumer(broker, options);
        consumer.subscribe("t");
        std::size_t got = 0;
        while (got < records) got += consumer.poll(records - got, 100ms).records.size();
        ::raise(SIGSTOP);
        for (;;) (void)consumer.poll(0), ::usleep(1000);
        return 0;
    });
}

bool readable(int descriptor, int timeout_ms) {
    pollfd entry{descriptor, POLLIN, 0};
    return ::poll(&entry, 1, timeout_ms) == 1;
}

void wait_stopped(const Child& child) { REQUIRE(::waitpid(child.pid(), nullptr, WUNTRACED) == child.pid()); }

}  // namespace

TEST_CASE("A member that does not poll is evicted by those that do, is told so, and joins again with its next poll") {
    GroupPlace place;
    place.publish(10);
    Told told;
    GroupOptions options = quick();
    options.listener = told.listener();
    Consumer silent(place.broker, options);
    silent.subscribe("t");
    CHECK(silent.poll(4).records.size() == 4);
    Consumer other(place.broker, quick());
    other.subscribe("t");
    CHECK(offsets_of(other.poll(3, 20s)) == Offsets{0, 1, 2});  // nobody has committed: they are repeated
    CHECK(told.take() == Calls{"assigned t/0"});
    const PollResult news = silent.poll();
    CHECK(news.status == Status::evicted);
    CHECK(news.records.empty());
    REQUIRE(news.failures.size() == 1);
    CHECK(news.failures[0].topic == "t");
    CHECK(news.failures[0].partition == kWholeTopic);
    CHECK(told.take() == Calls{"lost t/0"});
    CHECK(silent.assignment().empty());
    CHECK(silent.poll(0).status == Status::ok);
    CHECK(place.view().set.members() == 2);
    CHECK(other.close().status == Status::ok);
    CHECK(offsets_of(silent.poll(16, 20s)) == Offsets{3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("A stopped member loses its partition after its time-out, a killed one at once, and a stopped one finds out") {
    GroupPlace place;
    place.publish(10);
    GroupOptions slow = group();  // 45 s: only a proof of death is faster
    Child killed = reader(place, slow, 4);
    wait_stopped(killed);
    killed.kill();
    Consumer first(place.broker, slow);
    first.subscribe("t");
    CHECK(offsets_of(first.poll(2, 20s)) == Offsets{0, 1});
    CHECK(first.close().status == Status::ok);

    Child stopped = reader(place, quick(), 4);
    wait_stopped(stopped);
    Consumer second(place.broker, quick());
    second.subscribe("t");
    CHECK(offsets_of(second.poll(2, 20s)) == Offsets{2, 3});
    stopped.signal(SIGCONT);
    while (place.view().set.members() < 2) (void)second.poll(0), ::usleep(1000);
    CHECK(second.commit().status == Status::ok);
}

TEST_CASE("A blocked poll is a sign of life, whatever its time-out") {
    GroupPlace place;
    place.publish(1);
    std::atomic<bool> done{false};
    std::atomic<int> evicted{0};
    std::thread patient([&] {
        Consumer consumer(place.broker, quick());
        consumer.subscribe("t");
        while (!done) evicted += consumer.poll(16, 600ms).status == Status::evicted ? 1 : 0;
    });
    Consumer observer(place.broker, quick());
    observer.subscribe("t");
    const auto until = std::chrono::steady_clock::now() + 1500ms;
    while (std::chrono::steady_clock::now() < until) (void)observer.poll(16, 5ms);
    CHECK(place.view().set.members() == 2);
    done = true;
    patient.join();
    CHECK(evicted == 0);
}

TEST_CASE("A static member keeps its share over a restart; nobody else gets it meanwhile") {
    GroupPlace place(2);
    place.publish_everywhere(10, 2);
    std::optional<Consumer> a(std::in_place, place.broker, named("a"));
    Consumer b(place.broker, named("b"));
    a->subscribe("t");
    b.subscribe("t");
    settle({&*a, &b}, 2);
    REQUIRE(a->assignment().size() == 1);
    const std::uint32_t mine = a->assignment()[0].partition;
    CHECK(a->poll(4).records.size() == 4);
    const bool closes = GENERATE(false, true);
    if (closes) CHECK(a->close().status == Status::ok);
    a.reset();
    for (int i = 0; i < 20; ++i) (void)b.poll(0), ::usleep(1000);
    CHECK(b.assignment().size() == 1);
    a.emplace(place.broker, named("a"));
    a->subscribe("t");
    const PollResult result = a->poll(1);
    REQUIRE(result.records.size() == 1);
    CHECK(result.records[0].partition == mine);
    CHECK(result.records[0].offset == (closes ? 4 : 0));
    CHECK(b.assignment().size() == 1);
    CHECK(place.view().set.members() == 2);
}

TEST_CASE("A killed static member is replaced by its successor at once, and evicted for others only after its time-out") {
    GroupPlace place;
    place.publish(10);
    Child killed = reader(place, named("a"), 4);
    wait_stopped(killed);
    killed.kill();
    Consumer other(place.broker, named("b"));
    other.subscribe("t");
    (void)other.poll(16, 300ms);
    CHECK(place.view().set.members() == 2);  // it may come back
    Consumer successor(place.broker, named("a"));
    successor.subscribe("t");
    settle({&successor, &other}, 1);
    CHECK(place.view().set.members() == 2);
}

TEST_CASE("Of two with one static name the older is told, for good, also when a third came") {
    GroupPlace place;
    place.make("u");
    place.publish(10);
    place.publish(3, 0, "u");
    Told told;
    GroupOptions options = named("a");
    options.listener = told.listener();
    Consumer oldest(place.broker, options);
    oldest.subscribe("t");
    CHECK(oldest.poll(4).records.size() == 4);
    std::vector<Consumer> younger;
    for (int i = GENERATE(1, 2, 3); i > 0; --i) {
        younger.emplace_back(place.broker, named("a"));
        younger.back().subscribe("t");
    }
    CHECK(offsets_of(younger.back().poll(2)) == Offsets{0, 1});
    CHECK(oldest.poll().status == Status::fenced_instance);
    CHECK(told.take() == Calls{"assigned t/0", "lost t/0"});
    CHECK(oldest.poll().status == Status::fenced_instance);
    CHECK(outcome(commit_at(oldest, 3)) == CommitOutcome::not_assigned);
    for (std::size_t i = 0; i + 1 < younger.size(); ++i) CHECK(younger[i].poll().status == Status::fenced_instance);
    CHECK(younger.back().poll(1).records.size() == 1);
    CHECK(place.view().set.members() == 1);
    // its other topics go on
    oldest.subscribe("u");
    CHECK(oldest.poll().records.size() == 3);
    place.publish(2, 0, "u");
    int stopped = 0, valid = 0;
    for (int i = 0; i < 6; ++i) {
        const VisitStatus status = oldest.visit([](const ConsumerRecord&) {});
        valid += status == VisitStatus::valid ? 1 : 0;
        stopped += status == VisitStatus::stopped ? 1 : 0;
    }
    CHECK(valid == 2);
    CHECK(stopped == 4);
    CHECK(oldest.last_status() == Status::fenced_instance);
    oldest.unsubscribe("t");
    CHECK(oldest.poll().status == Status::ok);
}

TEST_CASE("A deleted group is told of once; a new subscription begins it anew") {
    GroupPlace place;
    place.publish(10);
    Told told;
    GroupOptions options = group();
    options.listener = told.listener();
    Consumer consumer(place.broker, options);
    consumer.subscribe("t");
    CHECK(consumer.poll(4).records.size() == 4);
    CHECK(consumer.commit().status == Status::ok);
    const bool polls_first = GENERATE(false, true);
    place.delete_group();
    if (polls_first) {
        CHECK(outcome(consumer.commit()) == CommitOutcome::fenced);
        CHECK(consumer.poll().status == Status::group_deleted);
        CHECK(told.take() == Calls{"assigned t/0", "lost t/0"});
        CHECK(consumer.poll(16, 20ms).status == Status::ok);
        CHECK(consumer.assignment().empty());
    }
    consumer.subscribe("t");
    const PollResult result = consumer.poll(1);
    CHECK(result.status == Status::ok);
    CHECK(offsets_of(result) == Offsets{0});
    CHECK(consumer.commit().status == Status::ok);
}

TEST_CASE("A deleted topic ends its membership alone; created anew it is another topic") {
    GroupPlace place;
    place.make("u");
    place.publish(10);
    place.publish(2, 0, "u");
    Consumer consumer(place.broker, group());
    consumer.subscribe("t");
    consumer.subscribe("u");
    CHECK(consumer.poll().records.size() == 12);
    CHECK(consumer.commit().status == Status::ok);
    place.broker.delete_topic("t");
    const bool polls_first = GENERATE(false, true);
    const bool visits = GENERATE(false, true);
    place.publish(1, 0, "u");
    if (polls_first) {
        if (visits) {
            CHECK(consumer.visit([](const ConsumerRecord&) {}) == VisitStatus::stopped);
            CHECK(consumer.last_status() == Status::topic_deleted);
            CHECK(consumer.visit([](const ConsumerRecord&) {}) == VisitStatus::valid);
        } else {
            const PollResult result = consumer.poll();
            CHECK(result.status == Status::topic_deleted);
            CHECK(result.records.size() == 1);
            CHECK(consumer.poll().status == Status::ok);
        }
    }
    CHECK(thrown_by([&] { consumer.subscribe("t"); return 0; }).code ==
          ErrorCode::not_found);
    place.make("t");
    place.publish(3);
    consumer.subscribe("t");
    const PollResult result = consumer.poll();
    CHECK(result.status == Status::ok);
    CHECK(result.records.size() == (polls_first ? 3 : 4));
    CHECK(consumer.commit().status == Status::ok);
    CHECK(consumer.committed("t", 0) == 3);
}

TEST_CASE("Limits and impossible options are errors that say what and how much") {
    GroupPlace place;
    const auto refusal = [&](const GroupOptions& options) {
        return thrown_by([&] { Consumer consumer(place.broker, options); consumer.subscribe("t"); return 0; });
    };
    const auto invalid = [&](GroupOptions options, const std::string& text) {
        const Thrown thrown = refusal(options);
        CHECK(thrown.code == ErrorCode::invalid_argument);
        CHECK_THAT(thrown.text, contains(text));
    };
    invalid(group(""), "cannot be: a name has 1 to 200 bytes, this one 0");
    invalid(group("ringmain.dlq"), "group 'ringmain.dlq' cannot be: the name is reserved for the group that keeps dead letters");
    invalid(group(std::string(201, 'x')), "201");
    CHECK_FALSE(refusal(group(std::string(200, 'x'))).code);
    invalid(named(std::string(65, 'x')), "65");
    GroupOptions options = named(std::string(64, 'x'));
    CHECK_FALSE(refusal(options).code);
    for (const auto timeout : {0ms, 99ms, 3'600'001ms, -1ms}) {
        options.session_timeout = timeout;
        invalid(options, "100..3600000");
    }
    options = group();
    options.start = Position::last(3);
    invalid(options, "start");
    options.start = Position::committed();
    invalid(options, "start");
    options.start = Position::at(UINT64_MAX);
    invalid(options, std::to_string(UINT64_MAX));
    options = group();
    options.lag_time_max = -1ms;
    invalid(options, "negative");
    options.lag_time_max = 5ms;
    invalid(options, "lag_time_max");
    options.lag_time_max = 0ms;
    options.lag_records_max = 9;
    invalid(options, "does not gate");
    options = group();
    options.gating = true;
    invalid(options, "block");
    CHECK(thrown_by([&] { Consumer(place.broker, group()).subscribe("nowhere"); return 0; }).code == ErrorCode::not_found);

    Consumer second(place.broker, group("2"));  // with "xxx..." and "g" three
    second.subscribe("t");
    const Thrown groups = refusal(group("4"));
    CHECK(groups.code == ErrorCode::limit);
    CHECK_THAT(groups.text, contains("'4'") && contains("'t'") && contains("3 groups"));
    std::vector<Consumer> members;
    for (int i = 0; i < 3; ++i) members.emplace_back(place.broker, group("2")).subscribe("t");
    const Thrown full = refusal(group("2"));
    CHECK(full.code == ErrorCode::limit);
    CHECK_THAT(full.text, contains("'2'") && contains("4 member"));
    members.pop_back();
    CHECK_FALSE(refusal(group("2")).code);
}

TEST_CASE("Who may not write the groups cannot be a member, and reads by hand without a group") {
    if (::geteuid() != 0) SKIP("needs root");
    GroupPlace place;
    place.publish(3);
    Child child([&] {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 1;
        Broker broker(place.scratch.broker());
        Consumer consumer(broker, group());
        const Thrown thrown = thrown_by([&] { consumer.subscribe("t"); return 0; });
        if (thrown.code != ErrorCode::permission_denied || thrown.text.find("groups") == std::string::npos) return 2;
        if (thrown_by([&] { consumer.assign("t"); return 0; }).code != ErrorCode::permission_denied) return 3;
        Consumer plain(broker);
        plain.assign("t");
        return plain.poll().records.size() == 3 ? 0 : 4;
    });
    CHECK(child.wait() == 0);
    CHECK(place.view().name.empty());
}

TEST_CASE("A fork()ed copy of a member answers forked, and its end leaves the member where it is") {
    GroupPlace place;
    place.publish(5);
    std::optional<Consumer> consumer(std::in_place, place.broker, group());
    consumer->subscribe("t");
    CHECK(consumer->poll(2).records.size() == 2);
#if !defined(__SANITIZE_ADDRESS__)  // its allocator's locks stay locked in the child of a process with threads
    (void)consumer->descriptor();
#endif
    Child child([&] {
        if (consumer->poll().status != Status::forked) return 1;
        if (consumer->commit().status != Status::forked) return 2;
        if (consumer->close().status != Status::forked) return 3;
        if (thrown_by([&] { consumer->subscribe("t"); return 0; }).code != ErrorCode::forked) return 4;
        if (thrown_by([&] { consumer->unsubscribe("t"); return 0; }).code != ErrorCode::forked) return 5;
        if (thrown_by([&] { return consumer->replay("t", 0, Position::earliest()); }).code != ErrorCode::forked) return 6;
        consumer.reset();
        return 0;
    });
    CHECK(child.wait() == 0);
    CHECK(place.view().set.members() == 1);
    CHECK(consumer->poll(1).records[0].offset == 2);
    CHECK(consumer->commit().status == Status::ok);
}

TEST_CASE("A member in an event loop stays a member, and is told of records, of partitions and of its end") {
    GroupPlace place;
    Consumer a(place.broker, quick());
    a.subscribe("t");
    const int descriptor = a.descriptor();
    CHECK(readable(descriptor, 0));
    CHECK(a.poll().status == Status::ok);
    // it is to be polled often enough to stay a member
    std::thread observing([&] {
        Consumer observer(place.broker, quick());
        observer.subscribe("t");
        const auto until = std::chrono::steady_clock::now() + 1500ms;
        while (std::chrono::steady_clock::now() < until) (void)observer.poll(16, 5ms);
    });
    int evicted = 0;
    const auto until = std::chrono::steady_clock::now() + 1500ms;
    while (std::chrono::steady_clock::now() < until) {
        if (readable(descriptor, 10'000)) evicted += a.poll().status == Status::evicted ? 1 : 0;
    }
    observing.join();
    CHECK(evicted == 0);
}

TEST_CASE("A rebalance makes the descriptor readable") {
    GroupPlace place;
    place.publish(3);
    Consumer a(place.broker, group());
    a.subscribe("t");
    CHECK(a.poll().records.size() == 3);
    Consumer b(place.broker, group());
    b.subscribe("t");
    settle({&a, &b}, 1);
    Consumer& waiting = a.assignment().empty() ? a : b;
    Consumer& reading = a.assignment().empty() ? b : a;
    const int descriptor = waiting.descriptor();
    (void)waiting.poll();
    CHECK_FALSE(readable(descriptor, 0));
    CHECK(reading.close().status == Status::ok);
    CHECK(readable(descriptor, 4'000));  // a poll is due after 5.6 s only
    CHECK(waiting.poll().status == Status::ok);
    CHECK(waiting.assignment().size() == 1);
    while (readable(descriptor, 0)) (void)waiting.poll();
    place.delete_group();
    CHECK(readable(descriptor, 4'000));
    CHECK(waiting.poll().status == Status::group_deleted);
    while (readable(descriptor, 0)) (void)waiting.poll();
    waiting.subscribe("t");
    CHECK(readable(descriptor, 0));
}
