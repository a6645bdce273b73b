// Control words that no sound log has: each look at them finds its contradiction alone.
#include "partition_log/control_check.hpp"

#include "partition_log/publisher.hpp"
#include "recovery/attachment.hpp"
#include "support/catch.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;
using namespace ringmain::partition_log;
using test::PlainLog;

namespace {

using M = platform::HostMemory;

constexpr std::uint64_t kOwner = std::uint64_t{1} << 32 | 1;
constexpr auto kNobodyIsDead = [](std::uint64_t) { return false; };

void set_end(const PlainLog<>& plain, std::uint64_t end) {
    plain.log.control->log_end.store(end, std::memory_order_release);
}
/// A log with three records, whose producer is gone.
void publish_three(const PlainLog<>& plain) {
    plain.occupy(0, kOwner);
    SharedPublisher<M> publisher(plain.log, 0, 1);
    for (int i = 0; i < 3; ++i)
        REQUIRE(publisher.publish(test::parts_of("x")).status == Status::ok);
    plain.occupy(0, 0);
}

}  // namespace

TEST_CASE("A log end that is more than a lap ahead of the log start contradicts it") {
    const PlainLog<> plain;
    set_end(plain, plain.log.records + plain.log.slack);
    CHECK(check_control(plain.log).sound());
    set_end(plain, plain.log.records + plain.log.slack + 1);
    CHECK(check_control(plain.log).found == Contradiction::end_too_far);
}

TEST_CASE("A ticket that is two laps ahead of the log start is out of reach") {
    const PlainLog<> plain;
    CHECK_FALSE(out_of_reach(plain.log, 2 * plain.log.records - 1));
    CHECK(out_of_reach(plain.log, 2 * plain.log.records));
}

TEST_CASE("A log end whose cell is decided was set back") {
    const PlainLog<> plain;
    publish_three(plain);
    CHECK_FALSE(end_is_taken(plain.log));
    set_end(plain, 2);
    CHECK(end_is_taken(plain.log));
}

TEST_CASE("An exclusive producer does not attach to a log whose cells are ahead of its end") {
    const PlainLog<> plain;
    publish_three(plain);
    set_end(plain, 1);
    recovery::Attachment<M, decltype(kNobodyIsDead)> attachment(plain.log, kOwner, kNobodyIsDead);
    CHECK(attachment.attach_exclusive().outcome == recovery::AttachOutcome::corrupt);
    set_end(plain, 3);
    CHECK(attachment.attach_exclusive().outcome == recovery::AttachOutcome::attached);
}
