// Retention of one partition: the limits together, gates, what is due, and what a stopped or second keeper changes.
#include <cstdint>
#include <optional>

#include "partition_log/publisher.hpp"
#include "retention/retention.hpp"

#include "support/catch.hpp"
#include "support/hooked_memory.hpp"
#include "support/plain_log.hpp"

using namespace ringmain;
using namespace ringmain::retention;
using namespace std::chrono_literals;
using test::HookedMemory;

namespace {

using Gates = gate_table::GateTable<HookedMemory>;

constexpr std::uint64_t kStepNs = 10'000'000;

test::PlainShape shape_of(bool block) {
    test::PlainShape shape;
    shape.records = 256;
    shape.block = block;
    return shape;
}

struct Kept {
    explicit Kept(bool block = false)
        : plain(shape_of(block)), publisher(plain.log, 0, 1), keeper(std::in_place, plain.log) {}

    void publish(int count) {
        for (int i = 0; i < count; ++i) REQUIRE(publisher.publish(test::parts_of("0123456789")).status == Status::ok);
    }
    Expired step() {
        now.now_ns += kStepNs;
        return step_at(now);
    }
    Expired step_at(const Moment& moment) {
        return keeper->step([this] { return limits; }, moment, kCellsPerStep);
    }
    void run(std::chrono::milliseconds time) {
        for (std::int64_t ms = 0; ms < time.count(); ms += 10) (void)step();
    }
    std::uint32_t hold(std::uint64_t offset) {
        Gates gates(plain.log.readers);
        const auto gate = gates.claim(1, "reader");
        REQUIRE(gate);
        (void)gates.hold(*gate, offset, plain.log.control->gate_floor);
        return *gate;
    }

