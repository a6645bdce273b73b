// What is refused when a runner is made, and what one says whose group is gone.
#include <functional>

#include "ringmain/queue_admin.hpp"
#include "support/child.hpp"
#include "support/retry_place.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace std::chrono_literals;

namespace {

Handled fails(const ConsumerRecord&, const Attempt&) { return Handled::failure("no"); }

}  // namespace

TEST_CASE("What cannot be is refused when the runner is made, and leaves no group behind") {
    RetryPlace place;
    const auto refusal = [&](const std::function<void(GroupOptions&, RetryOptions&)>& change) {
        GroupOptions members = group();
        RetryOptions options = at_once();
        change(members, options);
        const Thrown thrown = thrown_by([&] { return RetryRunner(place.broker, "t", members, options); });
        CHECK(thrown.code == ErrorCode::invalid_argument);
        return thrown.text;
    };
    CHECK_THAT(refusal([](auto&, auto& o) { o.attempts = 0; }), contains("attempts 0 is outside 1 to 30"));
    CHECK_THAT(refusal([](auto&, auto& o) { o.attempts = 31; }), contains("attempts 31"));
    CHECK_THAT(refusal([](auto&, auto& o) { o.waiting_max = 0; }), contains("waiting_max 0"));
    CHECK_THAT(refusal([](auto&, auto& o) { o.backoff.factor = 0.5; }), contains("backoff.factor 0.5"));
    CHECK_THAT(refusal([](auto&, auto& o) {
                   o.backoff = {2s, 1s, 1, 0};
               }),
               contains("backoff.first 2000 ms is longer than backoff.max, the longest wait, which is 1000 ms"));
    CHECK_THAT(refusal([](auto&, auto& o) { o.dead_letter_topic = "t"; }), contains("to topic 't' itself"));
    CHECK_THAT(refusal([](auto&, auto& o) {
                   o.exhausted = Exhausted::skip;
                   o.dead_letter_topic = "graves";
               }),
               contains("nothing goes there"));
    CHECK_THAT(refusal([](auto& g, auto&) { g.delivery = Delivery::at_most_once; }), contains("at_most_once"));
    CHECK_THAT(refusal([](auto& g, auto&) { g.delivery = Delivery::manual; }), contains("manual"));
    CHECK_THAT(refusal([](auto& g, auto&) { g.session_timeout = 1ms; }), contains("session_timeout"));
    TopicOptions small;
    small.payload_bytes = 0;
    place.broker.create_topic("small", small);
    CHECK_THAT(refusal([](auto&, auto& o) { o.dead_letter_topic = "small"; }), contains("small"));
    CHECK(GroupAdmin(place.broker).list("t").empty());
}

TEST_CASE("A second runner that wants something else than the first has decided is refused, and told what") {
    RetryPlace place;
    const RetryRunner first(place.broker, "t", group(), at_once(3));
    const auto refusal = [&](const RetryOptions& options) {
        const Thrown thrown = thrown_by([&] { return RetryRunner(place.broker, "t", group(), options); });
        CHECK(thrown.code == ErrorCode::mismatch);
        return thrown.text;
    };
    CHECK_THAT(refusal(at_once(4)), contains("attempts 3, not 4"));
    CHECK_THAT(refusal(after(5ms)), contains("backoff.first 0 ms, not 5 ms"));
    RetryOptions other = at_once(3);
    other.dead_letter_topic = "graves";
    CHECK_THAT(refusal(other), contains("dead_letter_topic 't.dlq', not 'graves'"));
    other = at_once(3);
    other.exhausted = Exhausted::stop;
    CHECK_THAT(refusal(other), contains("exhausted dead_letter, not stop"));
    const RetryRunner same(place.broker, "t", group(), at_once(3, RetryOrder::none));  // the order is each runner's own
    CHECK(same.options().dead_letter_topic == "t.dlq");
}

TEST_CASE("A name is a queue's or a stream group's, and a cycle of dead-letter topics is refused") {
    RetryPlace place;
    QueueOptions queue;
    queue.dead_letter_topic = "other";
    TopicOptions options;
    options.payload_bytes = 1 << 20;
    place.broker.create_topic("other", options);
    QueueAdmin(place.broker).create("t", "q", queue);
    CHECK(thrown_by([&] { return RetryRunner(place.broker, "t", group("q"), at_once()); }).code == ErrorCode::mismatch);
    RetryOptions back = at_once();
    back.dead_letter_topic = "t";
    const Thrown thrown = thrown_by([&] { return RetryRunner(place.broker, "other", group(), back); });
    CHECK(thrown.code == ErrorCode::invalid_argument);
    CHECK(GroupAdmin(place.broker).list("other").empty());
}

TEST_CASE("A runner whose group or topic is deleted says so, and its fork()ed copy does nothing") {
    RetryPlace place;
    place.publish_many(2);
    RetryRunner runner(place.broker, "t", group(), at_once());
    (void)run_all(runner, [](const ConsumerRecord&) {});
    Child copy([&] { return runner.run_once(fails).status == Status::forked ? 0 : 1; });
    CHECK(copy.wait() == 0);
    GroupAdmin(place.broker).remove("t", "g", true);
    Status status = Status::ok;
    for (int i = 0; i < 100 && status == Status::ok; ++i)
        status = runner.run_once(fails, 10ms).status;
    CHECK(status == Status::group_deleted);
    RetryRunner again(place.broker, "t", group(), at_once());
    place.broker.delete_topic("t");
    for (int i = 0; i < 100 && (i == 0 || status == Status::ok || status == Status::evicted); ++i)
        status = again.run_once(fails, 10ms).status;
    CHECK(status == Status::topic_deleted);
    const RunResult last = again.run(fails, [] { return false; });
    CHECK(last.status == Status::topic_deleted);
}

TEST_CASE("A run tells of what it did and of what stands still, once, and not of looks that find nothing new") {
    RetryPlace place;
    place.publish_many(2);
    RetryOptions options = at_once(1);
    options.exhausted = Exhausted::stop;
    RetryRunner runner(place.broker, "t", group(), options);
    std::uint64_t asked = 0;
    std::uint64_t told = 0;
    std::uint64_t stopped = 0;
    (void)runner.run(
        fails, [&] { return ++asked > 20; },
        [&](const RunResult& one) {
            ++told;
            stopped += one.stopped.size();
        });
    CHECK(asked > 20);
    CHECK(told == 1);
    CHECK(stopped == 1);
}

TEST_CASE("A run ends when it is told to, behind the record that it is at, and what it finished is committed") {
    RetryPlace place;
    place.publish_many(10);
    RetryRunner runner(place.broker, "t", group(), at_once());
    std::uint64_t handled = 0;
    std::uint64_t told = 0;
    const RunResult result = runner.run([&](const ConsumerRecord&) { ++handled; }, [&] { return handled == 4; },
                                        [&](const RunResult& one) { told += one.counts.handled; });
    CHECK(handled == 4);
    CHECK(told == 4);
    CHECK(result.counts.succeeded == 4);
    CHECK(result.status == Status::ok);
    CHECK(place.committed() == 4);
    runner.close();
    CHECK(runner.run_once(fails).status == Status::no_group);
    CHECK(GroupAdmin(place.broker).describe("t", "g").members.empty());
}