    test::PlainLog<HookedMemory> plain;
    partition_log::SharedPublisher<HookedMemory> publisher;
    std::optional<PartitionRetention<HookedMemory>> keeper;
    Retention limits;
    Moment now{5'000'000'000, 7};
};

}  // namespace

TEST_CASE("a topic without limits keeps everything and is never due") {
    Kept kept;
    kept.publish(100);
    CHECK(kept.step().count() == 0);
    CHECK(kept.plain.start() == 0);
    CHECK(kept.keeper->due_ns() == kNever);
    CHECK_FALSE(kept.keeper->unfinished());
}

TEST_CASE("a limit in records keeps the newest ones, and says what went") {
    Kept kept(GENERATE(false, true));
    kept.limits.records = 30;
    kept.publish(30);
    CHECK(kept.step().count() == 0);
    kept.publish(12);
    const Expired done = kept.step();
    CHECK(done.from == 0);
    CHECK(done.to == 12);
    CHECK_FALSE(done.held());
    CHECK(kept.plain.start() == 12);
    CHECK(test::read_back(kept.plain.log, 11).found == partition_log::Found::lapped);
    CHECK(test::read_back(kept.plain.log, 12).found == partition_log::Found::record);
}

TEST_CASE("a limit that is lifted while a keeper sleeps deletes nothing of what is appended then") {
    Kept kept;
    kept.publish(100);
    int reads = 0;
    const auto limits = [&] {
        if (++reads == 1) return Retention{.records = 10};
        kept.publish(50);  // the keeper had looked at the log, and slept
        return Retention{};
    };
    CHECK(kept.keeper->step(limits, kept.now, kCellsPerStep).count() == 0);
    CHECK(reads == 2);
    kept.limits.records = 10;
    CHECK(kept.step().count() == 140);
}

TEST_CASE("the limit that is met first counts, and J09 a second step at the same moment deletes nothing") {
    Kept kept;
    const int which = GENERATE(0, 1, 2);
    kept.limits = {which == 0 ? 100ms : 1h, which == 1 ? 10ULL : 200, which == 2 ? 100ULL : 100'000};
    kept.publish(100);
    kept.run(500ms);
    CHECK(kept.plain.start() == (which == 0 ? 100 : 90));
    CHECK(kept.step_at(kept.now).count() == 0);
    kept.keeper.emplace(kept.plain.log);
    CHECK(kept.step_at(kept.now).count() == 0);
    CHECK(kept.step_at(kept.now).count() == 0);
}

TEST_CASE("gates of a block topic hold what retention would delete, and are named") {
    Kept kept(true);
    kept.publish(50);
    const std::uint32_t gate = kept.hold(5);
    kept.limits = {100ms, 0, 0};
    kept.run(300ms);
    const Expired done = kept.step();
    CHECK(done.held());
    CHECK(done.to == 5);
    CHECK(done.target == 50);
    CHECK(done.stopped_by.gate == gate);
    CHECK(kept.keeper->due_ns() == kept.now.now_ns + kHeldLookNs);
    Gates(kept.plain.log.readers).move(gate, 20);
    (void)kept.step();
    CHECK(kept.plain.start() == 20);
    Gates(kept.plain.log.readers).drop(gate);
    (void)kept.step();
    CHECK(kept.plain.start() == 50);
}

TEST_CASE("an overwrite topic has no gates, whatever its readers' block says") {
    Kept kept(false);
    kept.publish(50);
    (void)kept.hold(5);
    kept.limits.records = 10;
    CHECK_FALSE(kept.step().held());
    CHECK(kept.plain.start() == 40);
}

TEST_CASE("a reader behind the new log start gets a gap, one in front of it does not") {
    Kept kept;
    kept.publish(50);
    const partition_log::Reader<HookedMemory> reader(kept.plain.log);
    partition_log::RecordView view;
    REQUIRE(reader.look(7, view) == partition_log::Found::record);
    kept.limits.records = 10;
    (void)kept.step();
    CHECK_FALSE(reader.valid(7));
    CHECK(reader.valid(40));
}

TEST_CASE("offsets that contradict each other are left alone") {
    Kept kept;
    kept.publish(50);
    kept.limits = {100ms, 10, 10};
    kept.plain.log.control->log_end.store(GENERATE(std::uint64_t{1} << 40, ~std::uint64_t{0}), std::memory_order_release);
    kept.run(1s);
    CHECK(kept.plain.start() == 0);
}

TEST_CASE("a log end that somebody sets back is not passed, and keeps no keeper busy") {
    Kept kept;
    kept.limits = {100ms, 0, 100'000};
    kept.publish(50);
    (void)kept.step();
    (void)kept.step();
    kept.plain.log.control->log_end.store(30, std::memory_order_release);
    kept.run(1s);
    CHECK(kept.plain.start() == 30);
    CHECK_FALSE(kept.keeper->unfinished());
    kept.keeper.emplace(kept.plain.log);
    kept.run(1s);
    CHECK(kept.plain.start() == 30);
    CHECK_FALSE(kept.keeper->unfinished());
}

TEST_CASE("a keeper that stops inside a step and wakes up late deletes nothing that a gate holds since") {
    Kept kept(true);
    kept.publish(50);
    kept.limits.records = 10;
    std::uint64_t held_from = 0;
    {
        const HookedMemory::Scope hook(HookedMemory::once_at(GENERATE("start.announced", "start.looked"), [&] {
            Gates gates(kept.plain.log.readers);
            const auto gate = gates.claim(1, "late");
            held_from = gates.hold(*gate, 0, kept.plain.log.control->gate_floor);
        }));
        (void)kept.step();
    }
    CHECK(held_from >= kept.plain.start());
    CHECK(held_from == 40);
}

TEST_CASE("a keeper that stops between its looks at the start and the end of a log deletes nothing that was appended meanwhile") {
    Kept kept;
    kept.limits.bytes = 2'560;  // what the ring holds
    kept.publish(10);
    (void)kept.step();
    {
        const int laps = GENERATE(1, 40, 1'000, 5'000);
        const HookedMemory::Scope hook(HookedMemory::once_at("control.start_read", [&] { kept.publish(256 * laps); }));
        (void)kept.step();
    }
    const std::uint64_t end = kept.plain.log.control->log_end.load(std::memory_order_acquire);
    CHECK(end - kept.plain.start() >= 240);
    kept.publish(1'000);
    (void)kept.step();
    CHECK((end + 1'000 - kept.plain.start()) * 10 <= 2'560);
    CHECK((end + 1'000 - kept.plain.start()) * 10 >= 2'500);
}

TEST_CASE("an idle partition with limits is looked at now and then, and when its records are due") {
    Kept kept;
    kept.limits.age = 1s;
    (void)kept.step();
    (void)kept.step();
    CHECK(kept.keeper->due_ns() == kept.now.now_ns + kIdleLookNs);
    kept.publish(1);
    (void)kept.step();
    CHECK(kept.keeper->due_ns() == kept.now.now_ns);  // at once, to mark it
    (void)kept.step();
    const std::uint64_t marked = kept.now.now_ns;
    CHECK(kept.keeper->due_ns() == marked + kIdleLookNs);
    kept.run(700ms);
    CHECK(kept.keeper->due_ns() == marked + 1'000'000'000);
    kept.run(310ms);
    CHECK(kept.plain.start() == 1);
    CHECK(kept.keeper->due_ns() == kept.now.now_ns + kIdleLookNs);
}

TEST_CASE("limits that are taken away stop at once") {
    Kept kept;
    kept.limits = {100ms, 0, 1000};
    kept.publish(50);
    (void)kept.step();
    (void)kept.step();
    kept.limits = {};
    kept.run(1s);
    CHECK(kept.plain.start() == 0);
    CHECK(kept.keeper->due_ns() == kNever);
}
